// Calls of several tasks in any order, over connections that come and go. The harness checks
// the invariants of the core and xla_service after each call, and that no call has two replies.

#include "tests/xla/harness.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace coxswain::xla {
namespace {

using test::harness;

struct random_calls {
  random_calls(unsigned seed, bool strict, bool recoverable)
      : random{seed}, h{3, strict, {.recoverable = recoverable}} {
    for (int i = 0; i < 4; ++i) connections.push_back(h.connect());
  }

  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); }

  request any_request() {
    auto asked = harness::about(below(3), "n" + std::to_string(below(3)), "v");
    asked.self = incarnation{10 + 100 * below(3) + static_cast<std::uint32_t>(asked.task->id)};
    if (h.of == generation::second && below(3) == 0) asked.task->job = "jax_worker";
    asked.counter = below(3);
    asked.timeout_ms = 1 + below(3000);
    asked.number = static_cast<std::int64_t>(below(40)) - 1;
    asked.code = static_cast<std::int32_t>(below(20));
    asked.overwrite = below(2) == 0;
    for (auto n = below(4); n > 0; --n) {
      asked.tasks.push_back({static_cast<std::int32_t>(below(4))});
    }
    return asked;
  }

  void step() {
    auto& on = connections[below(static_cast<std::uint32_t>(connections.size()))];
    switch (below(12)) {
      case 0:
        h.close(on, below(2) == 0 ? core::loss::closed : core::loss::unreachable);
        on = h.connect();
        break;
      case 1:
        if (!calls.empty()) {
          h.cancel(calls[below(static_cast<std::uint32_t>(calls.size()))], below(4) == 0);
        }
        break;
      case 2: h.wait(std::chrono::milliseconds{below(3000)}); break;
      case 3: h.pong(on); break;
      default: {
        h.of = below(2) == 0 ? generation::second : generation::third;
        // A reported error ends most of what can happen.
        auto what = static_cast<method>(below(methods));
        if (what == method::report_error && below(20) != 0) what = method::register_task;
        auto const timeout = std::chrono::seconds{below(12)};
        calls.push_back(h.call(on, what, any_request(), timeout));
      }
    }
  }

  std::mt19937 random;
  harness h;
  std::vector<connection_id> connections;
  std::vector<call_id> calls;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(random_calls_test)

BOOST_AUTO_TEST_CASE(the_invariants_hold_and_nothing_leaks) {
  for (unsigned seed = 1; seed <= 24; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      random_calls c{seed, seed % 3 == 0, seed % 2 == 0};
      for (int i = 0; i < 400; ++i) c.step();
      for (auto const connection : c.connections) c.h.close(connection);
      c.h.wait(300s);
      BOOST_TEST(c.h.entrance().open_calls() == 0U);
      BOOST_TEST(c.h.entrance().task_sessions() == 0U);
      BOOST_TEST(c.h.logic().look(c.h.now).sessions == 0U);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::xla
