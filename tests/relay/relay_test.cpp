// A relay over real sockets, between real clients and a real coordinator.

#include "coxswain/relay/relay.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/client/blocking_client.hpp"
#include "coxswain/server/background_server.hpp"
#include "coxswain/server/server.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace coxswain::relay {
namespace {

std::string socket_address(std::string const& name) {
  return "unix:/tmp/coxswain-relay-" + std::to_string(::getpid()) + "-" + name;
}

int unix_socket() { return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0); }

sockaddr_un unix_address(std::string_view address) {
  sockaddr_un made{};
  made.sun_family = AF_UNIX;
  address.remove_prefix(std::string_view{"unix:"}.size());
  address.copy(made.sun_path, sizeof made.sun_path - 1);
  return made;
}

sockaddr const* pointer_to(sockaddr_un const& one) {
  return reinterpret_cast<sockaddr const*>(&one);
}

struct running_relay {
  explicit running_relay(std::string const& upstream, std::string token = {}) {
    client_options to{upstream};
    to.token = std::move(token);
    relay_options o{std::move(to)};
    o.listen = {address};
    made.emplace(io, std::move(o));
    asio::co_spawn(io, made->run(), [this](std::exception_ptr, status why) { end = why; });
    loop = std::thread{[this] { io.run(); }};
  }
  ~running_relay() {
    asio::post(io, [this] { made->stop(); });
    loop.join();
  }

  std::string address{socket_address("r")};
  asio::io_context io{1};
  std::optional<relay> made;
  std::optional<status> end;
  std::thread loop;
};

struct job {
  explicit job(std::uint32_t tasks) {
    server::options o;
    o.core.num_tasks = tasks;
    o.core.reconnect_grace = 0s;
    o.core.heartbeat_timeout = 3s;
    o.listen = {"127.0.0.1:0"};
    coordinator.emplace(std::move(o));
  }
  std::string address() const { return coordinator->addresses().front(); }
  core::snapshot look() { return coordinator->ask(&server::server::look); }

  std::optional<server::background_server> coordinator;
};

// Each task in a thread of its own.
template <class Work>
void run_tasks(std::uint32_t count, std::string const& address, Work work) {
  std::vector<std::thread> all;
  for (std::uint32_t i = 0; i < count; ++i) {
    all.emplace_back([=] {
      blocking_client me{client_options{address, i}};
      me.join();
      work(me, i);
      me.leave();
    });
  }
  for (auto& one : all) one.join();
}

BOOST_AUTO_TEST_SUITE(relay_test)

BOOST_AUTO_TEST_CASE(tasks_behind_a_relay_are_tasks_like_all_others) {
  job j{16};
  running_relay relay{j.address()};
  std::atomic<int> passed{};

  run_tasks(16, relay.address, [&](blocking_client& me, std::uint32_t task) {
    for (int i = 0; i < 20; ++i) me.barrier("b");
    me.put("key/" + std::to_string(task), std::string(100'000, 'v'));
    me.barrier("written");
    auto const other = me.get("key/" + std::to_string((task + 1) % 16));
    if (other == std::string(100'000, 'v')) ++passed;
    if (task == 0) {
      auto const all = me.inspect();
      BOOST_TEST(all.tasks.size() == 16u);
      for (auto const& one : all.tasks) {
        BOOST_TEST(one.peer.find(" via relay, unix: process ") != std::string::npos);
      }
    }
  });

  BOOST_TEST(passed == 16);
  j.coordinator->wait_done();
}

BOOST_AUTO_TEST_CASE(what_a_client_of_a_relay_holds_goes_back_with_its_handle_and_its_session) {
  job j{1};
  running_relay relay{j.address()};
  auto consumer = std::make_unique<blocking_client>(client_options{relay.address});
  blocking_client next{client_options{relay.address}};
  next.push("q", "first");
  next.push("q", "second");
  auto const take = [](blocking_client& by) {
    return by.take("q", take_options{60s}.with_lease(without_limit));
  };

  { auto const dropped = take(*consumer); }
  {
    auto const first = take(*consumer);
    BOOST_TEST(first.value() == "first");
    BOOST_TEST(first.redeliveries() == 1u);
    auto const second = take(*consumer);
    auto const lock = consumer->locked("l");
    consumer->close();

    auto again = take(next);
    BOOST_TEST(again.value() == "first");
    BOOST_TEST(again.redeliveries() == 2u);
    again.finish();
    take(next).finish();
    BOOST_TEST(next.locked("l", 60s).token() == 2u);
  }
  BOOST_TEST(j.look().leased_items == 0u);
}

BOOST_AUTO_TEST_CASE(a_relay_that_ends_harms_nobody_who_knows_the_coordinators_address) {
  job j{4};
  std::optional<running_relay> relay{std::in_place, j.address()};
  std::latch ready{4};
  std::atomic<bool> is_gone{};
  std::thread killer{[&] {
    ready.wait();
    relay.reset();
    is_gone = true;
  }};

  run_tasks(4, relay->address + "," + j.address(), [&](blocking_client& me, std::uint32_t task) {
    me.barrier("before");
    ready.count_down();
    while (!is_gone) me.increment("count/" + std::to_string(task));
    me.barrier("after");
    me.put("last/" + std::to_string(task), "v");
  });

  killer.join();
  j.coordinator->wait_done();
  BOOST_TEST(!j.coordinator->ask(&server::server::error).has_value());
}

BOOST_AUTO_TEST_CASE(a_relay_without_a_coordinator_says_so_and_waits_for_one) {
  running_relay relay{socket_address("absent")};
  client_options me{relay.address, 0u};
  me.connect_timeout = 300ms;

  try {
    blocking_client none{me};
    BOOST_FAIL("there is no coordinator");
  } catch (error const& problem) {
    std::string const text = problem.what();
    BOOST_TEST(text.find("the relay cannot reach the coordinator") != std::string::npos, text);
  }

  server::options o;
  o.listen = {socket_address("absent")};
  server::background_server late{std::move(o)};
  run_tasks(1, relay.address, [](blocking_client& task, std::uint32_t) { task.barrier("b"); });
}

// Its Resume, say, would take the session from the connection that it uses now.
BOOST_AUTO_TEST_CASE(a_client_that_left_while_there_was_no_trunk_gets_no_route) {
  auto const late = socket_address("late");
  int const listening = unix_socket();
  auto const at = unix_address(late);
  BOOST_TEST_REQUIRE(::bind(listening, pointer_to(at), sizeof at) == 0);
  BOOST_TEST_REQUIRE(::listen(listening, 8) == 0);
  running_relay relay{late};

  int const client = unix_socket();
  auto const address = unix_address(relay.address);
  BOOST_TEST_REQUIRE(::connect(client, pointer_to(address), sizeof address) == 0);
  BOOST_TEST(::write(client, "stale", 5) == 5);
  ::close(client);

  server::options o;
  o.listen = {"fd://" + std::to_string(listening)};
  server::background_server coordinator{std::move(o)};
  run_tasks(1, relay.address, [](blocking_client& task, std::uint32_t) { task.barrier("b"); });
  BOOST_TEST(coordinator.ask(&server::server::statistics).routes_opened == 1u);
  ::unlink(at.sun_path);
}

BOOST_AUTO_TEST_CASE(a_relay_ends_with_its_session) {
  job j{1};
  running_relay relay{j.address()};
  run_tasks(1, relay.address, [](blocking_client&, std::uint32_t) {});

  j.coordinator->stop("the end");

  relay.loop.join();
  BOOST_TEST_REQUIRE(relay.end.has_value());
  BOOST_TEST(relay.end->message().find("the end") != std::string::npos, relay.end->message());
  relay.loop = std::thread{[] {}};
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::relay
