// Memory runs out at each allocation of a server with sockets: no task stays connected after its
// connection is gone, and a stop ends the server without memory.

#include "coxswain/server/server.hpp"
#include "coxswain/net/endpoint.hpp"
#include "coxswain/net/socket.hpp"
#include "tests/memory/scarce_memory.hpp"
#include "tests/server/messages.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>

namespace coxswain::server {
namespace {

using test::aside;

constexpr std::uint32_t tasks = 3;

struct harness {
  harness() {
    o.core.num_tasks = tasks;
    o.core.reconnect_grace = 0s;
    o.linger = 100ms;
    made.emplace(io, o);
    asio::co_spawn(io, made->run(), [this](std::exception_ptr) { has_ended = true; });
    auto const where = net::endpoint::parse(made->addresses().front()).value();
    at = where.resolve(net::endpoint::purpose::connect).value().front();
    run_iteration();
  }

  // Runs all ready handlers.
  void run_iteration() {
    for (int i = 0; i < 5; ++i) {
      io.restart();
      io.poll();
    }
  }

  void connect(std::size_t i) {
    peers[i] = net::socket{::socket(at->family(), SOCK_STREAM | SOCK_CLOEXEC, 0)};
    {
      aside const ours;
      BOOST_TEST_REQUIRE(::connect(peers[i].value(), at->data(), at->size()) == 0);
    }
    run_iteration();
  }

  template <class Make>
  void say(std::size_t i, Make make) {
    std::string bytes;
    {
      aside const ours;
      bytes = make();
    }
    ::send(peers[i].value(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    run_iteration();
    std::array<char, 4096> ignored;
    while (::recv(peers[i].value(), ignored.data(), ignored.size(), MSG_DONTWAIT) > 0) {
    }
    aside const ours;
    bytes = {};
  }

  options o;
  asio::io_context io{1};
  std::optional<server> made;
  std::optional<net::socket_address> at;
  std::array<net::socket, tasks> peers;
  bool has_ended{};
};

// Returns the number of allocations. Memory stays exhausted.
void run(harness& h) {
  for (std::uint32_t i = 0; i < tasks; ++i) {
    h.connect(i);
    h.say(i, [] { return hello_frame(); });
  }
  for (std::uint32_t i = 0; i < tasks; ++i) h.say(i, [i] { return join_frame(1, i); });
  for (std::uint32_t i = 0; i < tasks; ++i) h.say(i, [i] { return barrier_frame(2, i, "b"); });
  h.say(0, [] { return put_frame(3, "k", std::string(5'000, 'v')); });
  h.say(1, [] { return try_get_frame(3, "k"); });
  h.say(2, [] { return barrier_frame(3, 2, "nobody else comes"); });
  for (auto& peer : h.peers) peer.close();
  h.run_iteration();
}

BOOST_AUTO_TEST_SUITE(memory_test)

// `fails` selects the failure: end_memory_at or fail_once_at.
void expect_ends(void (*fails)(std::size_t) noexcept) {
  std::size_t all{};
  {
    harness h;
    fails(SIZE_MAX);
    run(h);
    all = test::return_memory();
  }
  BOOST_TEST(all > 100u);
  for (std::size_t n = 1; n <= all; ++n) {
    BOOST_TEST_CONTEXT("allocation " << n) {
      harness h;
      fails(n);
      run(h);
      test::return_memory();
      h.run_iteration();

      BOOST_TEST(h.made->statistics().connections == 0u);
      for (auto const& task : h.made->look().tasks) {
        BOOST_TEST((task.state != task_state::connected), "task is connected still");
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(at_any_memory_limit_no_task_outlives_its_connection) {
  expect_ends(&test::end_memory_at);
}

BOOST_AUTO_TEST_CASE(after_any_failed_allocation_no_task_outlives_its_connection) {
  expect_ends(&test::fail_once_at);
}

BOOST_AUTO_TEST_CASE(a_stop_needs_no_memory) {
  for (std::size_t n = 1; n <= 20; ++n) {
    harness h;
    for (std::uint32_t i = 0; i < tasks; ++i) {
      h.connect(i);
      h.say(i, [] { return hello_frame(); });
    }
    std::string reason;
    reason = "enough";
    test::end_memory_at(n);

    h.made->stop(std::move(reason));
    for (auto& peer : h.peers) peer.close();
    for (int i = 0; i < 1000 && !h.has_ended; ++i) {
      h.io.restart();
      h.io.run_one_for(std::chrono::milliseconds{10});
    }

    test::return_memory();
    BOOST_TEST(h.has_ended, "memory ended at allocation " << n);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::server
