// A guest whose connection is cut, or that is killed, between any effect and its reply.

#include "tests/sim/world.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>
#include <vector>

namespace coxswain::sim {
namespace {

using answers = std::vector<core::answer>;

std::string const secret = "0123456789abcdef";

bool is_ok(answers const& all, std::size_t i) { return i < all.size() && all[i].outcome.ok(); }

script host(process& p, answers& given) {
  given.push_back(co_await p.join(incarnation{7}));
  core::request grant = core::grant_args{secret};
  given.push_back(co_await p.ask(std::move(grant), 60s));
}

script partner(process& p, answers& given) {
  given.push_back(co_await p.join(incarnation{8}));
  core::request push = core::push_args{"q", "item"};
  given.push_back(co_await p.ask(std::move(push), 60s));
  given.push_back(co_await p.barrier("b"));
  given.push_back(co_await p.barrier("c"));
}

script first_program(process& p, answers& given) {
  given.push_back(co_await p.join(incarnation{9}));
  given.push_back(co_await p.increment("n", 1));
  core::request pop = core::pop_args{"q", 60s};
  given.push_back(co_await p.ask(std::move(pop), 60s));
  given.push_back(co_await p.barrier("b"));
}

script second_program(process& p, answers const& of_partner, answers& given) {
  given.push_back(co_await p.join(incarnation{10}));
  given.push_back(co_await p.increment("n", 1));
  core::request pop = core::pop_args{"q", 100ms};
  given.push_back(co_await p.ask(std::move(pop), 100ms));
  if (of_partner.size() < 3) given.push_back(co_await p.barrier("b"));
  given.push_back(co_await p.barrier("c"));
}

struct outcome {
  answers host;
  answers partner;
  answers first;
  answers second;
  std::uint64_t up{};
  std::uint64_t down{};
  bool has_failed{};
};

enum class end { cut, killed };

// The first connection of the first guest stops after this many bytes in one direction.
outcome run(end how, std::optional<std::uint64_t> up, std::optional<std::uint64_t> down) {
  core::config c{.num_tasks = 2, .heartbeat_timeout = 10s, .reconnect_grace = 2s};
  world w{1, c};
  w.delay_max = 1ms;
  outcome o;
  process& p = w.add(task_id{0});
  process& q = w.add(task_id{1});
  p.work.push_back(host(p, o.host));
  q.work.push_back(partner(q, o.partner));
  p.work.front().start();
  q.work.front().start();
  process* first = nullptr;
  std::vector<std::shared_ptr<link>> lines;
  w.on_link = [&](link& line) {
    if (!first || !first->line || first->line.get() != &line) return;
    lines.push_back(first->line);
    if (lines.size() == 1) {
      if (up) line.up.stop_after(*up);
      if (down) line.down.stop_after(*down);
    } else if (how == end::killed) {
      w.at(w.now, [&] { w.kill(*first); });
    }
  };
  auto const start = [&](auto const& begin) {
    process& g = w.add(task_id{0}, std::nullopt, core::guest_args{task_id{0}, secret});
    g.work.push_back(begin(g));
    g.work.front().start();
    return &g;
  };
  w.at(w.now + 1s, [&] { first = start([&](process& g) { return first_program(g, o.first); }); });
  w.at(w.now + 30s,
       [&] { start([&](process& g) { return second_program(g, o.partner, o.second); }); });
  w.run(1h, [&] { return o.partner.size() == 4 && o.second.size() >= 4; });
  o.up = lines.front()->up.arrived();
  o.down = lines.front()->down.arrived();
  auto const seen = w.coordinator.look(w.now);
  o.has_failed = seen.error.has_value() || seen.tasks[0].state != task_state::connected;
  BOOST_TEST(w.fault_of_recording() == "");
  return o;
}

outcome const& undisturbed() {
  static outcome const o = run(end::cut, {}, {});
  return o;
}

void expect_once(outcome const& o) {
  BOOST_TEST(!o.has_failed);
  for (auto const& a : o.partner) BOOST_TEST(a.outcome.ok());
  BOOST_TEST(is_ok(o.second, 0));
  BOOST_TEST_REQUIRE(is_ok(o.second, 1));
  auto const counted = std::get<core::counter_answer>(o.second[1].value).value;
  BOOST_TEST((counted == 2 || (counted == 1 && !is_ok(o.first, 1))));
  // Items that the first guest did not receive go to the second.
  BOOST_TEST((is_ok(o.first, 2) || is_ok(o.second, 2)));
  BOOST_TEST(o.second.back().outcome.ok());
}

BOOST_AUTO_TEST_SUITE(guests_in_simulation)

BOOST_AUTO_TEST_CASE(a_guest_cut_off_after_any_byte_resumes_and_executes_once) {
  for (std::uint64_t byte = 0; byte <= undisturbed().up; ++byte) {
    BOOST_TEST_CONTEXT("cut after byte " << byte << " to the coordinator") {
      auto const o = run(end::cut, byte, {});
      expect_once(o);
      BOOST_TEST(o.first.size() == 4u);
      BOOST_TEST(!is_ok(o.second, 2));
    }
  }
  for (std::uint64_t byte = 0; byte <= undisturbed().down; ++byte) {
    BOOST_TEST_CONTEXT("cut after byte " << byte << " from the coordinator") {
      auto const o = run(end::cut, {}, byte);
      expect_once(o);
      BOOST_TEST(o.first.size() == 4u);
      BOOST_TEST(!is_ok(o.second, 2));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_guest_killed_after_any_byte_fails_no_task) {
  for (std::uint64_t byte = 0; byte < undisturbed().up; ++byte) {
    BOOST_TEST_CONTEXT("killed after byte " << byte << " to the coordinator") {
      expect_once(run(end::killed, byte, {}));
    }
  }
  for (std::uint64_t byte = 0; byte < undisturbed().down; ++byte) {
    BOOST_TEST_CONTEXT("killed after byte " << byte << " from the coordinator") {
      expect_once(run(end::killed, {}, byte));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::sim
