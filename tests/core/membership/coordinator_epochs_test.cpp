// Elastic jobs: epochs, how one follows the other, and fencing (§1.7).

#include "tests/core/steps.hpp"

namespace coxswain::test {
namespace {

core::config elastic(std::uint32_t min_tasks, core::config options = {}) {
  options.elastic = true;
  options.min_tasks = min_tasks;
  options.last_call = 2s;
  options.min_wait = 5s;
  options.epoch_timeout = 6s;
  return options;
}

// A new client that asks to join.
call new_process(cluster& c, std::string member = {}) {
  return c.enrol(c.observer(), std::move(member));
}

std::string members(cluster& c) {
  auto const of = c.send(c.observer(), core::epoch_members_args{}, without_limit);
  auto const* const all = c.body<core::epoch_members_answer>(of);
  if (!all) return c.code(of);
  std::string text;
  for (auto const& member : all->members) text += member.name + (member.survivor ? " " : "+ ");
  return text;
}

// "1: m0 m1 next 2": a page of the list.
std::string members_from(cluster& c, std::uint32_t first) {
  auto const of = c.send(c.observer(), core::epoch_members_args{task_id{first}}, without_limit);
  auto const* const page = c.body<core::epoch_members_answer>(of);
  if (!page) return c.code(of);
  std::string text = std::to_string(page->epoch) + ":";
  for (auto const& member : page->members) text += " " + member.name;
  if (page->next_task) text += " next " + std::to_string(page->next_task->value);
  return text;
}

// n of at most `most` tasks are in epoch 1: client i is task i, member m<i>.
struct elastic_job {
  elastic_job(std::uint32_t n, std::uint32_t most, core::config options)
      : c{cluster::without_clients(most, options)} {
    for (std::uint32_t i = 0; i < n; ++i) all.push_back(new_process(c, "m" + std::to_string(i)));
    if (n < most) c.pass(2s);
    for (std::uint32_t i = 0; i < n; ++i) {
      BOOST_TEST_REQUIRE(c.epoch(all[i]) == "1: " + std::to_string(i) + " of " + std::to_string(n) +
                                                " +" + std::to_string(n));
    }
    c.replies();
    c.log();
  }

  cluster c;
  std::vector<call> all;
};

BOOST_AUTO_TEST_SUITE(coordinator_epochs_test)

rows const cases{
    {"the_first_epoch_begins_with_fewer_after_the_last_call", 4,
     "empty; first = new; at 10s; first -> waits; second = new; at 12s-; second -> waits; at 12s; "
     "first -> 1: 0 of 2 +2; second -> 1: 1 of 2 +2",
     elastic(2)},
    {"the_next_process_of_a_lost_member_is_not_awaited", 3,
     "empty; epoch 3; at 10s; ended 2 signal 9; first = 0 next-epoch; first -> waits; at 11s; "
     "second = 1 next-epoch; first -> 2: 0 of 2 -1; second -> 2: 1 of 2 -1; back = new m2; "
     "again = 0 next-epoch; 1 next-epoch; again -> 3: 0 of 3 +1; back -> 3: 2 of 3 +1",
     elastic(1)},
    {"below_the_minimum_a_spare_makes_the_epoch_at_once", 2,
     "empty; epoch 2; ended 0 signal 9; waits = 1 next-epoch for-ever; pass 4s; waits -> waits; "
     "joiner = new; waits -> 2: 0 of 2 -1 +1; joiner -> 2: 1 of 2 -1 +1",
     elastic(2)},
    {"calls_that_expire_and_come_again_do_not_prolong_min_wait", 2,
     "empty; epoch 2; at 10s; ended 1 signal 9; 0 next-epoch 3s; at 13s; "
     "again = 0 next-epoch for-ever; at 15s-; again -> waits; at 15s; again -> ABORTED",
     elastic(2)},
    {"below_the_minimum_the_job_fails_although_no_call_waits_at_that_moment", 2,
     "empty; epoch 2; at 10s; ended 1 signal 9; 0 next-epoch 3s; at 15s-; error -> none; at 15s; "
     "error ~ fewer than 2 tasks ... 1 of the 2 of epoch 1",
     elastic(2)},
    {"a_deadlock_of_a_larger_epoch_is_resolved_in_a_smaller_one", 2,
     "empty; epoch 2; 0/0 barrier a; 1/1 barrier b; at 10s; log ~ deadlock: tasks 0-1; "
     "ended 1 signal 9; 0 next-epoch -> 2: 0 of 1 -1; at 12s; log ~ task 0 is no longer blocked",
     elastic(1)},
    {"all_die_and_the_job_waits_for_processes", 2,
     "empty; epoch 2; ended 0 signal 9; ended 1 signal 9; done -> no; new -> 2: 0 of 1 -2 +1",
     elastic(1)},
    {"a_member_whose_connection_is_lost_is_awaited_for_its_grace", 2,
     "empty; epoch 2; blinks = 1 next-epoch; cut 1; waits = 0 next-epoch; pass 1s; waits -> waits; "
     "resume 1; waits -> 2: 0 of 2; blinks -> 2: 1 of 2",
     elastic(1)},
    {"a_wish_without_anybody_waiting_leaves_nobody_behind", 3,
     "empty; epoch 2; new; endings 0 -> 1 joiners; pass 20s; state 1 -> connected", elastic(1)},
    {"an_ending_is_sent_again_after_a_resume", 3,
     "empty; epoch 2; new; endings 0 -> 1 joiners; blink 0; endings 0 -> 1 joiners", elastic(1)},
    {"a_job_that_grows_at_once_ends_its_epoch_for_a_joiner", 3,
     "empty; epoch 2; waits = 0/0 barrier b; new; endings 0 -> 1 joiners; waits -> ABORTED",
     elastic(1, {.grow = core::growth::now})},
    {"more_epochs_than_the_limit_fail_the_job", 1,
     "empty; epoch 1; 0 next-epoch -> 2: 0 of 1; 0 next-epoch -> ABORTED; "
     "error ~ 2 epochs ... epochs_max",
     elastic(1, {.epochs_max = 2})},
    {"with_ranks_by_member_all_are_sorted_anew", 3,
     "empty; epoch 2; joiner = new a; first = 0 next-epoch; second = 1 next-epoch; "
     "joiner -> 2: 0 of 3 +1; first -> 2: 1 of 3 +1; second -> 2: 2 of 3 +1",
     elastic(1, {.ranks = core::rank_order::member})},
    {"a_second_session_of_a_member_claims_it_and_joins_the_next_epoch", 2,
     "empty; epoch 2; mute 1; rival = new m1; pass 2s; state 1 -> failed; rival -> waits; "
     "0 next-epoch -> 2: 0 of 2 -1 +1; rival -> 2: 1 of 2 -1 +1",
     elastic(1)},
    {"who_does_not_call_is_named_when_the_time_is_over", 2,
     "empty; epoch 2; waits = 0 next-epoch 5s; pass 5s; waits -> DEADLINE_EXCEEDED; "
     "waits ~ epoch 2 ... 5 s ... 1 of 2 members: 1",
     elastic(1)},
    {"resize_shrinks_at_the_boundary_and_the_highest_leave", 4,
     "empty; epoch 3; observer op; op resizes 1 -> INVALID_ARGUMENT; "
     "op resizes 5 -> INVALID_ARGUMENT; op resizes 2 -> OK; endings 0 -> 1 asked; "
     "first = 0 next-epoch; second = 1 next-epoch; third = 2 next-epoch; first -> 2: 0 of 2 -1; "
     "second -> 2: 1 of 2 -1; third -> CANCELLED; third ~ has left ... resized to 2; joiner = new; "
     "endings 0 ->; joiner -> waits; op resizes 3; endings 0 -> 2 joiners",
     elastic(2)},
    {"the_leave_is_that_of_the_present_epoch_and_ends_the_job", 2,
     "empty; epoch 2; spare = new; first = 0/0 leaves 300s; first -> waits; "
     "second = 1/1 leaves 300s; first second -> OK OK; spare -> CANCELLED; done -> yes",
     elastic(1, {.spares = 1})},
};

BOOST_AUTO_TEST_CASE(the_first_epoch_begins_at_once_when_all_are_there) {
  auto c = cluster::without_clients(2, elastic(1));
  auto const first = new_process(c, "b");
  BOOST_TEST(c.code(first) == "waits");
  auto const second = new_process(c, "a");
  BOOST_TEST(c.epoch(first) == "1: 1 of 2 +2");
  BOOST_TEST(c.epoch(second) == "1: 0 of 2 +2");
  BOOST_TEST(members(c) == "a+ b+ ");
}

BOOST_AUTO_TEST_CASE(a_joiner_breaks_nothing_and_is_taken_at_the_next_boundary) {
  elastic_job job{3, 4, elastic(2)};
  auto& c = job.c;
  auto const waits = c.barrier({0, 0}, "b");
  auto const joiner = new_process(c, "m3");

  BOOST_TEST(c.endings(0) + ", " + c.endings(2) == "1 joiners, 1 joiners");
  BOOST_TEST(c.code(waits) == "waits");
  c.barrier({1, 1}, "b");
  c.barrier({2, 2}, "b");
  BOOST_TEST(c.code(waits) == "OK");
  auto const first = c.next_epoch(0);
  auto const second = c.next_epoch(1);
  BOOST_TEST(c.code(first, joiner) == "waits waits");
  auto const third = c.next_epoch(2);
  BOOST_TEST(c.epoch(first) == "2: 0 of 4 +1");
  BOOST_TEST(c.epoch(second) == "2: 1 of 4 +1");
  BOOST_TEST(c.epoch(third) == "2: 2 of 4 +1");
  BOOST_TEST(c.epoch(joiner) == "2: 3 of 4 +1");
  BOOST_TEST(members(c) == "m0 m1 m2 m3+ ");
}

BOOST_AUTO_TEST_CASE(a_loss_ends_all_calls_and_the_survivors_go_on) {
  elastic_job job{3, 3, elastic(1)};
  auto& c = job.c;
  auto const at_barrier = c.barrier({0, 0}, "b", 600s);
  auto const gets = c.send({0, 0}, core::get_args{"k", 600s}, 600s);

  c.task_ended(1, {errc::aborted, "signal 9"});

  BOOST_TEST(c.code(at_barrier, gets) == "ABORTED ABORTED");
  expect_words(c.text(gets), {"epoch 1 is over", "task 1", "signal 9", "call next_epoch"});
  BOOST_TEST(c.endings(0) == "1 lost");
  BOOST_TEST(c.error() == "none");
  auto const later = c.barrier({2, 2}, "b");
  BOOST_TEST(c.code(later) == "ABORTED");
  auto const first = c.next_epoch(2);
  BOOST_TEST(c.code(first) == "waits");
  auto const second = c.next_epoch(0);
  BOOST_TEST(c.epoch(first) == "2: 1 of 2 -1");
  BOOST_TEST(c.epoch(second) == "2: 0 of 2 -1");
  BOOST_TEST(members(c) == "m0 m2 ");
  // Names of barriers begin at round 1.
  auto const again = c.barrier({0, 0}, "b");
  c.barrier({2, 1}, "b");
  BOOST_TEST(c.body<core::barrier_answer>(again)->round.value == 1u);
}

BOOST_AUTO_TEST_CASE(the_lowest_survivor_becomes_task_0_and_keys_and_locks_move_along) {
  elastic_job job{3, 3, elastic(1)};
  auto& c = job.c;
  c.send({2, 2}, core::put_args{"addr", "two", false, true});
  c.send({1, 1}, core::put_args{"addr1", "one", false, true});
  auto const locked = c.send({2, 2}, core::lock_args{"l"});
  BOOST_TEST(c.code(locked) == "OK");
  c.task_ended(0, {errc::aborted, "signal 9"});
  c.next_epoch(1);
  auto const moved = c.next_epoch(2);
  BOOST_TEST(c.epoch(moved) == "2: 1 of 2 -1");
  auto const get = [&](std::string key) { return c.code(c.send(1, core::try_get_args{key})); };
  BOOST_TEST(get("addr") + " " + get("addr1") == "OK OK");
  BOOST_TEST(c.look().locks_held == 1u);

  c.task_ended(1, {errc::aborted, "signal 9"});  // it was task 2

  BOOST_TEST(c.epoch(c.next_epoch(1)) == "3: 0 of 1 -1");
  BOOST_TEST(get("addr") + " " + get("addr1") == "NOT_FOUND OK");
}

BOOST_AUTO_TEST_CASE(below_the_minimum_the_job_fails_after_min_wait_and_names_the_lost_in_order) {
  elastic_job job{3, 3, elastic(2)};
  auto& c = job.c;
  c.at(10s).task_ended(2, {errc::aborted, "signal 9"});
  c.task_ended(0, {errc::aborted, "signal 11"});
  auto const waits = c.next_epoch(1, false, without_limit);

  BOOST_TEST(c.at(15s - 1ns).code(waits) == "waits");
  BOOST_TEST(c.at(15s).code(waits) == "ABORTED");

  expect_words(c.error(), {"fewer than 2 tasks", "5 s", "1 of the 3 of epoch 1"});
  std::string const text = c.error();
  BOOST_TEST(text.find("signal 9") < text.find("signal 11"));
}

BOOST_AUTO_TEST_CASE(when_too_few_are_left_those_that_may_not_join_yet_are_named_with_the_reason) {
  core::config options;
  options.grow = core::growth::never;
  elastic_job job{2, 2, elastic(2, options)};
  auto& c = job.c;
  c.at(10s).task_ended(1, {errc::aborted, "signal 9"});
  new_process(c, "m7");
  auto const expires = c.next_epoch(0, false, 3s);
  expect_words(c.at(13s).text(expires), {"members left: 1, min_tasks: 2", "join: m7 (nobody may"});

  expect_words(c.at(15s).error(), {"fewer than 2 tasks",
                                   "processes waiting to join: m7 (nobody may join after the "
                                   "first epoch: grow is never)"});
}

// Whether it asks to leave or its process ends without an error.
BOOST_AUTO_TEST_CASE(a_member_that_leaves_alone_aborts_the_calls_that_need_it) {
  for (bool const asks : {true, false}) {
    elastic_job job{3, 3, elastic(2)};
    auto& c = job.c;
    auto const send = [&](int who, core::request what) {
      return c.send(who, std::move(what), without_limit);
    };
    std::vector<call> const waiting{
        send(0, core::barrier_args{.name = "b"}),
        send(0, core::barrier_args{.name = "g", .gather = true, .data = "1"}),
        send(0,
             core::barrier_args{
                 .name = "r", .data = std::string(8, '\1'), .reduce = core::reduction::sum_int64}),
        send(0, core::barrier_args{.name = "f", .fail_when_lost = true}),
        send(0, core::alive_args{}),
        send(0, core::exchange_topology_args{"cpu", {}}),
        send(0, core::get_args{"never"}),
        send(1, core::barrier_args{.name = "two", .participants = {task_id{0}, task_id{1}}}),
        send(1, core::leave_args{})};

    if (asks) {
      BOOST_TEST(c.code(c.send(2, core::leave_args{.timeout = 0s}, 0s)) == "OK");
    } else {
      c.task_ended(2, {});
    }

    for (call const waiter : waiting) {
      BOOST_TEST(c.code(waiter) == "ABORTED", waiter.id.value);
      expect_words(c.text(waiter), {"epoch 1 is over", "has left; call next_epoch"});
    }
    auto const late = send(0, core::barrier_args{.name = "late"});
    BOOST_TEST(c.code(late) == "ABORTED");
    auto const zero = c.next_epoch(0);
    auto const one = c.next_epoch(1);
    c.pass(10s);
    BOOST_TEST(c.epoch(zero) == "2: 0 of 2 -1");
    BOOST_TEST(c.epoch(one) == "2: 1 of 2 -1");
  }
}

BOOST_AUTO_TEST_CASE(a_blink_of_a_member_begins_no_wait_anew) {
  {
    elastic_job job{2, 3, elastic(1, {.reconnect_grace = 60s})};
    auto& c = job.c;
    c.at(10s).lose(static_cast<int>(new_process(c).client));
    auto const waits = c.next_epoch(0);
    c.next_epoch(1);
    c.at(11s).blink(1);
    BOOST_TEST(c.at(12s - 1ns).code(waits) == "waits");
    BOOST_TEST(c.at(12s).epoch(waits) == "2: 0 of 2");
  }
  elastic_job job{2, 2, elastic(2)};
  auto& c = job.c;
  c.at(10s).task_ended(1, {errc::aborted, "signal 9"});
  auto const waits = c.next_epoch(0, false, without_limit);
  c.at(11s).blink(0);
  BOOST_TEST(c.at(15s - 1ns).code(waits) == "waits");
  BOOST_TEST(c.at(15s).code(waits) == "ABORTED");
}

BOOST_AUTO_TEST_CASE(a_blink_of_a_joiner_does_not_begin_the_last_call_anew) {
  auto c = cluster::without_clients(4, elastic(2));
  auto const first = new_process(c);
  auto const gone = new_process(c.at(1s));
  c.at(2s).blink(static_cast<int>(gone.client)).lose(static_cast<int>(gone.client));
  BOOST_TEST(c.at(3s).code(first) == "waits");
  auto const second = new_process(c.at(10s));
  BOOST_TEST(c.at(12s - 1ns).code(first) == "waits");
  BOOST_TEST(c.at(12s).epoch(first) == "1: 0 of 2 +2");
  BOOST_TEST(c.epoch(second) == "1: 1 of 2 +2");

  auto other = cluster::without_clients(4, elastic(2));
  auto const blinks = new_process(other);
  new_process(other);
  other.at(1s).lose(static_cast<int>(blinks.client));
  other.send(other.observer(), core::resize_args{4});  // looks at those that are there
  other.resume(static_cast<int>(blinks.client));
  BOOST_TEST(other.at(2s).epoch(blinks) == "1: 0 of 2 +2");
}

BOOST_AUTO_TEST_CASE(members_that_call_again_open_another_last_call) {
  elastic_job job{2, 3, elastic(1, {.reconnect_grace = 60s})};
  auto& c = job.c;
  c.at(10s).lose(static_cast<int>(new_process(c).client));
  auto const waits = c.next_epoch(0);
  c.next_epoch(1, false, 1s);
  c.at(13s).next_epoch(1);
  BOOST_TEST(c.at(15s - 1ns).code(waits) == "waits");
  BOOST_TEST(c.at(15s).epoch(waits) == "2: 0 of 2");
}

BOOST_AUTO_TEST_CASE(a_member_that_dies_while_next_epoch_waits_is_not_counted) {
  elastic_job job{3, 3, elastic(1)};
  auto& c = job.c;
  auto const gone = c.next_epoch(1);
  auto const waits = c.next_epoch(0);
  c.lose(1).pass(2s);
  BOOST_TEST(c.code(waits) == "waits");
  auto const last = c.next_epoch(2);
  BOOST_TEST(c.epoch(waits) == "2: 0 of 2 -1");
  BOOST_TEST(c.epoch(last) == "2: 1 of 2 -1");
  (void)gone;
}

BOOST_AUTO_TEST_CASE(a_joiner_that_dies_before_it_hears_ends_its_epoch_by_its_loss) {
  elastic_job job{1, 2, elastic(1)};
  auto& c = job.c;
  auto const joiner = new_process(c);
  int const who = static_cast<int>(joiner.client);
  c[who].deaf = true;
  auto const first = c.next_epoch(0);
  BOOST_TEST(c.epoch(first) == "2: 0 of 2 +1");
  c.endings(0);
  c.lose(who).pass(2s);
  BOOST_TEST(c.endings(0) == "2 lost");
  BOOST_TEST(c.epoch(c.next_epoch(0)) == "3: 0 of 1 -1");
}

BOOST_AUTO_TEST_CASE(a_member_that_never_calls_is_left_behind) {
  elastic_job job{3, 3, elastic(1)};
  auto& c = job.c;
  auto const waits = c.next_epoch(0, false, without_limit);
  auto const other = c.next_epoch(2, false, without_limit);
  BOOST_TEST(c.at(6s - 1ns).code(waits, other) == "waits waits");

  c.at(6s);

  BOOST_TEST(c.epoch(waits) == "2: 0 of 2 -1");
  BOOST_TEST(c.epoch(other) == "2: 1 of 2 -1");
  auto const late = c.next_epoch(1);
  BOOST_TEST(c.code(late) == "ABORTED");
  expect_words(c.text(late), {"no member of epoch 2", "join again"});
  auto const put = c.send(1, core::put_args{"k", "v"});
  BOOST_TEST(c.code(put) == "ABORTED");
  auto const again = c.enrol(1, "m1");
  BOOST_TEST(c.code(again) == "waits");
  c.next_epoch(0);
  c.next_epoch(2);
  BOOST_TEST(c.epoch(again) == "3: 2 of 3 +1");
}

BOOST_AUTO_TEST_CASE(a_member_that_has_failed_is_asked_to_join_again) {
  elastic_job job{2, 2, elastic(1)};
  auto& c = job.c;
  std::string const secret = "0123456789abcdef";
  c.send({1, 1}, core::grant_args{secret});
  int const guest = c.hello({.label = "child", .acts_for = core::guest_args{task_id{1}, secret}});

  c.task_ended(1, {errc::aborted, "signal 9"});

  expect_words(c.text(c.reset({1, 1}, 501)), {"no reset", "join again"});
  expect_words(c.text(c.barrier({1, 1}, "b")), {"task 1", "signal 9", "join again"});
  expect_words(c.text(c.reset({guest, 1}, 501)), {"no reset", "start its task again"});
  expect_words(c.text(c.join({guest, 1}, 501)), {"no member", "start its task again"});
  BOOST_TEST(c.code(c.enrol(1, "m1")) == "waits");
}

BOOST_AUTO_TEST_CASE(requests_of_another_epoch_are_aborted_and_those_without_act_for_no_task) {
  elastic_job job{2, 2, elastic(1)};
  auto& c = job.c;
  c.next_epoch(0);
  c.next_epoch(1);
  c[0].epoch = 1;
  auto const old = c.send(0, core::put_args{"k", "v"});
  BOOST_TEST(c.code(old) == "ABORTED");
  expect_words(c.text(old), {"epoch 1 is over", "epoch 2 has begun"});
  auto const again = c.next_epoch(0);
  BOOST_TEST(c.epoch(again) == "2: 0 of 2");
  c[0].epoch = 0;
  BOOST_TEST(c.code(c.send(0, core::put_args{"k", "v"})) == "OK");
  BOOST_TEST(c.code(c.send(0, core::barrier_args{"b"})) == "FAILED_PRECONDITION");
}

BOOST_AUTO_TEST_CASE(calls_that_need_a_member_which_waits_for_the_next_epoch_are_aborted) {
  elastic_job job{3, 3, elastic(1)};
  auto& c = job.c;
  auto const needs = c.barrier({1, 1}, "b");
  auto const without = c.barrier({1, 1}, "c", 300s, {.among = {1, 2}});
  auto const leaves = c.send({2, 2}, core::leave_args{}, 300s);

  c.next_epoch(0);

  BOOST_TEST(c.code(needs, leaves) == "ABORTED ABORTED");
  expect_words(c.text(needs), {"task 0", "waits for epoch 2", "call next_epoch"});
  BOOST_TEST(c.code(without) == "waits");
  BOOST_TEST(c.code(c.barrier({2, 2}, "d")) == "ABORTED");
  BOOST_TEST(c.code(c.barrier({2, 2}, "c", 300s, {.among = {1, 2}}), without) == "OK OK");
  BOOST_TEST(c.code(c.send({2, 2}, core::get_args{"k", 1s}, 1s)) == "waits");
}

BOOST_AUTO_TEST_CASE(guests_act_for_their_member_although_its_number_changes) {
  elastic_job job{3, 3, elastic(1)};
  auto& c = job.c;
  std::string const secret = "0123456789abcdef";
  c.send({2, 2}, core::grant_args{secret});
  auto const guest_of = [&](std::uint32_t task, std::string with) {
    return c.hello({.label = "child", .acts_for = core::guest_args{task_id{task}, with}});
  };
  int const early = guest_of(2, secret);
  c.task_ended(0, {errc::aborted, "signal 9"});
  c.next_epoch(1);
  BOOST_TEST(c.epoch(c.next_epoch(early)) == "2: 1 of 2 -1");
  BOOST_TEST(c[2].epoch == 2u);

  int const late = guest_of(2, secret);

  auto const named = c.barrier({late, 2}, "a");
  auto const unnamed = c.barrier(early, "b");
  c.barrier({1, 0}, "a");
  c.barrier({1, 0}, "b");
  BOOST_TEST(c.code(named, unnamed) == "OK OK");
  BOOST_TEST(!c[guest_of(2, "0123456789abcdeX")].hello);
  c.send(c.observer(), core::resize_args{1});
  c.next_epoch(1);
  BOOST_TEST(c.code(c.next_epoch(late)) == "CANCELLED");
  auto const pushes = c.pushed<core::epoch_answer>(2);
  BOOST_TEST_REQUIRE(!pushes.empty());
  BOOST_TEST(pushes.back().size == 0u);
}

BOOST_AUTO_TEST_CASE(guests_learn_that_the_epoch_of_their_member_ends) {
  elastic_job job{2, 2, elastic(1)};
  auto& c = job.c;
  std::string const secret = "0123456789abcdef";
  c.send({1, 1}, core::grant_args{secret});
  int const guest = c.hello({.label = "child", .acts_for = core::guest_args{task_id{1}, secret}});
  c.next_epoch(0);
  BOOST_TEST(c.endings(guest) == "1 asked");
  BOOST_TEST(c.blink(guest).endings(guest) == "1 asked");
  c.task_ended(0, {errc::aborted, "signal 9"});
  BOOST_TEST(c.endings(guest) == "1 lost");
}

BOOST_AUTO_TEST_CASE(a_preempted_member_is_replaced_by_a_spare_at_the_boundary) {
  elastic_job job{2, 2, elastic(1, {.spares = 1})};
  auto& c = job.c;
  c.send(0, core::preempt_args{task_id{1}, 3600s});
  BOOST_TEST(c.endings(0) == "");
  auto const spare = new_process(c);
  BOOST_TEST(c.endings(0) == "1 asked");
  auto const first = c.next_epoch(0);
  auto const second = c.next_epoch(1);
  BOOST_TEST(c.epoch(first) == "2: 0 of 2 -1 +1");
  BOOST_TEST(c.epoch(spare) == "2: 1 of 2 -1 +1");
  BOOST_TEST(c.code(second) == "CANCELLED");
}

BOOST_AUTO_TEST_CASE(an_agreement_begins_once_the_members_know_their_epoch) {
  elastic_job job{2, 2, elastic(1)};
  auto& c = job.c;
  std::string const secret = "0123456789abcdef";
  c.send({1, 1}, core::grant_args{secret});
  int const guest = c.hello({.label = "child", .acts_for = core::guest_args{task_id{1}, secret}});
  c.send(0, core::preempt_args{task_id{1}});
  c.next_epoch(0);
  c[1].pushes.clear();

  c.next_epoch(guest);
  std::string kinds;
  for (auto const& one : c[1].pushes) {
    if (std::holds_alternative<core::epoch_answer>(one->value)) kinds += "epoch ";
    if (std::holds_alternative<core::freeze_request>(one->value)) kinds += "freeze ";
  }
  BOOST_TEST(kinds == "epoch freeze ");
}

BOOST_AUTO_TEST_CASE(a_loss_ends_leaves_and_a_leave_alone_shrinks) {
  elastic_job job{3, 3, elastic(1)};
  auto& c = job.c;
  auto const leaves = c.send({0, 0}, core::leave_args{}, 300s);
  auto const alone = c.send({1, 1}, core::leave_args{0s}, 0s);
  BOOST_TEST(c.code(alone, leaves) == "OK ABORTED");
  BOOST_TEST(c.code(c.send({0, 0}, core::leave_args{}, 300s)) == "ABORTED");
  c.next_epoch(2);
  BOOST_TEST(c.epoch(c.next_epoch(0)) == "2: 0 of 2 -1");
}

BOOST_AUTO_TEST_CASE(keys_of_an_epoch_vanish_when_the_one_after_the_next_begins) {
  elastic_job job{1, 1, elastic(1)};
  auto& c = job.c;
  for (auto const* const key : {"epoch/1/a", "epoch/1/b/c", "epoch/2/a", "epoch/10", "other"}) {
    c.send(0, core::put_args{key, "v"});
  }
  c.next_epoch(0);
  BOOST_TEST(c.look().keys == 5u);
  c.next_epoch(0);
  BOOST_TEST(c.look().keys == 3u);
  c.next_epoch(0);
  BOOST_TEST(c.look().keys == 2u);
}

BOOST_AUTO_TEST_CASE(a_host_that_loses_members_waits_before_it_is_admitted) {
  elastic_job job{1, 2, elastic(1)};
  auto& c = job.c;
  auto const lose_one = [&] {
    auto const joiner = c.enrol(c.observer("b:9"), "x", {"rack", "bad"});
    c.next_epoch(0, false, without_limit);
    BOOST_TEST_REQUIRE(c.body<core::join_answer>(joiner));
    c.task_ended(1, {errc::aborted, "signal 9"});
    c.next_epoch(0, false, without_limit);
  };
  for (int i = 0; i < 3; ++i) lose_one();
  auto const begun = c.now();
  auto const late = c.enrol(c.observer("b:9"), "x", {"rack", "bad"});
  auto const good = c.look().elastic->epoch;
  c.endings(0);
  BOOST_TEST(c.at(begun + 10s - 1ns).endings(0) == "");
  BOOST_TEST(c.at(begun + 10s).endings(0) == std::to_string(good) + " joiners");
  BOOST_TEST(c.code(late) == "waits");
}

BOOST_AUTO_TEST_CASE(an_item_is_kept_from_epoch_to_epoch_and_returns_when_its_member_leaves) {
  elastic_job job{3, 3, elastic(1)};
  auto& c = job.c;
  c.push(0, "q", "a");
  c.push(0, "q", "b");
  auto const kept = c.take(0, "q", without_limit);
  c.take(1, "q", without_limit);
  auto const waits = c.take(c.observer(), "q", without_limit);
  BOOST_TEST(c.code(waits) == "waits");

  c.leave(1, 0s);
  c.bye(1);
  BOOST_TEST(c.value(waits) == "b");
  c.next_epoch(0);
  BOOST_TEST(c.epoch(c.next_epoch(2)) == "2: 1 of 2 -1");
  BOOST_TEST(c.code(c.update_lease(0, kept, core::lease_change::finish)) == "OK");
  c.update_lease(c.size() - 1, waits, core::lease_change::finish);
}

BOOST_AUTO_TEST_CASE(nobody_new_is_taken_if_a_member_or_the_job_says_so) {
  {
    elastic_job job{2, 3, elastic(1)};
    auto& c = job.c;
    auto const joiner = new_process(c);
    c.next_epoch(0, true);
    auto const second = c.next_epoch(1);
    BOOST_TEST(c.epoch(second) == "2: 1 of 2");
    BOOST_TEST(c.code(joiner) == "waits");
  }
  elastic_job job{2, 3, elastic(1, {.grow = core::growth::never})};
  auto& c = job.c;
  auto const joiner = new_process(c);
  BOOST_TEST(c.endings(0) == "");
  c.next_epoch(0);
  c.next_epoch(1);
  BOOST_TEST(c.code(joiner) == "waits");
}

BOOST_AUTO_TEST_CASE(a_join_that_claimed_a_member_keeps_its_deadline) {
  elastic_job job{2, 2, elastic(1)};
  auto& c = job.c;
  c[1].beats = false;
  core::join_args args{incarnation{555}, 3s};
  args.any = true;
  args.member = "m1";
  auto const rival = c.send(c.observer(), std::move(args), 3s);
  c.pass(2s);
  BOOST_TEST(c.state_of(1) == "failed");
  BOOST_TEST(c.pass(1s - 1ns).code(rival) == "waits");
  BOOST_TEST(c.pass(1ns).code(rival) == "DEADLINE_EXCEEDED");
}

BOOST_AUTO_TEST_CASE(a_restart_keeps_members_joiners_and_who_has_called_and_credits_the_last_call) {
  elastic_job job{3, 5, elastic(1, {.reconnect_grace = 60s, .restart_grace = 15s})};
  auto& c = job.c;
  auto const joiner = new_process(c.at(10s), "m3");
  c.lose(static_cast<int>(new_process(c, "m4").client));
  c.task_ended(2, {errc::aborted, "signal 9"});
  auto const first = c.next_epoch(0);
  auto const second = c.next_epoch(1);
  c.at(11s);

  for (int i = 0; i < c.size(); ++i) c[i].connection = {};
  c.sleep_without_advance(60s);
  BOOST_TEST(c.logic().put_in(t0 + c.now(), core::restarted{60s}).ok());
  c.at(71500ms).resume(0).resume(1).resume(static_cast<int>(joiner.client));

  BOOST_TEST(c.at(72s - 1ns).code(first, second, joiner) == "waits waits waits");
  BOOST_TEST(c.at(72s).epoch(first) == "2: 0 of 3 -1 +1");
  BOOST_TEST(c.epoch(second) == "2: 1 of 3 -1 +1");
  BOOST_TEST(c.epoch(joiner) == "2: 2 of 3 -1 +1");
}

BOOST_AUTO_TEST_CASE(other_jobs_have_no_epochs_and_elastic_ones_assign_numbers) {
  cluster c{1};
  BOOST_TEST(c.code(c.next_epoch(0)) == "FAILED_PRECONDITION");
  BOOST_TEST(c.code(c.send(0, core::resize_args{1})) == "FAILED_PRECONDITION");
  BOOST_TEST(members(c) == "FAILED_PRECONDITION");
  auto other = cluster::without_clients(2, elastic(1));
  BOOST_TEST(other.code(other.join({other.observer(), 0}, 7)) == "FAILED_PRECONDITION");
}

BOOST_AUTO_TEST_CASE(the_list_of_members_has_pages) {
  core::config options;
  options.page_entries_max = 2;
  elastic_job j{5, 5, elastic(1, options)};
  auto const before = j.c.logic().counts().steps;

  BOOST_TEST(members_from(j.c, 0) == "1: m0 m1 next 2");
  BOOST_TEST(j.c.logic().counts().steps - before == 2u);
  BOOST_TEST(members_from(j.c, 2) == "1: m2 m3 next 4");
  BOOST_TEST(members_from(j.c, 4) == "1: m4");
  // Of an epoch with more members there could be more.
  BOOST_TEST(members_from(j.c, 5) == "1:");
  BOOST_TEST(members_from(j.c, UINT32_MAX) == "1:");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
