// Waits and deadlocks (§12.3).

#include "tests/core/steps.hpp"

#include <algorithm>

namespace coxswain::test {
namespace {

using kind = core::why_answer::kind;

core::why_answer why(cluster& c, caller who) {
  auto const asked = c.send(who, core::why_args{});
  auto const* const a = c.body<core::why_answer>(asked);
  BOOST_TEST_REQUIRE(a != nullptr, "no answer but " << c.code(asked));
  return *a;
}

core::why_answer::wait the_only(core::why_answer const& a) {
  BOOST_TEST_REQUIRE(a.waits.size() == 1u);
  return a.waits.front();
}

// Tasks join and leave without barriers.
core::config loose() { return core::config{.join_barrier = false, .leave_barrier = false}; }

core::config recoverable() { return core::config{.recoverable = true}; }

// A deadlock of tasks 0 and 1.
struct deadlock {
  explicit deadlock(cluster& c) {
    c.log();
    a = c.barrier(0, "a", 300s, {.among = {0, 1}});
    b = c.barrier(1, "b", 300s, {.among = {0, 1}});
  }
  call a{};
  call b{};
};

constexpr auto deadlock_text =
    "deadlock: tasks 0-1 are blocked on each other: task 0 waits at barrier 'a' for task 1, "
    "task 1 waits at barrier 'b' for task 0; cancel a round or end a task\n";

BOOST_AUTO_TEST_SUITE(coordinator_why_test)

rows const cases{
    {"a_cycle_of_three_tasks_is_a_deadlock", 3,
     "log; 0 barrier a 300s t0 t1; 1 barrier b 300s t1 t2; 2 barrier c 300s t2 t0; at 1s; log ~ "
     "tasks 0-2 are blocked on each other ... task 0 waits at barrier 'a' for task 1 ... task 1 "
     "waits at barrier 'b' for task 2 ... task 2 waits at barrier 'c' for task 0"},
    {"a_producer_that_became_the_waiting_task_no_longer_counts", 1,
     "empty; observer only; only push work 1; only/0 joins 1; only pop work; only pop work; log; "
     "at 1s; log ~ deadlock: task 0 is blocked: task 0 waits for queue 'work'",
     loose()},
    {"a_task_that_has_not_joined_may_release_others", 2,
     "empty; observer x; 0/0 joins 1; log; 0 get k; at 1s; log ->", loose()},
    {"a_task_that_waits_for_its_own_lock_is_told_so", 2,
     "0 lock l; log; 0 lock l for-ever; at 1s; log ~ deadlock: task 0 waits for lock 'l', which it "
     "holds itself ... end a task"},
    {"a_deadline_resolves_a_deadlock_and_is_logged", 2,
     "0 barrier a 5s; 1 barrier b 9s; at 5s-; log; at 6s; "
     "log ~ Barrier timed out. Barrier 'a' ... tasks 0-1 are no longer blocked"},
    {"tasks_with_equal_waits_are_reported_together", 20,
     "log; 0-18 barrier step; 19 leaves; at 1s; log ~ tasks 0-19 are blocked on each other ... "
     "tasks 0-18 wait at barrier 'step' for task 19 ... task 19 waits in the shutdown barrier for "
     "tasks 0-18"},
    {"a_failed_recoverable_task_may_still_release_others", 2,
     "ended 1 INTERNAL killed; log; 0 barrier a 30s; at 1s; log ->", recoverable()},
};

BOOST_AUTO_TEST_CASE(a_deadlock_of_two_tasks_is_reported_after_a_tenth_of_a_second) {
  cluster c{2};
  deadlock const d{c};

  BOOST_TEST(c.at(100ms - 1ns).log() == "");
  BOOST_TEST(why(c, 0).stuck == "");

  BOOST_TEST(c.at(100ms).log() == deadlock_text);
  BOOST_TEST(c.look().stuck_tasks == 2u);
  BOOST_TEST(why(c, 0).stuck + "\n" == deadlock_text);
  BOOST_TEST(c.code(d.a) == "waits");
}

BOOST_FIXTURE_TEST_CASE(the_deadlock_delay_starts_with_the_last_wait, job<2>) {
  c.log();
  c.barrier(0, "a");
  c.at(60ms);
  c.barrier(1, "b");

  BOOST_TEST(c.at(160ms - 1ns).log() == "");
  BOOST_TEST(c.at(160ms).log() == deadlock_text);
}

BOOST_FIXTURE_TEST_CASE(the_deadlock_delay_does_not_depend_on_the_task_order, job<2>) {
  c.log();
  c.barrier(1, "b");
  c.at(60ms);
  c.barrier(0, "a");

  BOOST_TEST(c.at(160ms - 1ns).log() == "");
  BOOST_TEST(c.at(160ms).log() == deadlock_text);
}

BOOST_FIXTURE_TEST_CASE(the_same_deadlock_is_reported_once, job<4>) {
  deadlock const d{c};
  c.at(1s);
  c.log();

  c.get(2, "k", 1s);
  BOOST_TEST(c.at(5s).log() == "");
}

BOOST_FIXTURE_TEST_CASE(a_stuck_task_has_its_own_event_kind, job<2>) {
  int const o = c.observer();
  auto const seen = c.send(o, core::watch_events_args{{}, core::severity::info, 0s});
  auto const last = c.body<core::events_answer>(seen)->through;
  auto const next = c.send(o, core::watch_events_args{last, core::severity::error, without_limit});
  deadlock const d{c};

  c.at(1s);

  auto const& event = c.body<core::events_answer>(next)->entries.at(0).what;
  BOOST_TEST((event.kind == core::event_kind::stuck));
  BOOST_TEST((event.level == core::severity::error));
}

BOOST_FIXTURE_TEST_CASE(a_get_that_no_task_can_answer_does_not_fail, job<1>) {
  int const o = c.observer();
  auto const seen = c.send(o, core::watch_events_args{{}, core::severity::info, 0s});
  auto const last = c.body<core::events_answer>(seen)->through;
  auto const next = c.send(o, core::watch_events_args{last, core::severity::info, without_limit});
  c.get(0, "k", 2s);

  c.at(3s);

  auto const& event = c.body<core::events_answer>(next)->entries.at(0).what;
  BOOST_TEST((event.kind == core::event_kind::stuck));
  BOOST_TEST((event.level == core::severity::warning));
  auto const error = c.send(o, core::watch_events_args{last, core::severity::error, 0s});
  c.at(3s);
  auto const* const errors = c.body<core::events_answer>(error);
  BOOST_TEST((errors == nullptr || errors->entries.empty()), c.code(error));
}

BOOST_FIXTURE_TEST_CASE(a_cycle_of_two_is_a_deadlock_although_a_third_task_runs, job<3>) {
  deadlock const d{c};

  BOOST_TEST(c.at(1s).log() == deadlock_text);
}

BOOST_FIXTURE_TEST_CASE(a_task_waiting_for_a_running_task_is_not_stuck, job<3>) {
  c.log();
  c.barrier(0, "a");
  c.barrier(1, "a");

  BOOST_TEST(c.at(1s).log() == "");
  auto const a = why(c, 0);
  BOOST_TEST(a.stuck == "");
  BOOST_TEST(!the_only(a).stuck);
}

BOOST_FIXTURE_TEST_CASE(above_eight_different_waits_only_their_number_is_reported, job<10>) {
  c.log();
  for (int i = 0; i < 10; ++i) {
    auto const next = static_cast<std::uint32_t>((i + 1) % 10);
    c.barrier(i, "b" + std::to_string(i), 300s, {.among = {static_cast<std::uint32_t>(i), next}});
  }

  c.at(1s);

  std::string const text = c.log();
  expect_words(text, {"task 7 waits", "and 2 other waits"});
  BOOST_TEST(!contains(text, "task 8 waits"));
}

BOOST_AUTO_TEST_CASE(a_long_list_of_stuck_tasks_is_cut_and_counts_the_rest) {
  cluster c{200, loose()};
  for (int i = 0; i < 200; ++i) {
    if (i % 2 == 0) c.get(i, "k");
  }
  for (int i = 0; i < 200; ++i) {
    if (i % 2 == 1) c.leave(i);
  }
  c.log();

  c.at(1s);

  expect_words(c.log(), {"tasks 0,2,4,", ",152,154 and 22 more are blocked", "tasks 0,2,",
                         "and 22 more wait for key 'k'"});
}

BOOST_FIXTURE_TEST_CASE(a_get_of_a_key_that_only_a_waiting_task_could_set_is_stuck, job<2>) {
  c.log();
  c.get(0, "address");
  c.barrier(1, "start");

  c.at(1s);

  BOOST_TEST(c.log() ==
             "deadlock: tasks 0-1 are blocked on each other: task 0 waits for key 'address', "
             "which no task is left to set, task 1 waits at barrier 'start' for task 0; cancel a "
             "round, supply what is missing or end a task\n");
}

BOOST_FIXTURE_TEST_CASE(the_only_task_of_a_job_that_gets_a_key_nobody_sets_is_stuck, job<1>) {
  c.log();
  c.get_all(0, {"there", "k"});
  c.at(1s);
  BOOST_TEST(
      c.log() ==
      "deadlock: task 0 is blocked: task 0 waits for key 'there', which no task is left to set; "
      "supply what is missing or end a task\n");
}

BOOST_FIXTURE_TEST_CASE(a_put_of_an_observer_resolves_a_deadlock_and_is_logged, job<1>) {
  c.get(0, "k");
  int const o = c.observer();
  c.at(1s);
  c.log();

  c.put(o, "k", "v");
  c.at(2s);

  BOOST_TEST(c.log() == "task 0 is no longer blocked\n");
  BOOST_TEST(why(c, o).waits.empty());
}

BOOST_FIXTURE_TEST_CASE(pops_with_an_outside_producer_are_stuck_after_it_disconnects, job<2>) {
  int const o = c.observer();
  c.push(o, "work", "1");
  c.pop(0, "work");
  c.log();
  c.pop(0, "work");
  c.pop(1, "work");
  BOOST_TEST(c.at(1s).log() == "");

  c.bye(o).at(2s);

  expect_words(c.log(),
               {"deadlock: tasks 0-1 are blocked: tasks 0-1 wait for queue 'work', which no "
                "task is left to fill; supply what is missing"});
}

BOOST_FIXTURE_TEST_CASE(waiting_observers_are_shown_and_never_stuck, job<1>) {
  int const o = c.observer();
  c.get(o, "k");
  c.count_barrier(o, "ready", 2, 30s);
  c.at(1s);

  auto const a = why(c, o);

  BOOST_TEST(a.stuck == "");
  BOOST_TEST_REQUIRE(a.waits.size() == 2u);
  BOOST_TEST((a.waits[0].what == kind::count_barrier));
  BOOST_TEST(a.waits[0].missing->arrived == 1u);
  BOOST_TEST(a.waits[0].missing->expected == 2u);
  BOOST_TEST((a.waits[0].remaining == 29s));
  BOOST_TEST((a.waits[1].what == kind::get));
  BOOST_TEST(a.waits[1].name == "k");
  BOOST_TEST(a.waits[1].waiting == "");
  BOOST_TEST(a.waits[1].others == 1u);
}

BOOST_FIXTURE_TEST_CASE(tasks_at_a_count_barrier_are_listed_with_the_stuck_ones, job<2>) {
  int const o = c.observer();
  c.count_barrier(o, "ready", 4);
  c.count_barrier(1, "ready", 4);
  c.count_barrier(0, "ready", 4);

  auto const a = why(c, o);

  BOOST_TEST_REQUIRE(a.waits.size() == 1u);
  BOOST_TEST(a.waits[0].waiting == "0-1");
  BOOST_TEST(a.waits[0].others == 1u);
  BOOST_TEST(a.waits[0].missing->arrived == 3u);
  BOOST_TEST(a.stuck == "");
}

BOOST_FIXTURE_TEST_CASE(a_task_with_concurrent_calls_is_stuck_only_when_all_wait, job<2>) {
  auto const first = c.get(0, "first");
  auto const second = c.get(0, "second");
  c.put(1, "first", "1");
  c.put(1, "second", "2");
  BOOST_TEST(c.code(first) + c.code(second) == "OKOK");
  deadlock const d{c};
  BOOST_TEST(c.at(1s).log() == "");

  c.get(0, "third");
  c.at(2s);

  expect_words(c.log(), {"tasks 0-1 are blocked on each other", "task 0 waits at barrier 'a'"});
}

BOOST_AUTO_TEST_CASE(a_new_incarnation_does_not_inherit_concurrent_calls) {
  cluster c{2, recoverable()};
  c.get(0, "first");
  c.get(0, "second");
  c.report_error(0, errc::internal, "boom");
  c.join({0, 0}, 7);
  deadlock const d{c};

  BOOST_TEST(c.at(1s).log() == deadlock_text);
}

BOOST_FIXTURE_TEST_CASE(a_suspect_task_is_not_stuck_until_it_resumes, job<2>) {
  deadlock const d{c};
  c.at(50ms).lose(1);
  c.log();
  BOOST_TEST(c.at(1s).log() == "");

  c.resume(1).at(2s);

  BOOST_TEST(c.log() == "task 1 (host1:1001) is back\n" + std::string{deadlock_text});
}

BOOST_AUTO_TEST_CASE(a_task_that_left_cannot_release_a_get) {
  cluster c{2, loose()};
  c.get(0, "k");
  c.at(1s);
  c.log();

  c.leave(1);
  BOOST_TEST(c.at(2s).log() ==
             "task 1 (host1:1001) has left\n"
             "deadlock: task 0 is blocked: task 0 waits for key 'k', which no task is left to set; "
             "supply what is missing or end a task\n");
}

BOOST_FIXTURE_TEST_CASE(a_cancelled_round_resolves_a_deadlock_and_is_logged, job<2>) {
  deadlock const d{c};
  c.at(1s);
  c.log();

  c.cancel(c.observer(), "a");
  c.at(2s);

  expect_words(c.log(),
               {"Barrier 'a' round 1 failed: cancelled by", "tasks 0-1 are no longer blocked\n"});
}

BOOST_AUTO_TEST_CASE(only_remaining_tasks_are_reported_as_running_again) {
  cluster c{2, recoverable()};
  deadlock const d{c};
  c.at(1s);
  c.report_error(1, errc::internal, "boom");
  c.log();

  c.at(3s);

  BOOST_TEST(c.log() == "task 0 is no longer blocked\n");
}

BOOST_AUTO_TEST_CASE(no_task_runs_again_when_all_stuck_tasks_failed) {
  cluster c{2, recoverable()};
  deadlock const d{c};
  c.at(1s);
  c.report_error(0, errc::internal, "boom");
  c.report_error(1, errc::internal, "boom");
  c.log();

  BOOST_TEST(c.at(3s).log() == "");
}

BOOST_FIXTURE_TEST_CASE(the_end_of_the_job_does_not_resolve_a_deadlock, job<2>) {
  deadlock const d{c};
  c.at(1s);
  c.log();

  c.report_error(0, errc::internal, "boom");
  c.at(5s);

  BOOST_TEST(!contains(c.log(), "again"));
}

BOOST_FIXTURE_TEST_CASE(a_new_deadlock_of_the_same_tasks_is_reported_again, job<2>) {
  deadlock const d{c};
  c.at(1s);
  c.cancel(c.observer(), "a");
  c.log();

  c.barrier(0, "later");
  expect_words(c.at(2s).log(), {"task 0 waits at barrier 'later' for task 1"});
}

BOOST_FIXTURE_TEST_CASE(tasks_joining_a_deadlock_are_reported, job<3>) {
  deadlock const d{c};
  c.at(1s);
  c.log();

  c.barrier(2, "c");
  expect_words(c.at(2s).log(), {"tasks 0-2", "task 2 waits at barrier 'c' for tasks 0-1"});
}

BOOST_FIXTURE_TEST_CASE(tasks_joining_a_deadlock_one_by_one_are_reported_once_a_second, job<12>) {
  deadlock const d{c};
  for (int i = 2; i < 12; ++i) {
    c.barrier(i, "a" + std::to_string(i));
    c.pass(150ms);
  }
  c.at(5s);

  std::string const text = c.log();
  BOOST_TEST(std::count(text.begin(), text.end(), '\n') == 3);
  expect_words(text, {"tasks 0-2 are blocked", "tasks 0-8 are blocked", "tasks 0-11 are blocked"});
}

BOOST_FIXTURE_TEST_CASE(alive_queries_and_topology_exchanges_can_be_stuck, job<2>) {
  c.log();
  c.exchange(0, "gpu", {});
  c.send(1, core::alive_args{{}, 300s}, 300s);

  expect_words(c.at(1s).log(), {"task 0 waits in the topology exchange 'gpu' for task 1",
                                "task 1 waits in an alive query for task 0", "; end a task"});
  auto const a = why(c, 0);
  BOOST_TEST_REQUIRE(a.waits.size() == 2u);
  BOOST_TEST((a.waits[0].what == kind::topology));
  BOOST_TEST((a.waits[1].what == kind::alive));
  BOOST_TEST(a.waits[1].waiting == "1");
  BOOST_TEST(a.waits[1].missing->missing == "0");
  BOOST_TEST((a.waits[1].remaining == 299s));
  BOOST_TEST(a.waits[1].stuck);
}

BOOST_FIXTURE_TEST_CASE(a_completed_exchange_is_no_wait, job<2>) {
  c.exchange(0, "gpu", {});
  c.exchange(1, "gpu", {});
  deadlock const d{c};

  BOOST_TEST(c.at(1s).log() == deadlock_text);
  auto const a = why(c, 0);
  BOOST_TEST_REQUIRE(a.waits.size() == 2u);
  BOOST_TEST((a.waits[0].what == kind::barrier));
  BOOST_TEST((a.waits[1].what == kind::barrier));
}

BOOST_FIXTURE_TEST_CASE(an_agreement_on_a_step_is_shown_and_blocks_no_task, job<2>) {
  c.preempt(0, 1);
  c.frozen(0, 1, 7);
  c.log();
  c.barrier(1, "a");
  BOOST_TEST(c.at(1s).log() == "");
  auto const a = why(c, 0);
  BOOST_TEST_REQUIRE(a.waits.size() == 2u);
  BOOST_TEST((a.waits[1].what == kind::preemption));
  BOOST_TEST(a.waits[1].waiting == "0");
  BOOST_TEST(a.waits[1].missing->missing == "1");
  BOOST_TEST(a.waits[1].missing->known.at(0).waits_for == "barrier 'a'");
  BOOST_TEST(!a.waits[1].stuck);
}

BOOST_AUTO_TEST_CASE(an_agreement_is_shown_without_failed_tasks) {
  cluster c{3, recoverable()};
  c.preempt(0, 1);
  c.frozen(0, 1, 7);
  c.report_error(2, errc::internal, "boom");

  auto const w = the_only(why(c, 0));

  BOOST_TEST((w.what == kind::preemption));
  BOOST_TEST(w.missing->arrived == 1u);
  BOOST_TEST(w.missing->expected == 2u);
  BOOST_TEST(w.missing->missing == "1");
  BOOST_TEST((w.remaining == c.logic().options().preemption_timeout));
}

BOOST_FIXTURE_TEST_CASE(why_lists_waiting_and_missing_tasks_with_their_state, job<4>) {
  c.send(2, core::report_progress_args{1200});
  c.barrier(0, "epoch", 30s);
  c.at(1s);
  c.barrier(1, "epoch", 60s);
  c.get(2, "k", 20s);
  c.at(5s);

  auto const a = why(c, 3);

  BOOST_TEST_REQUIRE(a.waits.size() == 2u);
  auto const& w = a.waits[0];
  BOOST_TEST((w.what == kind::barrier));
  BOOST_TEST(w.name == "epoch");
  BOOST_TEST(w.waiting == "0-1");
  BOOST_TEST(w.missing->round.value == 1u);
  BOOST_TEST(w.missing->arrived == 2u);
  BOOST_TEST(w.missing->missing == "2-3");
  BOOST_TEST(w.missing->known.at(0).waits_for == "key 'k'");
  BOOST_TEST((w.missing->known.at(0).step == 1200u));
  BOOST_TEST((w.age == 5s));
  BOOST_TEST((w.remaining == 25s));
  BOOST_TEST((a.waits[1].age == 4s));
  BOOST_TEST((a.waits[1].remaining == 16s));
  BOOST_TEST(!a.waits[1].missing);
}

BOOST_FIXTURE_TEST_CASE(why_shows_tasks_waiting_to_join, empty_job<3>) {
  c.observer();
  c.join({0, 1}, 1, 30s);
  c.at(1s);

  auto const w = the_only(why(c, c.observer()));

  BOOST_TEST((w.what == kind::join));
  BOOST_TEST(w.waiting == "1");
  BOOST_TEST(w.missing->missing == "0,2");
  BOOST_TEST((w.remaining == 29s));
  BOOST_TEST(!w.stuck);
}

BOOST_FIXTURE_TEST_CASE(why_shows_tasks_waiting_to_leave, job<2>) {
  c.leave(0, 30s);
  c.at(1s);

  auto const w = the_only(why(c, 1));

  BOOST_TEST((w.what == kind::leave));
  BOOST_TEST(w.waiting == "0");
  BOOST_TEST(w.missing->missing == "1");
  BOOST_TEST((w.remaining == 29s));
}

BOOST_FIXTURE_TEST_CASE(a_wait_without_timeout_has_no_remaining_time, job<2>) {
  c.barrier(0, "b", without_limit);

  auto const w = the_only(why(c, 1));

  BOOST_TEST((w.what == kind::barrier));
  BOOST_TEST(!w.remaining);
}

BOOST_FIXTURE_TEST_CASE(pop_and_get_all_are_shown_as_their_own_kinds, job<2>) {
  c.put(0, "there", "1");
  c.get_all(0, {"there", "missing"});
  c.pop(1, "work");

  auto const a = why(c, c.observer());

  BOOST_TEST_REQUIRE(a.waits.size() == 2u);
  BOOST_TEST((a.waits[0].what == kind::get_all));
  BOOST_TEST(a.waits[0].name == "missing");
  BOOST_TEST(a.waits[0].waiting == "0");
  BOOST_TEST((a.waits[1].what == kind::pop));
  BOOST_TEST(a.waits[1].name == "work");
  BOOST_TEST(a.waits[1].waiting == "1");
}

BOOST_FIXTURE_TEST_CASE(gets_of_one_key_are_one_wait_and_watches_do_not_count, job<3>) {
  int const o = c.observer();
  c.get(2, "k", without_limit);
  c.get(o, "k", without_limit);
  c.get(0, "k", without_limit);
  c.watch_keys(o, "k", 0);
  c.send(o, core::watch_events_args{99, core::severity::error, without_limit});

  auto const w = the_only(why(c, o));

  BOOST_TEST(w.waiting == "0,2");
  BOOST_TEST(w.others == 1u);
  BOOST_TEST(!w.remaining);
}

BOOST_FIXTURE_TEST_CASE(waits_above_a_thousand_are_only_counted, job<1>) {
  for (int i = 0; i < 1003; ++i) c.get(0, "k" + std::to_string(i));

  auto const a = why(c, 0);

  BOOST_TEST(a.waits.size() == 1000u);
  BOOST_TEST(a.more == 3u);
}

// 500 rounds of 1,000 tasks.
BOOST_AUTO_TEST_CASE(the_cost_of_why_is_bounded_with_many_open_rounds) {
  cluster c{1'000};
  c.check_less();
  for (int i = 0; i < 500; ++i) c.barrier(i, "b" + std::to_string(i));
  c.pass(1s);
  auto const before = c.logic().counts().steps;

  auto const a = why(c, 0);

  BOOST_TEST(c.logic().counts().steps - before < 10'000u);
  BOOST_TEST(a.waits.size() == 66u);
  BOOST_TEST(a.more == 434u);
  BOOST_TEST(a.waits[0].name == "b0");
  BOOST_TEST(a.waits[0].missing->missing == "1-999");
  BOOST_TEST(a.waits[65].name == "b65");
}

BOOST_AUTO_TEST_CASE(every_kind_of_wait_counts_against_the_bound_of_why) {
  cluster c{3, {.participants_per_picture_max = 1}};
  c.barrier(0, "a");
  c.count_barrier(0, "c", 2);
  c.exchange(0, "cuda", {});
  c.send(0, core::alive_args{});
  c.get(1, "k");
  c.get(2, "k");

  auto const a = why(c, 0);

  BOOST_TEST(a.waits.size() == 1u);
  BOOST_TEST(a.waits[0].name == "a");
  BOOST_TEST(a.more == 5u);
}

// The task's other wait may end.
BOOST_AUTO_TEST_CASE(a_task_with_an_unexamined_wait_is_not_reported_stuck) {
  cluster c{2, {.participants_per_picture_max = 1}};
  deadlock const d{c};
  BOOST_TEST(c.pass(1s).log() == "");
  BOOST_TEST(why(c, 0).stuck == "");
}

BOOST_AUTO_TEST_CASE(fully_examined_tasks_are_stuck_although_others_were_omitted) {
  cluster c{4, {.participants_per_picture_max = 20}};
  deadlock const d{c};
  c.barrier(2, "c", 300s, {.among = {2, 3}});
  BOOST_TEST(c.pass(1s).log() == deadlock_text);
  BOOST_TEST(why(c, 0).more == 1u);
}

BOOST_FIXTURE_TEST_CASE(waiting_tasks_are_shown_before_other_clients, job<2>) {
  int const o = c.observer();
  for (int i = 0; i < 1500; ++i) c.get(o, i < 10 ? "shared" : "k" + std::to_string(i));
  c.get(c.observer(), "of another client");
  c.get(1, "a key of tasks");
  c.get(1, "shared");

  auto const a = why(c, 0);

  auto const& of_task = a.waits.at(0);
  BOOST_TEST(of_task.name == "a key of tasks");
  BOOST_TEST(of_task.waiting == "1");
  BOOST_TEST(a.waits.back().name == "shared");
  BOOST_TEST(a.waits.back().waiting == "1");
  BOOST_TEST(a.waits.back().others == 10u);
  BOOST_TEST(a.waits.size() == 492u);
  BOOST_TEST(a.more == 1'001u);
}

BOOST_FIXTURE_TEST_CASE(a_waiting_task_of_many_sessions_arms_one_alarm, job<100>) {
  c.check_less();
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 100; ++i) c.barrier(i, "step");
    c.pass(7ms);
  }
  c.at(10s);

  BOOST_TEST(!contains(c.log(), "never go on"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
