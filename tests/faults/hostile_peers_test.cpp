// Peers that send malformed input, or nothing, are disconnected with a reason; a job beside them is
// not affected.

#include "coxswain/client/client.hpp"
#include "coxswain/server/server.hpp"
#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/frame.hpp"
#include "tests/faults/ports.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/resource.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::faults {
namespace {

using tcp = asio::ip::tcp;
constexpr auto no_throw = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t silent_connections = 5000;

asio::awaitable<tcp::socket> dial(asio::io_context& io, std::uint16_t port) {
  tcp::socket s{io};
  tcp::endpoint const to{asio::ip::address_v4::loopback(), port};
  co_await s.async_connect(to, asio::use_awaitable);
  co_return s;
}

// Sends `bytes`, then reads until the coordinator closes; returns the goodbye, if any.
asio::awaitable<std::optional<core::goodbye>> last_words(tcp::socket& s, std::string bytes,
                                                         bool half_close = false) {
  co_await asio::async_write(s, asio::buffer(bytes), no_throw);
  if (half_close) s.shutdown(tcp::socket::shutdown_send);
  wire::frame_decoder decoder{1 << 20};
  std::optional<core::goodbye> given;
  std::array<char, 4096> buffer;
  for (;;) {
    auto read = co_await s.async_read_some(asio::buffer(buffer), no_throw);
    auto& [problem, count] = read;
    if (problem) co_return given;
    decoder.feed({buffer.data(), count});
    for (;;) {
      auto frame = decoder.next();
      if (!frame || !*frame) break;
      auto message = wire::decode_server(**frame);
      BOOST_REQUIRE(message.has_value());
      if (auto const* const g = std::get_if<core::goodbye>(&message->what.value)) given = *g;
    }
  }
}

std::string hello_of_job(std::string job) {
  core::client_message m;
  core::hello_args hello{.job = std::move(job)};
  m.what = hello;
  std::string frame;
  wire::append_frame(frame, m);
  return frame;
}

struct beside {
  std::size_t barriers{};
  bool stop{};
};

asio::awaitable<void> work(std::string address, std::uint32_t task, beside& job) {
  client_options options{address, task_id{task}};
  client c = co_await client::connect(options);
  co_await c.join();
  for (;;) {
    // Task 0 decides whether this round is the last, so that all stop together.
    std::string const mine = task == 0 && job.stop ? "stop" : "go on";
    std::vector<std::string> const all = co_await c.all_gather("round", mine);
    if (task == 0) ++job.barriers;
    if (all.front() == "stop") break;
  }
  BOOST_TEST(c.reconnects() == 0U);
  co_await c.leave();
}

// Runs `attack` while a job of three tasks passes barriers.
template <class Attack>
void run_beside_a_job(server::options options, Attack attack) {
  asio::io_context io{1};
  options.core.num_tasks = 3;
  server::server coordinator{io, options};
  std::string const address = coordinator.addresses().front();
  beside job;
  std::vector<std::exception_ptr> problems;
  int running = 4;
  auto const finished = [&](std::exception_ptr p) {
    if (p) problems.push_back(p);
    if (p || --running == 0) coordinator.stop("done");
  };
  co_spawn(io, coordinator.run(), asio::detached);
  for (std::uint32_t task = 0; task < 3; ++task) {
    co_spawn(io, work(address, task, job), finished);
  }
  auto const attack_and_stop = [&]() -> asio::awaitable<void> {
    co_await attack(io, port_of(address));
    job.stop = true;
  };
  co_spawn(io, attack_and_stop, finished);

  io.run();

  if (!problems.empty()) std::rethrow_exception(problems.front());
  BOOST_TEST(job.barriers > 0U);
  BOOST_TEST(!coordinator.error());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hostile_peers)

BOOST_AUTO_TEST_CASE(malformed_input_gets_a_goodbye_with_the_reason) {
  auto const attack = [](asio::io_context& io, std::uint16_t port) -> asio::awaitable<void> {
    std::string const garbage{"\x00\x00\x00\x04\xff\xff\xff\xff", 8};
    tcp::socket a = co_await dial(io, port);
    auto goodbye = co_await last_words(a, garbage);
    BOOST_REQUIRE(goodbye);
    BOOST_TEST(goodbye->why.code() == errc::invalid_argument);
    BOOST_TEST(!goodbye->may_resume);

    std::string const oversize{"\x7f\xff\xff\xff", 4};
    tcp::socket b = co_await dial(io, port);
    goodbye = co_await last_words(b, oversize);
    BOOST_REQUIRE(goodbye);
    BOOST_TEST(goodbye->why.code() == errc::invalid_argument);
    BOOST_TEST(goodbye->why.message().find("2147483647") != std::string::npos);

    std::string const half{"\x00\x00\x00\x40half", 8};
    tcp::socket c = co_await dial(io, port);
    goodbye = co_await last_words(c, half, true);
    BOOST_TEST(!goodbye);

    std::string const other_job = hello_of_job("other");
    tcp::socket d = co_await dial(io, port);
    goodbye = co_await last_words(d, other_job);
    BOOST_REQUIRE(goodbye);
    BOOST_TEST(goodbye->why.code() == errc::failed_precondition);
    BOOST_TEST(goodbye->why.message().find("'other'") != std::string::npos);
    BOOST_TEST(goodbye->why.message().find("'default'") != std::string::npos);
  };
  run_beside_a_job(server::options{}, attack);
}

BOOST_AUTO_TEST_CASE(five_thousand_silent_connections_are_closed) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  // Both ends of each connection are in this process.
  BOOST_REQUIRE_MESSAGE(limit.rlim_cur > 2 * silent_connections + 100,
                        "this test needs " << 2 * silent_connections + 100 << " descriptors");
  server::options options;
  options.core.hello_timeout = 500ms;
  auto const attack = [](asio::io_context& io, std::uint16_t port) -> asio::awaitable<void> {
    std::vector<tcp::socket> silent;
    for (std::size_t i = 0; i < silent_connections; ++i) silent.push_back(co_await dial(io, port));
    std::size_t count = 0;
    std::string const nothing;
    for (tcp::socket& s : silent) {
      auto const goodbye = co_await last_words(s, nothing);
      count += goodbye && goodbye->why.code() == errc::deadline_exceeded ? 1 : 0;
    }
    BOOST_TEST(count == silent_connections);
  };
  run_beside_a_job(options, attack);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::faults
