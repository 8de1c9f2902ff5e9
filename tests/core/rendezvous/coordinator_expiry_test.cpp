// Many deadlines or alive queries that are due together cost steps, and are handled over several
// iterations.

#include "coxswain/core/coordinator.hpp"
#include "tests/core/cluster.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace coxswain::test {
namespace {

// The most that one advance does, and one more round.
constexpr std::uint64_t steps_max = 1'024 + 200;

std::uint64_t steps_of(cluster& c) { return c.logic().counts().steps; }

std::size_t waiting_of(cluster const& c, std::vector<call> const& all) {
  std::size_t waiting = 0;
  for (call const& one : all) waiting += c.code(one) == "waits" ? 1 : 0;
  return waiting;
}

// Expires after 1 s.
call round(cluster& c, int who, std::string name) {
  return c.send(who, core::barrier_args{.name = std::move(name), .timeout = 1s}, 1s);
}

BOOST_AUTO_TEST_SUITE(coordinator_expiry)

BOOST_AUTO_TEST_CASE(rounds_that_expire_together_end_in_portions) {
  cluster c{64};
  c.check_less();
  std::vector<call> all;
  for (int i = 0; i < 64; ++i) {
    for (char const name : {'a', 'b', 'c', 'd'}) {
      all.push_back(round(c, i, std::to_string(i) + name));
    }
  }
  c.sleep_without_advance(1s);

  int portions = 0;
  while (waiting_of(c, all) > 0) {
    auto const before = steps_of(c);
    c.advance_once();
    BOOST_TEST_REQUIRE(steps_of(c) - before <= steps_max);
    BOOST_TEST_REQUIRE(++portions < 20);
  }

  BOOST_TEST(portions >= 3);
  BOOST_TEST(c.round(all[5]) == "round 1 DEADLINE_EXCEEDED 1/64 missing 0,2-63");
}

// The first one describes 16 tasks.
BOOST_FIXTURE_TEST_CASE(rounds_that_lack_the_same_tasks_share_a_description, job<64>) {
  auto const one = round(c, 0, "a");
  auto const other = round(c, 0, "b");
  auto before = steps_of(c);
  c.pass(1s);
  auto const same = steps_of(c) - before;

  round(c, 0, "c");
  round(c, 1, "d");
  before = steps_of(c);
  c.pass(1s);

  BOOST_TEST(steps_of(c) - before == same + 16);
  BOOST_TEST(c.round(one) == "round 1 DEADLINE_EXCEEDED 1/64 missing 1-63");
  BOOST_TEST(c.round(other) == "round 1 DEADLINE_EXCEEDED 1/64 missing 1-63");
}

// A description is of one moment, and of the tasks as they are.
BOOST_FIXTURE_TEST_CASE(a_description_is_not_kept_for_later_inputs, job<3>) {
  auto const before = round(c, 0, "a");
  c.cancel(c.barrier(1, "x"));
  BOOST_TEST(c.operator_cancels("a", std::nullopt, "test").ok());
  c.barrier(1, "elsewhere");
  auto const after = round(c, 0, "a");
  BOOST_TEST(c.operator_cancels("a", std::nullopt, "test").ok());

  auto const known = [&](call of) { return c.body<barrier_failure>(of)->known[0].waits_for; };
  BOOST_TEST(known(before).empty());
  BOOST_TEST(known(after) == "barrier 'elsewhere'");
}

BOOST_FIXTURE_TEST_CASE(opening_a_round_costs_steps_for_its_tasks, job<64>) {
  auto const before = steps_of(c);
  c.barrier(0, "a");
  BOOST_TEST(steps_of(c) - before == 4u);
  c.barrier(1, "a");
  BOOST_TEST(steps_of(c) - before == 4u);
}

BOOST_FIXTURE_TEST_CASE(topology_exchanges_that_expire_cost_steps, job<64>) {
  c.exchange(0, "tpu", {}, 1s);
  auto const before = steps_of(c);
  c.pass(1s);
  BOOST_TEST(steps_of(c) - before >= 64u / 16);
}

BOOST_AUTO_TEST_CASE(alive_queries_are_completed_in_portions_when_a_task_is_lost) {
  constexpr std::uint32_t tasks = 60;
  core::config options;
  options.recoverable = true;
  options.open_requests_max_per_task = tasks;
  cluster c{tasks, options};
  c.check_less();
  std::vector<call> all;
  for (std::uint32_t i = 1; i < tasks; ++i) {
    for (std::uint32_t j = i + 1; j < tasks; ++j) {
      for (std::uint32_t const by : {i, j}) {
        core::alive_args args{{task_id{0}, task_id{i}, task_id{j}}, 300s};
        all.push_back(c.send(static_cast<int>(by), std::move(args), 300s));
      }
    }
  }
  BOOST_TEST_REQUIRE(waiting_of(c, all) == all.size());
  auto before = steps_of(c);

  c.task_ended(0, {errc::aborted, "killed"});

  BOOST_TEST(steps_of(c) - before < 1'200u);
  auto const first = waiting_of(c, all);
  BOOST_TEST((first > 0 && first < all.size()));
  BOOST_TEST((c.logic().next_deadline() <= t0));  // at once
  int portions = 1;
  while (waiting_of(c, all) > 0) {
    before = steps_of(c);
    c.advance_once();
    BOOST_TEST_REQUIRE(steps_of(c) - before < 1'200u);
    BOOST_TEST_REQUIRE(++portions < 20);
  }
  BOOST_TEST(portions >= 3);
  for (call const& one : all) {
    BOOST_TEST_REQUIRE(c.code(one) == "OK");
    BOOST_TEST_REQUIRE(c.body<core::alive_answer>(one)->tasks.size() == 2u);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
