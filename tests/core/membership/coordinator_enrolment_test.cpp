// Processes that join without a number: numbers at the start, spares, promotion (§1.6).

#include "tests/core/cluster.hpp"

namespace coxswain::test {
namespace {

core::config with_spares(std::uint32_t spares) {
  return core::config{.reconnect_grace = 2s, .recoverable = true, .spares = spares};
}

call enrol(cluster& c, int who, std::string member = {}, std::vector<std::string> placement = {},
           duration timeout = without_limit) {
  core::join_args args{incarnation{500 + static_cast<std::uint64_t>(who)}, timeout};
  args.any = true;
  args.member = std::move(member);
  args.placement = std::move(placement);
  return c.send(who, std::move(args), timeout);
}

// "task 3", "task 3, the job had started", or the code.
std::string number(cluster const& c, call of) {
  auto const* const a = c.body<core::join_answer>(of);
  if (!a || !a->task) return c.code(of);
  return "task " + std::to_string(a->task->value) + (a->already_started ? ", later" : "");
}

// n tasks with members m0, m1 ...: client i is task i; then as many spares, s0, s1 ...
struct enrolled_job {
  enrolled_job(std::uint32_t tasks, std::uint32_t spares, core::config options)
      : c{cluster::without_clients(tasks, options)} {
    for (std::uint32_t i = 0; i < tasks; ++i) {
      all.push_back(enrol(c, c.observer(), "m" + std::to_string(i)));
    }
    for (std::uint32_t i = 0; i < spares; ++i) {
      all.push_back(enrol(c, c.observer(), "s" + std::to_string(i)));
    }
    for (std::uint32_t i = 0; i < tasks; ++i) {
      BOOST_TEST_REQUIRE(number(c, all[i]) == "task " + std::to_string(i));
    }
    c.replies();
    c.log();
  }

  cluster c;
  std::vector<call> all;
};

BOOST_AUTO_TEST_SUITE(coordinator_enrolment_test)

BOOST_AUTO_TEST_CASE(without_spares_numbers_are_given_as_soon_as_enough_have_asked) {
  auto c = cluster::without_clients(2, {});
  auto const first = enrol(c, c.observer(), "z");
  BOOST_TEST(c.code(first) == "waits");

  auto const second = enrol(c, c.observer(), "a");

  BOOST_TEST(number(c, first) == "task 1");
  BOOST_TEST(number(c, second) == "task 0");
}

BOOST_AUTO_TEST_CASE(numbers_are_given_in_the_order_that_was_chosen) {
  for (auto const how :
       {core::assignment::order, core::assignment::member, core::assignment::placement}) {
    auto c = cluster::without_clients(2, {.assign = how});
    auto const first = enrol(c, c.observer(), "b", {"rack1", "host1"});
    auto const second = enrol(c, c.observer(), "a", {"rack2", "host1"});
    bool const is_by_member = how == core::assignment::member;
    BOOST_TEST(number(c, first) == (is_by_member ? "task 1" : "task 0"));
    BOOST_TEST(number(c, second) == (is_by_member ? "task 0" : "task 1"));
  }
}

BOOST_AUTO_TEST_CASE(the_last_call_waits_for_spares_and_ends_early_when_all_have_asked) {
  for (bool const all : {false, true}) {
    auto c = cluster::without_clients(1, with_spares(1));
    auto const first = enrol(c, c.observer(), "b");
    BOOST_TEST(c.at(15s - 1ns).code(first) == "waits");
    if (all) {
      auto const second = enrol(c, c.observer(), "a");
      BOOST_TEST(number(c, second) == "task 0");
      BOOST_TEST(c.code(first) == "waits");
      BOOST_TEST(c.look().spares_waiting == 1u);
    } else {
      BOOST_TEST(number(c.at(15s), first) == "task 0");
    }
  }
}

BOOST_AUTO_TEST_CASE(the_last_call_ends_when_too_few_are_left) {
  auto c = cluster::without_clients(1, with_spares(1));
  auto const first = enrol(c, c.observer());
  c.at(10s).cancel(first);

  auto const second = enrol(c, c.observer());

  BOOST_TEST(c.at(25s - 1ns).code(second) == "waits");
  BOOST_TEST(number(c.at(25s), second) == "task 0");
}

BOOST_AUTO_TEST_CASE(tasks_that_name_their_number_count) {
  auto c = cluster::without_clients(2, {});
  auto const free = enrol(c, c.observer());
  auto const named = c.join({c.observer(), 0}, 7);

  BOOST_TEST(c.code(named) == "OK");
  BOOST_TEST(number(c, free) == "task 1");
}

BOOST_AUTO_TEST_CASE(one_spare_too_many_is_refused_and_harms_nobody) {
  enrolled_job job{2, 1, with_spares(1)};
  auto& c = job.c;

  auto const other = enrol(c, c.observer(), "x");

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
  BOOST_TEST(number(c.at(15s), job.all[2]) == "task 1, later");
  BOOST_TEST(c.code(waits) == "waits");
  BOOST_TEST(c.code(c.barrier({2, 1}, "b"), waits) == "OK OK");
  BOOST_TEST(c.error() == "none");
}

BOOST_AUTO_TEST_CASE(without_time_to_come_back_a_spare_gets_the_number_at_once) {
  auto options = with_spares(1);
  options.come_back = 0s;
  enrolled_job job{2, 1, options};

  job.c.task_ended(1, {errc::aborted, "signal 9"});

  BOOST_TEST(number(job.c, job.all[2]) == "task 1, later");
}

BOOST_AUTO_TEST_CASE(the_next_process_of_a_member_gets_its_number_although_a_spare_waits) {
  enrolled_job job{2, 1, with_spares(1)};
  auto& c = job.c;
  c.task_ended(1, {errc::aborted, "signal 9"});

  auto const again = enrol(c.pass(10s), c.observer(), "m1");

  BOOST_TEST(number(c, again) == "task 1, later");
  BOOST_TEST(c.at(100s).code(job.all[2]) == "waits");
}

BOOST_AUTO_TEST_CASE(a_member_whose_number_went_to_another_becomes_a_spare) {
  enrolled_job job{2, 1, with_spares(1)};
  auto& c = job.c;
  c.task_ended(1, {errc::aborted, "signal 9"});
  c.at(20s);

  auto const late = enrol(c, c.observer(), "m1");

  BOOST_TEST(c.code(late) == "waits");
  BOOST_TEST(c.look().spares.at(0).member == "m1");
}

BOOST_AUTO_TEST_CASE(the_nearest_spare_is_promoted_and_of_these_the_oldest) {
  auto options = with_spares(3);
  options.come_back = 0s;
  options.assign = core::assignment::order;
  auto c = cluster::without_clients(1, options);
  enrol(c, c.observer(), "m", {"pod", "rack1", "h1"});
  auto const far = enrol(c, c.observer(), "s0", {"pod", "rack2", "h1"});
  auto const near = enrol(c, c.observer(), "s1", {"pod", "rack1", "h2"});
  auto const nearer_later = enrol(c, c.observer(), "s2", {"pod", "rack1", "h3"});

  c.task_ended(0, {errc::aborted, "signal 9"});

  BOOST_TEST(number(c, near) == "task 0, later");
  BOOST_TEST(c.code(far, nearer_later) == "waits waits");
}

BOOST_AUTO_TEST_CASE(only_a_connected_spare_is_promoted) {
  auto options = with_spares(2);
  options.come_back = 0s;
  options.reconnect_grace = 60s;
  enrolled_job job{1, 2, options};
  auto& c = job.c;

  c.lose(1).task_ended(0, {errc::aborted, "signal 9"});
  BOOST_TEST(number(c, job.all[2]) == "task 0, later");

  c.task_ended(0, {errc::aborted, "signal 9"});
  BOOST_TEST(c.state_of(0) == "failed");
  BOOST_TEST(number(c.resume(1), job.all[1]) == "task 0, later");
}

BOOST_AUTO_TEST_CASE(a_spare_lost_before_it_has_the_answer_makes_room_for_the_next_at_once) {
  enrolled_job job{2, 2, with_spares(2)};
  auto& c = job.c;
  c[2].deaf = true;
  c.task_ended(1, {errc::aborted, "signal 9"}).at(15s);
  BOOST_TEST(c.state_of(1) == "connected");

  c.lose(2, core::loss::closed).pass(2s);

  BOOST_TEST(number(c, job.all[3]) == "task 1, later");
}

BOOST_AUTO_TEST_CASE(a_promoted_spare_that_dies_later_may_come_back) {
  enrolled_job job{1, 2, with_spares(2)};
  auto& c = job.c;
  c.task_ended(0, {errc::aborted, "signal 9"}).at(20s).heartbeat(1);
  BOOST_TEST(number(c, job.all[1]) == "task 0, later");

  c.task_ended(0, {errc::aborted, "signal 9"});

  BOOST_TEST(c.at(35s - 1ns).code(job.all[2]) == "waits");
  BOOST_TEST(number(c.at(35s), job.all[2]) == "task 0, later");
}

BOOST_AUTO_TEST_CASE(the_old_holder_can_do_nothing_once_another_has_its_number) {
  auto options = with_spares(1);
  options.come_back = 0s;
  enrolled_job job{2, 1, options};
  auto& c = job.c;

  c.report_error({1, 1}, errc::internal, "boom");

  BOOST_TEST(number(c, job.all[2]) == "task 1, later");
  BOOST_TEST(c.code(c.barrier({1, 1}, "b")) == "ABORTED");
  BOOST_TEST(c.code(c.put(1, "k", "v")) == "ABORTED");
}

BOOST_AUTO_TEST_CASE(two_processes_that_claim_one_member_are_like_those_of_a_task) {
  enrolled_job job{2, 0, with_spares(0)};
  auto& c = job.c;

  auto const twin = enrol(c, c.observer(), "m1");

  BOOST_TEST(c.pass(200ms).code(twin) == "ABORTED");
  BOOST_TEST(c.state_of(1) == "connected");
}

BOOST_AUTO_TEST_CASE(of_two_waiting_processes_of_one_member_the_newer_stays) {
  auto c = cluster::without_clients(2, {});
  auto const older = enrol(c, c.observer(), "m");

  auto const newer = enrol(c, c.observer(), "m");

  BOOST_TEST(c.code(older, newer) == "ALREADY_EXISTS waits");
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
  BOOST_TEST(c.code(enrol(c, c.observer())) == "CANCELLED");
}

BOOST_AUTO_TEST_CASE(spares_are_aborted_when_the_job_has_failed) {
  auto options = with_spares(1);
  options.recoverable = false;
  enrolled_job job{2, 1, options};
  auto& c = job.c;

  c.report_error({0, 0}, errc::internal, "boom");

  BOOST_TEST(c.code(job.all[2]) == "ABORTED");
  expect_words(c.text(job.all[2]), {"the job has failed", "boom"});
  BOOST_TEST(c.code(enrol(c, c.observer())) == "ABORTED");
}

BOOST_AUTO_TEST_CASE(the_job_is_not_over_while_a_spare_is_to_get_the_last_number) {
  enrolled_job job{1, 1, with_spares(1)};
  auto& c = job.c;

  c.task_ended(0, {errc::aborted, "signal 9"});
  BOOST_TEST(!c.logic().done());

  BOOST_TEST(number(c.at(15s), job.all[1]) == "task 0, later");
  c.leave({1, 0});
  BOOST_TEST(c.logic().done());
}

BOOST_AUTO_TEST_CASE(without_spares_the_job_is_over_when_nobody_has_come_back) {
  enrolled_job job{1, 0, with_spares(0)};

  job.c.task_ended(0, {errc::aborted, "signal 9"});

  BOOST_TEST(!job.c.at(15s - 1ns).logic().done());
  BOOST_TEST(job.c.at(15s).logic().done());
}

BOOST_AUTO_TEST_CASE(a_number_is_kept_although_nobody_else_had_asked_for_one_when_its_task_failed) {
  cluster c{2, with_spares(0)};
  c.task_ended(1, {errc::aborted, "signal 9"});

  auto const other = enrol(c.at(5s), c.observer());

  BOOST_TEST(c.at(15s - 1ns).code(other) == "waits");
  BOOST_TEST(number(c.at(15s), other) == "task 1, later");
}

BOOST_AUTO_TEST_CASE(a_kept_number_of_a_task_that_named_it_does_not_keep_the_job_from_being_over) {
  cluster c{2, with_spares(0)};
  c.leave({0, 0});

  c.task_ended(1, {errc::aborted, "signal 9"});

  BOOST_TEST(c.logic().done());
}

BOOST_AUTO_TEST_CASE(numbers_kept_since_different_times_are_given_one_after_the_other) {
  cluster c{3, with_spares(2)};
  auto const first = enrol(c, c.observer());
  auto const second = enrol(c, c.observer());
  c.task_ended(1, {errc::aborted, "signal 9"});
  c.at(5s).heartbeat(0).task_ended(2, {errc::aborted, "signal 9"});

  BOOST_TEST(number(c.at(15s), first) == "task 1, later");
  BOOST_TEST(c.at(20s - 1ns).code(second) == "waits");
  BOOST_TEST(number(c.at(20s), second) == "task 2, later");
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

  auto const brief = enrol(c, c.observer(), "x", {}, 5s);

  BOOST_TEST(c.pass(5s - 1ns).code(brief) == "waits");
  BOOST_TEST(c.pass(1ns).code(brief) == "DEADLINE_EXCEEDED");
  expect_words(c.text(brief), {"no number was assigned within 5 s", "it is a spare"});
}

BOOST_AUTO_TEST_CASE(a_member_that_left_to_return_gets_its_number_back) {
  enrolled_job job{2, 1, with_spares(1)};
  auto& c = job.c;
  c.leave({1, 1}, 300s, true);
  BOOST_TEST(c.at(60s).code(job.all[2]) == "waits");

  BOOST_TEST(number(c, enrol(c, c.observer(), "m1")) == "task 1, later");
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

  BOOST_TEST(number(c, enrol(c, c.observer(), "m1")) == "task 1, later");
}

BOOST_AUTO_TEST_CASE(malformed_joins_are_refused) {
  auto c = cluster::without_clients(1, {});
  int const who = c.observer();
  BOOST_TEST(c.code(enrol(c, who, std::string(257, 'm'))) == "INVALID_ARGUMENT");
  BOOST_TEST(c.code(enrol(c, who, "m", {std::string(200, 'p'), std::string(57, 'p')})) ==
             "INVALID_ARGUMENT");
  BOOST_TEST(c.code(enrol(c, who, "m", std::vector<std::string>(9, "p"))) == "INVALID_ARGUMENT");
}

BOOST_AUTO_TEST_CASE(a_restart_of_the_coordinator_credits_the_downtime_to_the_last_call) {
  auto options = with_spares(1);
  options.restart_grace = 15s;
  auto c = cluster::without_clients(1, options);
  auto const only = enrol(c, c.observer(), "m");
  c.at(10s).lose(0);
  c.sleep_without_advance(100s);
  BOOST_TEST(c.logic().put_in(t0 + c.now(), core::restarted{100s}).ok());
  c.resume(0);

  BOOST_TEST(c.at(115s - 1ns).code(only) == "waits");
  BOOST_TEST(number(c.at(115s), only) == "task 0");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
