// Processes that join without a number: numbers at the start, spares, promotion (§1.6).

#include "tests/core/steps.hpp"

namespace coxswain::test {
namespace {

core::config with_spares(std::uint32_t spares) {
  return core::config{.reconnect_grace = 2s, .recoverable = true, .spares = spares};
}

// n tasks with members m0, m1 ...: client i is task i; then as many spares, s0, s1 ...
struct enrolled_job {
  enrolled_job(std::uint32_t tasks, std::uint32_t spares, core::config options)
      : c{cluster::without_clients(tasks, options)} {
    for (std::uint32_t i = 0; i < tasks; ++i) {
      all.push_back(c.enrol(c.observer(), "m" + std::to_string(i)));
    }
    for (std::uint32_t i = 0; i < spares; ++i) {
      all.push_back(c.enrol(c.observer(), "s" + std::to_string(i)));
    }
    for (std::uint32_t i = 0; i < tasks; ++i) {
      BOOST_TEST_REQUIRE(c.number(all[i]) == "task " + std::to_string(i));
    }
    c.replies();
    c.log();
  }

  cluster c;
  std::vector<call> all;
};

BOOST_AUTO_TEST_SUITE(coordinator_enrolment_test)

rows const cases{
    {"without_spares_numbers_are_given_as_soon_as_enough_have_asked", 2,
     "empty; first = new z; first -> waits; second = new a; first -> task 1; second -> task 0"},
    {"the_last_call_ends_when_too_few_are_left", 1,
     "empty; first = new; at 10s; cancel first; second = new; at 25s-; second -> waits; at 25s; "
     "second -> task 0",
     with_spares(1)},
    {"tasks_that_name_their_number_count", 2,
     "empty; free = new; observer x; x/0 joins 7 -> OK; free -> task 1"},
    {"two_processes_that_claim_one_member_are_like_those_of_a_task", 2,
     "empty; enrolled 2 0; twin = new m1; pass 200ms; twin -> ABORTED; state 1 -> connected",
     with_spares(0)},
    {"of_two_waiting_processes_of_one_member_the_newer_stays", 2,
     "empty; older = new m; newer = new m; older newer -> ALREADY_EXISTS waits; "
     "older ~ another process (observer:1) has asked to join as member 'm' since"},
    {"a_number_is_kept_although_nobody_else_had_asked_for_one_when_its_task_failed", 2,
     "ended 1 signal 9; at 5s; other = new; at 15s-; other -> waits; at 15s; other -> task 1, "
     "later",
     with_spares(0)},
    {"a_kept_number_of_a_task_that_named_it_does_not_keep_the_job_from_being_over", 2,
     "0/0 leaves; ended 1 signal 9; done -> yes", with_spares(0)},
    {"numbers_kept_since_different_times_are_given_one_after_the_other", 3,
     "first = new; second = new; ended 1 signal 9; at 5s; heartbeat 0; ended 2 signal 9; at 15s; "
     "first -> task 1, later; at 20s-; second -> waits; at 20s; second -> task 2, later",
     with_spares(2)},
    {"the_next_process_of_a_member_gets_its_number_although_a_spare_waits", 2,
     "empty; enrolled 2 1; ended 1 signal 9; pass 10s; new m1 -> task 1, later; at 100s; "
     "s0 -> waits",
     with_spares(1)},
    {"a_spare_lost_before_it_has_the_answer_makes_room_for_the_next_at_once", 2,
     "empty; enrolled 2 2; deaf 2; ended 1 signal 9; at 15s; state 1 -> connected; cut 2; pass 2s; "
     "s1 -> task 1, later",
     with_spares(2)},
    {"a_promoted_spare_that_dies_later_may_come_back", 1,
     "empty; enrolled 1 2; ended 0 signal 9; at 20s; heartbeat 1; s0 -> task 0, later; "
     "ended 0 signal 9; at 35s-; s1 -> waits; at 35s; s1 -> task 0, later",
     with_spares(2)},
    {"the_job_is_not_over_while_a_spare_is_to_get_the_last_number", 1,
     "empty; enrolled 1 1; ended 0 signal 9; done -> no; at 15s; s0 -> task 0, later; 1/0 leaves; "
     "done -> yes",
     with_spares(1)},
    {"a_member_that_left_to_return_gets_its_number_back", 2,
     "empty; enrolled 2 1; 1/1 leaves returning 300s; at 60s; s0 -> waits; new m1 -> task 1, later",
     with_spares(1)},
};

BOOST_AUTO_TEST_CASE(numbers_are_given_in_the_order_that_was_chosen) {
  for (auto const how :
       {core::assignment::order, core::assignment::member, core::assignment::placement}) {
    auto c = cluster::without_clients(2, {.assign = how});
    auto const first = c.enrol(c.observer(), "b", {"rack1", "host1"});
    auto const second = c.enrol(c.observer(), "a", {"rack2", "host1"});
    bool const is_by_member = how == core::assignment::member;
    BOOST_TEST(c.number(first) == (is_by_member ? "task 1" : "task 0"));
    BOOST_TEST(c.number(second) == (is_by_member ? "task 0" : "task 1"));
  }
}

BOOST_AUTO_TEST_CASE(the_last_call_waits_for_spares_and_ends_early_when_all_have_asked) {
  for (bool const all : {false, true}) {
    auto c = cluster::without_clients(1, with_spares(1));
    auto const first = c.enrol(c.observer(), "b");
    BOOST_TEST(c.at(15s - 1ns).code(first) == "waits");
    if (all) {
      auto const second = c.enrol(c.observer(), "a");
      BOOST_TEST(c.number(second) == "task 0");
      BOOST_TEST(c.code(first) == "waits");
      BOOST_TEST(c.look().spares_waiting == 1u);
    } else {
      BOOST_TEST(c.at(15s).number(first) == "task 0");
    }
  }
}

BOOST_AUTO_TEST_CASE(one_spare_too_many_is_refused_and_harms_nobody) {
  enrolled_job job{2, 1, with_spares(1)};
  auto& c = job.c;

  auto const other = c.enrol(c.observer(), "x");

  BOOST_TEST(c.code(other) == "RESOURCE_EXHAUSTED");
  expect_words(c.text(other), {"as many spares as it may have", "1"});
  BOOST_TEST(c.code(job.all[2]) == "waits");
  BOOST_TEST(c.state_of(0) + c.state_of(1) == "connectedconnected");
}

BOOST_AUTO_TEST_CASE(
    a_spare_gets_the_number_after_the_time_to_come_back_and_the_open_round_passes) {
  enrolled_job job{2, 1, with_spares(1)};
  auto& c = job.c;
  auto const waits = c.barrier({0, 0}, "b", 600s);
  c.task_ended(1, {errc::aborted, "signal 9"});

  BOOST_TEST(c.at(15s - 1ns).code(job.all[2]) == "waits");
  BOOST_TEST(c.at(15s).number(job.all[2]) == "task 1, later");
  BOOST_TEST(c.code(waits) == "waits");
  BOOST_TEST(c.code(c.barrier({2, 1}, "b"), waits) == "OK OK");
  BOOST_TEST(c.error() == "none");
}

BOOST_AUTO_TEST_CASE(without_time_to_come_back_a_spare_gets_the_number_at_once) {
  auto options = with_spares(1);
  options.come_back = 0s;
  enrolled_job job{2, 1, options};

  job.c.task_ended(1, {errc::aborted, "signal 9"});

  BOOST_TEST(job.c.number(job.all[2]) == "task 1, later");
}

BOOST_AUTO_TEST_CASE(a_member_whose_number_went_to_another_becomes_a_spare) {
  enrolled_job job{2, 1, with_spares(1)};
  auto& c = job.c;
  c.task_ended(1, {errc::aborted, "signal 9"});
  c.at(20s);

  auto const late = c.enrol(c.observer(), "m1");

  BOOST_TEST(c.code(late) == "waits");
  BOOST_TEST(c.look().spares.at(0).member == "m1");
}

BOOST_AUTO_TEST_CASE(the_nearest_spare_is_promoted_and_of_these_the_oldest) {
  auto options = with_spares(3);
  options.come_back = 0s;
  options.assign = core::assignment::order;
  auto c = cluster::without_clients(1, options);
  c.enrol(c.observer(), "m", {"pod", "rack1", "h1"});
  auto const far = c.enrol(c.observer(), "s0", {"pod", "rack2", "h1"});
  auto const near = c.enrol(c.observer(), "s1", {"pod", "rack1", "h2"});
  auto const nearer_later = c.enrol(c.observer(), "s2", {"pod", "rack1", "h3"});

  c.task_ended(0, {errc::aborted, "signal 9"});

  BOOST_TEST(c.number(near) == "task 0, later");
  BOOST_TEST(c.code(far, nearer_later) == "waits waits");
}

BOOST_AUTO_TEST_CASE(only_a_connected_spare_is_promoted) {
  auto options = with_spares(2);
  options.come_back = 0s;
  options.reconnect_grace = 60s;
  enrolled_job job{1, 2, options};
  auto& c = job.c;

  c.lose(1).task_ended(0, {errc::aborted, "signal 9"});
  BOOST_TEST(c.number(job.all[2]) == "task 0, later");

  c.task_ended(0, {errc::aborted, "signal 9"});
  BOOST_TEST(c.state_of(0) == "failed");
  BOOST_TEST(c.resume(1).number(job.all[1]) == "task 0, later");
}

BOOST_AUTO_TEST_CASE(the_old_holder_can_do_nothing_once_another_has_its_number) {
  auto options = with_spares(1);
  options.come_back = 0s;
  enrolled_job job{2, 1, options};
  auto& c = job.c;

  c.report_error({1, 1}, errc::internal, "boom");

  BOOST_TEST(c.number(job.all[2]) == "task 1, later");
  BOOST_TEST(c.code(c.barrier({1, 1}, "b")) == "ABORTED");
  BOOST_TEST(c.code(c.put(1, "k", "v")) == "ABORTED");
}

BOOST_AUTO_TEST_CASE(spares_are_cancelled_when_the_job_is_over) {
  enrolled_job job{2, 1, with_spares(1)};
  auto& c = job.c;
  c.leave({0, 0});
  BOOST_TEST(c.code(job.all[2]) == "waits");

  c.leave({1, 1});

  BOOST_TEST(c.logic().done());
  BOOST_TEST(c.code(job.all[2]) == "CANCELLED");
  BOOST_TEST(c.text(job.all[2]) == "the job is over");
  BOOST_TEST(c.code(c.enrol(c.observer())) == "CANCELLED");
}

BOOST_AUTO_TEST_CASE(spares_are_aborted_when_the_job_has_failed) {
  auto options = with_spares(1);
  options.recoverable = false;
  enrolled_job job{2, 1, options};
  auto& c = job.c;

  c.report_error({0, 0}, errc::internal, "boom");

  BOOST_TEST(c.code(job.all[2]) == "ABORTED");
  expect_words(c.text(job.all[2]), {"the job has failed", "boom"});
  BOOST_TEST(c.code(c.enrol(c.observer())) == "ABORTED");
}

BOOST_AUTO_TEST_CASE(without_spares_the_job_is_over_when_nobody_has_come_back) {
  enrolled_job job{1, 0, with_spares(0)};

  job.c.task_ended(0, {errc::aborted, "signal 9"});

  BOOST_TEST(!job.c.at(15s - 1ns).logic().done());
  BOOST_TEST(job.c.at(15s).logic().done());
}

BOOST_AUTO_TEST_CASE(after_the_shutdown_barrier_no_spare_is_promoted) {
  auto options = with_spares(1);
  options.leave_together = true;
  enrolled_job job{2, 1, options};
  auto& c = job.c;
  c.task_ended(1, {errc::aborted, "signal 9"});

  c.leave({0, 0});

  BOOST_TEST(c.logic().done());
  BOOST_TEST(c.code(job.all[2]) == "CANCELLED");
}

BOOST_AUTO_TEST_CASE(a_spare_waits_no_longer_than_its_timeout) {
  auto options = with_spares(1);
  options.last_call = 0s;
  enrolled_job job{1, 0, options};
  auto& c = job.c;

  auto const brief = c.enrol(c.observer(), "x", {}, 5s);

  BOOST_TEST(c.pass(5s - 1ns).code(brief) == "waits");
  BOOST_TEST(c.pass(1ns).code(brief) == "DEADLINE_EXCEEDED");
  expect_words(c.text(brief), {"no number was assigned within 5 s", "it is a spare"});
}

BOOST_AUTO_TEST_CASE(a_member_keeps_its_number_when_a_guest_lets_it_take_part_again) {
  enrolled_job job{2, 1, with_spares(1)};
  auto& c = job.c;
  std::string const secret(16, 's');
  c.send({1, 1}, core::grant_args{secret});
  int const guest = c.hello({.acts_for = core::guest_args{task_id{1}, secret}});
  c.report_error({guest, 1}, errc::internal, "boom");
  c.reset({guest, 1}, 1);
  BOOST_TEST(c.code(c.join({guest, 1}, 1)) == "OK");
  c.task_ended(1, {errc::aborted, "signal 9"});

  BOOST_TEST(c.number(c.enrol(c.observer(), "m1")) == "task 1, later");
}

BOOST_AUTO_TEST_CASE(malformed_joins_are_refused) {
  auto c = cluster::without_clients(1, {});
  int const who = c.observer();
  BOOST_TEST(c.code(c.enrol(who, std::string(257, 'm'))) == "INVALID_ARGUMENT");
  BOOST_TEST(c.code(c.enrol(who, "m", {std::string(200, 'p'), std::string(57, 'p')})) ==
             "INVALID_ARGUMENT");
  BOOST_TEST(c.code(c.enrol(who, "m", std::vector<std::string>(9, "p"))) == "INVALID_ARGUMENT");
}

BOOST_AUTO_TEST_CASE(a_restart_of_the_coordinator_credits_the_downtime_to_the_last_call) {
  auto options = with_spares(1);
  options.restart_grace = 15s;
  auto c = cluster::without_clients(1, options);
  auto const only = c.enrol(c.observer(), "m");
  c.at(10s).lose(0);
  c.sleep_without_advance(100s);
  BOOST_TEST(c.logic().put_in(t0 + c.now(), core::restarted{100s}).ok());
  c.resume(0);

  BOOST_TEST(c.at(115s - 1ns).code(only) == "waits");
  BOOST_TEST(c.at(115s).number(only) == "task 0");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
