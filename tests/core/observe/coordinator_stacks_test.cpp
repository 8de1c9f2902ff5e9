// The stacks of processes that hold up others (§12.9).

#include "tests/core/cluster.hpp"

#include <string>

namespace coxswain::test {
namespace {

using core::stacks_answer;

// `coxswain run` is the owner of the coordinator.
core::config under_run() { return core::config{.reports_ends = true}; }

stacks_answer stacks(cluster& c, std::uint64_t number = 0) {
  auto const asked = c.send(0, core::stacks_args{number});
  auto const* const a = c.body<stacks_answer>(asked);
  BOOST_TEST_REQUIRE(a != nullptr, "no answer but " << c.code(asked));
  return *a;
}

// "0-1 in a | 2 not: why", with the whole stack.
std::string groups(stacks_answer const& a) {
  std::string text;
  for (auto const& g : a.groups) {
    text += (text.empty() ? "" : " | ") + g.tasks + (g.is_taken ? " in " : " not: ") + g.stack;
  }
  return text;
}

core::report_stack_args report(std::uint64_t number, std::uint32_t task, std::string stack,
                               std::string rest = {}) {
  return {number, task_id{task}, std::move(stack), std::move(rest)};
}

// All but task 0 are missing, for 10 s.
void wait_for_the_others(cluster& c) {
  c.barrier(0, "step");
  c.pass(10s);
}

BOOST_AUTO_TEST_SUITE(coordinator_stacks_test)

BOOST_AUTO_TEST_CASE(only_tasks_that_are_missing_for_ten_seconds_are_asked) {
  cluster c{3, under_run()};
  c.barrier(0, "step");
  c.get(2, "k");

  c.pass(10s - 1ns);
  auto const early = stacks(c);
  BOOST_TEST(early.wanted == 0u);
  BOOST_TEST(early.complete);
  BOOST_TEST(c.wanted_of_owner().size() == 0u);

  c.pass(5s);
  auto const asked = stacks(c);
  BOOST_TEST(asked.wanted == 1u);
  BOOST_TEST(!asked.complete);
  auto const wanted = c.wanted_of_owner();
  BOOST_TEST_REQUIRE(wanted.size() == 1u);
  BOOST_TEST(wanted.front().number == asked.number);
  BOOST_TEST_REQUIRE(wanted.front().processes.size() == 1u);
  BOOST_TEST(wanted.front().processes.front().task == task_id{1});
  BOOST_TEST(wanted.front().processes.front().name == c[1].label);
}

BOOST_AUTO_TEST_CASE(equal_stacks_are_one_group_and_the_rarest_comes_first) {
  cluster c{5, under_run()};
  wait_for_the_others(c);
  auto const number = stacks(c).number;

  for (std::uint32_t task = 1; task <= 3; ++task) {
    BOOST_TEST(c.put_in(report(number, task, "all_reduce (a.py:7)", std::to_string(task))).ok());
  }
  BOOST_TEST(c.put_in(report(number, 4, "load (a.py:3)")).ok());

  auto const seen = stacks(c, number);
  BOOST_TEST(groups(seen) == "4 in load (a.py:3) | 1-3 in all_reduce (a.py:7)");
  BOOST_TEST(seen.complete);
  BOOST_TEST(seen.groups.back().count == 3u);
  BOOST_TEST(seen.groups.back().rest == "1");
  BOOST_TEST((seen.groups.back().missing_for == 10s));
}

BOOST_AUTO_TEST_CASE(a_host_that_never_answers_is_named_after_ten_seconds) {
  cluster c{3, under_run()};
  wait_for_the_others(c);
  auto const number = stacks(c).number;
  BOOST_TEST(c.put_in(report(number, 1, "load (a.py:3)")).ok());

  c.pass(10s - 1ns);
  BOOST_TEST(!stacks(c, number).complete);
  c.pass(1ns);

  auto const seen = stacks(c, number);
  BOOST_TEST(seen.complete);
  BOOST_TEST(groups(seen) == "1 in load (a.py:3) | 2 not: no stack came from its host within 10 s");
}

BOOST_AUTO_TEST_CASE(a_host_that_could_take_no_stack_says_why) {
  cluster c{2, under_run()};
  wait_for_the_others(c);
  auto const number = stacks(c).number;

  BOOST_TEST(c.put_in(report(number, 1, "", "its process has ended")).ok());

  BOOST_TEST(groups(stacks(c, number)) == "1 not: its process has ended");
}

BOOST_AUTO_TEST_CASE(stacks_are_taken_at_most_every_five_seconds) {
  cluster c{2, under_run()};
  wait_for_the_others(c);

  auto const first = stacks(c).number;
  c.pass(5s - 1ns);
  BOOST_TEST(stacks(c).number == first);
  c.pass(1ns);
  BOOST_TEST(stacks(c).number == first + 1);
  BOOST_TEST(c.wanted_of_owner().size() == 2u);
}

BOOST_AUTO_TEST_CASE(only_whoever_was_asked_may_report_and_once) {
  cluster c{3, under_run()};
  wait_for_the_others(c);
  auto const number = stacks(c).number;

  auto const lie = c.send(2, report(number, 1, "a lie"));
  BOOST_TEST(c.outcome(lie) == (because<&reasons::stack_is_not_wanted>(task_id{1})));
  BOOST_TEST(c.put_in(report(number + 1, 1, "another")).code() == errc::not_found);
  BOOST_TEST(c.put_in(report(number, 1, "true")).ok());
  BOOST_TEST(c.put_in(report(number, 1, "again")).code() == errc::not_found);

  BOOST_TEST(groups(stacks(c, number)) == "1 in true");
}

BOOST_AUTO_TEST_CASE(huge_stacks_are_cut) {
  cluster c{60, under_run()};
  wait_for_the_others(c);
  auto const number = stacks(c).number;

  for (std::uint32_t task = 1; task < 60; ++task) {
    std::string const stack = "f" + std::to_string(task) + "\n" + std::string(100'000, 'x');
    BOOST_TEST(c.put_in(report(number, task, stack, std::string(100'000, 'y'))).ok());
  }

  auto const seen = stacks(c, number);
  std::size_t bytes = 0;
  for (auto const& g : seen.groups) bytes += g.stack.size() + g.rest.size();
  BOOST_TEST(seen.groups.size() == 59u);
  BOOST_TEST(bytes < 300'000u);
  BOOST_TEST(seen.groups.front().stack.size() == 8192u);
  BOOST_TEST(seen.groups.back().stack == "f59");
}

BOOST_AUTO_TEST_CASE(at_most_64_tasks_are_asked) {
  cluster c{70, under_run()};
  c.check_less();
  wait_for_the_others(c);

  auto const seen = stacks(c);

  BOOST_TEST(seen.wanted == 64u);
  BOOST_TEST(seen.more == 5u);
}

BOOST_AUTO_TEST_CASE(a_session_that_takes_stacks_is_asked_for_its_task) {
  cluster c{cluster::without_clients(2)};
  c.hello({.label = "a:1"});
  int const wrapper = c.hello({.label = "b:2", .takes_stacks = true});
  c.join({0, 0}, 100);
  c.join({wrapper, 1}, 101);
  wait_for_the_others(c);

  auto const number = stacks(c).number;
  auto const wanted = c.pushed<core::stacks_wanted>(wrapper);
  BOOST_TEST_REQUIRE(wanted.size() == 1u);
  auto const done = c.send(wrapper, report(number, 1, "load (a.py:3)"));

  BOOST_TEST(c.code(done) == "OK");
  BOOST_TEST(groups(stacks(c, number)) == "1 in load (a.py:3)");
}

BOOST_AUTO_TEST_CASE(the_supervisor_of_a_process_is_asked) {
  cluster c{cluster::without_clients(2)};
  c.hello({.label = "a:1"});
  int const supervisor = c.hello({.label = "b:2", .supervises = task_id{1}, .takes_stacks = true});
  c.hello({.label = "b:3"});
  c.join({0, 0}, 100);
  c.join({2, 1}, 101);
  wait_for_the_others(c);

  stacks(c);

  auto const wanted = c.pushed<core::stacks_wanted>(supervisor);
  BOOST_TEST_REQUIRE(wanted.size() == 1u);
  BOOST_TEST(wanted.front().processes.front().name == "b:3");
}

BOOST_AUTO_TEST_CASE(the_relay_of_a_task_is_asked) {
  cluster c{cluster::without_clients(2)};
  c.hello({.label = "a:1"});
  int const relay = c.hello({.label = "relay", .relay = true, .takes_stacks = true}, "10.0.0.7:51");
  c.hello({.label = "b:3"}, "10.0.0.7:51 via relay, unix: process 77 of user 0");
  int const other = c.hello({.relay = true, .takes_stacks = true}, "10.0.0.7:5");
  c.join({0, 0}, 100);
  c.join({2, 1}, 101);
  wait_for_the_others(c);

  stacks(c);

  auto const wanted = c.pushed<core::stacks_wanted>(relay);
  BOOST_TEST_REQUIRE(wanted.size() == 1u);
  BOOST_TEST(wanted.front().processes.front().name == "unix: process 77 of user 0");
  BOOST_TEST(c.pushed<core::stacks_wanted>(other).size() == 0u);
}

BOOST_AUTO_TEST_CASE(a_host_that_ends_is_not_waited_for) {
  cluster c{cluster::without_clients(2)};
  c.hello({.label = "a:1"});
  int const supervisor = c.hello({.label = "b:2", .supervises = task_id{1}, .takes_stacks = true});
  c.hello({.label = "b:3"});
  c.join({0, 0}, 100);
  c.join({2, 1}, 101);
  wait_for_the_others(c);
  auto const number = stacks(c).number;

  c.bye(supervisor);

  BOOST_TEST(groups(stacks(c, number)) == "1 not: the program that takes its stack has ended");
}

BOOST_AUTO_TEST_CASE(a_process_that_nobody_here_has_started_is_named) {
  cluster c{2};
  wait_for_the_others(c);

  auto const seen = stacks(c);

  BOOST_TEST(seen.complete);
  BOOST_TEST(groups(seen) ==
             "1 not: not started by coxswain run or coxswain task, nor behind a relay: look at " +
                 c[1].label + " there");
}

BOOST_AUTO_TEST_CASE(a_task_without_progress_is_asked) {
  cluster c{2, core::config{.reports_ends = true, .progress_timeout = 30s}};
  c.send(1, core::report_progress_args{7});
  c.pass(29s);
  BOOST_TEST(stacks(c).wanted == 0u);

  c.pass(6s);

  BOOST_TEST(stacks(c).wanted == 1u);
}

BOOST_AUTO_TEST_CASE(a_reader_may_not_take_stacks) {
  cluster c{cluster::without_clients(1, core::config{.credentials = {{core::role::reader, "r"}}})};
  int const reader = c.hello({.token = "r"});

  BOOST_TEST(c.code(c.send(reader, core::stacks_args{})) == "PERMISSION_DENIED");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
