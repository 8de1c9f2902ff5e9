// What the rules tolerate, and where that ends. Not here: what a planted bug shows
// (simulation --bug=NAME).

#include "tests/sim/everything/rules/rules.hpp"
#include "tests/sim/everything/scene.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace coxswain::sim {
namespace {

core::answer failed(errc code, std::string text = "why") {
  return {status{code, std::move(text)}, {}};
}

template <class Value>
core::answer gives(Value value) {
  return {{}, std::move(value)};
}

void expect_right(violations const& found) {
  for (std::string const& one : found) BOOST_ERROR(one);
}

void expect_wrong(violations const& found, std::string_view why) {
  BOOST_TEST_REQUIRE(!found.empty());
  BOOST_TEST(found.front().find(why) != std::string::npos, found.front());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rules_of_completion)

BOOST_AUTO_TEST_CASE(a_deadline_may_be_late_during_a_fault) {
  scene s{1};
  s.call(1, core::pop_args{"q"}, 1s, 12s, failed(errc::deadline_exceeded));
  s.h.processes[1].troubles.push_back({scene::at(5s), scene::at(6s)});

  expect_right(s.judged_by(check_completion));
}

BOOST_AUTO_TEST_CASE(a_deadline_may_be_late_behind_a_relay_without_room) {
  scene s{1};
  s.h.delay_max = 100ms;
  s.call(1, core::pop_args{"q"}, 1s, 11300ms, failed(errc::deadline_exceeded));
  expect_wrong(s.judged_by(check_completion), "too late");

  s.h.processes[1].has_relay = true;
  expect_right(s.judged_by(check_completion));
}

BOOST_AUTO_TEST_CASE(where_queues_are_short_replies_may_wait_for_the_disk_one_by_one) {
  scene s{1};
  s.h.limits_are_small = true;
  s.call(1, core::pop_args{"q"}, 1s, 11020ms, failed(errc::deadline_exceeded));
  expect_wrong(s.judged_by(check_completion), "too late");

  s.h.seen_within = 120ms;
  expect_right(s.judged_by(check_completion));
}

BOOST_AUTO_TEST_CASE(an_outcome_must_be_allowed_for_its_call) {
  scene s{1};
  s.call(1, core::get_args{"k"}, 1s, 1s, failed(errc::not_found));

  expect_wrong(s.judged_by(check_completion), "may not be answered so");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(rules_of_rounds)

BOOST_AUTO_TEST_CASE(with_a_disk_a_restart_may_undo_what_nothing_followed_from) {
  scene s{3};
  core::barrier_answer const a{round_number{1}, {}};
  s.call(1, core::count_barrier_args{"c", 2}, 3s, 4s, gives(a));
  call_record& c = s.call(2, core::count_barrier_args{"c", 2}, 1s, 2s);
  c.cancelled = std::exchange(c.answered, std::nullopt);
  s.h.restarts = {{scene::at(2500ms), scene::at(2700ms)}};
  expect_wrong(s.judged_by(check_count_barriers), "too few");

  s.h.seen_within = 40ms;
  expect_right(s.judged_by(check_count_barriers));
  s.call(3, core::get_args{"a"}, 2100ms, 2200ms);
  expect_wrong(s.judged_by(check_count_barriers), "too few");
}

BOOST_AUTO_TEST_CASE(join_and_leave_must_wait_for_all) {
  scene s{2};
  s.call(1, core::join_args{}, 1s, 2s, gives(core::join_answer{}));
  expect_wrong(s.judged_by(check_meetings), "has not asked to join");
  s.call(2, core::join_args{}, 2s, 2s, gives(core::join_answer{}));
  expect_right(s.judged_by(check_meetings));

  s.call(1, core::leave_args{}, 3s, 4s);
  expect_wrong(s.judged_by(check_meetings), "has not asked to leave");
  s.event(4s, core::event_kind::failed, task_id{1});
  expect_right(s.judged_by(check_meetings));
}

BOOST_AUTO_TEST_CASE(a_spare_may_have_joined_without_knowing_its_number) {
  scene s{2};
  core::join_args spare;
  spare.any = true;
  s.call(1, core::join_args{}, 1s, 2s, gives(core::join_answer{}));
  call_record& c = s.call(2, spare, 1s, 2s);
  c.task.reset();
  c.answered.reset();
  expect_wrong(s.judged_by(check_meetings), "task 1 has not asked to join");
  s.tasks(2s, task_state::connected);
  expect_right(s.judged_by(check_meetings));
}

BOOST_AUTO_TEST_CASE(recoverable_or_returning_tasks_leave_without_waiting) {
  for (bool const returning : {true, false}) {
    scene s{2};
    s.h.all_are_recoverable = !returning;
    s.call(1, core::leave_args{300s, returning}, 3s, 3s);
    expect_right(s.judged_by(check_meetings));

    s.call(1, core::leave_args{300s, returning}, 3s, 4s);
    expect_wrong(s.judged_by(check_meetings), "it must not wait for a task");
  }
}

BOOST_AUTO_TEST_CASE(a_leave_to_return_does_not_count_at_the_shutdown_barrier) {
  scene s{2};
  s.call(2, core::leave_args{300s, true}, 3s, 3s);
  s.call(1, core::leave_args{}, 3s, 4s);
  expect_wrong(s.judged_by(check_meetings), "task 1 has not asked to leave");
}

BOOST_AUTO_TEST_CASE(a_clean_exit_fails_rounds_only_as_allowed) {
  core::barrier_args minds{.name = "b", .fail_when_lost = true};
  scene s{2};
  s.call(1, minds, 1s, 2s, failed(errc::internal, "task 1 has left and is expected back"));
  s.call(1, core::barrier_args{}, 1s, 2s, failed(errc::failed_precondition, "task 1 has finished"));
  expect_right(s.judged_by(check_rounds));

  scene t{2};
  t.call(1, core::barrier_args{}, 1s, 2s,
         failed(errc::internal, "task 1 has left and is expected back"));
  expect_wrong(t.judged_by(check_rounds), "does not wait for the return");

  // Only a caller that may have been in the round explains it.
  core::answer lost = failed(errc::internal, "task 1 has left and is expected back");
  lost.value = barrier_failure{.round = round_number{1}};
  t.h.calls.clear();
  t.call(2, minds, 1s, 4s, failed(errc::deadline_exceeded));
  t.call(1, core::barrier_args{.name = "b"}, 2s, 3s, lost);
  expect_right(t.judged_by(check_rounds));
  t.h.calls.front().made = scene::at(3500ms);
  expect_wrong(t.judged_by(check_rounds), "does not wait for the return");
  t.h.calls.front().made = scene::at(1s);
  t.h.calls.front().got.value = barrier_failure{.round = round_number{2}};
  expect_wrong(t.judged_by(check_rounds), "does not wait for the return");

  scene u{2};
  u.call(1, core::barrier_args{}, 1s, 2s, failed(errc::internal, "task 1 has finished"));
  expect_wrong(u.judged_by(check_rounds), "makes another failure");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(rules_of_keys)

// Processes 1 and 2 are of one task.
struct scene_of_two_processes : scene {
  scene_of_two_processes() : scene{2} {
    h.processes[1].recoverable = h.processes[2].recoverable = true;
    h.processes[2].tasks = h.processes[1].tasks;
    key(1s, "k", "1");
    by(1, core::put_args{"k", "1"}, 1s, gives(core::stored_answer{1}));
  }
  void by(std::size_t process, core::put_args put, duration at, core::answer got) {
    call(process, std::move(put), at, at, std::move(got)).task = task_id{0};
  }
};

BOOST_FIXTURE_TEST_CASE(the_next_process_may_put_the_same, scene_of_two_processes) {
  by(2, core::put_args{"k", "1"}, 2s, gives(core::stored_answer{1}));
  expect_right(judged_by(check_keys));

  by(1, core::put_args{"k", "2"}, 3s, gives(core::stored_answer{1}));
  expect_wrong(judged_by(check_keys), "another value was stored");
}

BOOST_FIXTURE_TEST_CASE(the_next_process_may_replace_it_on_demand, scene_of_two_processes) {
  key(2s, "k", "2");
  by(2, core::put_args{"k", "2", false, false, true}, 2s, gives(core::stored_answer{2}));
  expect_right(judged_by(check_keys));

  h.calls.back().task = task_id{1};
  expect_wrong(judged_by(check_keys), "it has overwritten");
}

BOOST_FIXTURE_TEST_CASE(a_refused_next_process_is_found, scene_of_two_processes) {
  core::answer const refused{{errc::already_exists, "key k already exists"}, {}};
  by(2, core::put_args{"k", "2"}, 2s, refused);
  by(1, core::put_args{"k", "1"}, 2s, refused);
  expect_right(judged_by(check_keys));

  h.calls.pop_back();
  h.calls.back().asked = core::put_args{"k", "1"};
  expect_wrong(judged_by(check_keys), "its predecessor has put it");
}

BOOST_AUTO_TEST_CASE(a_skipped_version_is_found) {
  scene s{1};
  s.key(1s, "k", std::nullopt);
  s.h.keys.front().what.version = 2;

  expect_wrong(s.judged_by(check_keys), "was reported as 2");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(rules_of_watches)

BOOST_AUTO_TEST_CASE(a_watch_must_not_return_empty_before_its_deadline) {
  scene s{1};
  s.call(1, core::watch_keys_args{"d", 0}, 3s, 4s, gives(core::key_changes_answer{{}, 0}));

  expect_wrong(s.judged_by(check_watches), "before its time");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(rules_of_locks)

BOOST_AUTO_TEST_CASE(locks_must_be_granted_in_order) {
  scene s{2};
  s.call(1, core::lock_args{"l"}, 1s, 9s, gives(core::stored_answer{2}));
  s.call(2, core::lock_args{"l"}, 5s, 8s, gives(core::stored_answer{1}));
  s.call(2, core::unlock_args{"l", 1}, 8500ms, 8500ms);
  expect_wrong(s.judged_by(check_locks), "before an older call");

  s.h.calls[0].made = scene::at(6s);
  expect_right(s.judged_by(check_locks));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(rules_of_queues)

BOOST_AUTO_TEST_CASE(items_must_be_delivered_in_order) {
  scene s{1};
  s.call(1, core::push_args{"q", "1"}, 1s, 1s);
  s.call(1, core::push_args{"q", "2"}, 2s, 2s);
  s.call(1, core::pop_args{"q"}, 3s, 3s, gives(core::value_answer{bytes{"2"}, 2}));
  s.call(1, core::pop_args{"q"}, 4s, 4s, gives(core::value_answer{bytes{"1"}, 1}));
  expect_wrong(s.judged_by(check_queues), "out of order");

  std::get<core::value_answer>(s.h.calls[2].got.value).version = 1;
  std::get<core::value_answer>(s.h.calls[3].got.value).version = 2;
  expect_wrong(s.judged_by(check_queues), "order of the pushes");

  // The time of a change without a delivered reply is unknown.
  s.h.calls[0].got.outcome = {errc::cancelled, "the client was destroyed"};
  expect_right(s.judged_by(check_queues));
}

// A take of item 1, whose value is "1", under a lease of 10 s.
core::request take() { return core::take_args{"q", 10s, 10s}; }
core::answer taken(std::uint32_t redeliveries, std::string value = "1", std::uint64_t number = 1) {
  return gives(core::value_answer{bytes{std::move(value)}, number, redeliveries});
}
core::request change(core::lease_change what, std::uint32_t redeliveries, duration lease = 10s) {
  return core::update_lease_args{1, redeliveries, what, lease};
}

BOOST_AUTO_TEST_CASE(a_holder_is_not_refused) {
  scene s{1};
  s.call(1, core::push_args{"q", "1"}, 1s, 1s);
  s.call(1, take(), 2s, 2s, taken(0));
  auto const refused = failed(errc::failed_precondition);
  s.call(1, change(core::lease_change::extend, 0), 12s, 12s, refused);
  s.call(1, core::pop_args{"q"}, 13s, 13s, gives(core::value_answer{bytes{"1"}, 1}));
  expect_right(s.judged_by(check_queues));

  s.h.calls[2].made = s.h.calls[2].answered.emplace(scene::at(12s - 1ns));
  expect_wrong(s.judged_by(check_queues), "refused although it is held");
}

BOOST_AUTO_TEST_CASE(an_item_returns_to_its_place) {
  scene s{1};
  s.call(1, core::push_args{"q", "1"}, 1s, 1s);
  s.call(1, core::push_args{"q", "2"}, 1s, 1s);
  s.call(1, take(), 2s, 2s, taken(0));
  s.call(1, core::pop_args{"q"}, 13s, 13s, gives(core::value_answer{bytes{"2"}, 2}));
  s.call(1, core::pop_args{"q"}, 14s, 14s, gives(core::value_answer{bytes{"1"}, 1}));
  expect_wrong(s.judged_by(check_queues), "given out of order");

  s.h.calls[3].made = s.h.calls[3].answered.emplace(scene::at(12s));
  expect_right(s.judged_by(check_queues));

  s.call(1, change(core::lease_change::release, 0), 11s, 12s);
  expect_wrong(s.judged_by(check_queues), "given out of order");

  // Another call may have got it for a while.
  s.call(1, core::pop_args{"q"}, 11s, 11s).answered.reset();
  s.h.calls.back().cancelled = scene::at(12s);
  expect_right(s.judged_by(check_queues));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(rules_of_tasks)

BOOST_AUTO_TEST_CASE(an_alive_query_must_wait_until_all_have_asked_for_the_same) {
  scene s{2};
  s.tasks(1s, task_state::connected);
  core::alive_answer const alive{{{task_id{0}, incarnation{1}}, {task_id{1}, incarnation{2}}}};
  s.call(1, core::alive_args{}, 2s, 3s, gives(alive));
  expect_wrong(s.judged_by(check_tasks), "task 1 did not ask");

  s.call(2, core::alive_args{}, 3s, 3s, gives(alive));
  expect_right(s.judged_by(check_tasks));
  s.h.calls.back().epoch = 1;
  expect_wrong(s.judged_by(check_tasks), "did not ask");
}

BOOST_AUTO_TEST_CASE(a_joined_task_must_be_shown_as_connected) {
  scene s{1};
  s.tasks(1s, task_state::joining);
  s.call(1, core::join_args{}, 2s, 3s, gives(core::join_answer{}));
  expect_wrong(s.judged_by(check_tasks), "not seen so");

  s.tasks(3s, task_state::connected);
  expect_right(s.judged_by(check_tasks));
}

BOOST_AUTO_TEST_CASE(a_returning_task_must_fail_exactly_at_its_deadline) {
  for (auto const& [failed_at, why] : {std::pair{4s, "too early"}, {9s, "for too long"}}) {
    scene s{1};
    s.h.options.return_timeout = 5s;
    s.call(1, core::leave_args{300s, true}, 1s, 1s);
    s.tasks(1s, task_state::returning);
    s.tasks(failed_at, task_state::failed);
    expect_wrong(s.judged_by(check_tasks), why);
  }
  scene s{1};
  s.h.options.return_timeout = 5s;
  s.call(1, core::leave_args{300s, true}, 1s, 1s);
  s.tasks(1s, task_state::left);
  expect_wrong(s.judged_by(check_tasks), "not seen so");
  s.tasks(1s, task_state::returning);
  s.tasks(6s, task_state::failed);
  expect_right(s.judged_by(check_tasks));
}

BOOST_AUTO_TEST_CASE(a_deadline_before_or_during_a_restart_may_be_seen_once_the_auditor_is_back) {
  scene s{1};
  s.h.options.return_timeout = 5s;
  s.h.restarts = s.h.stalls = {interval{scene::at(5900ms), scene::at(8s)}};
  s.h.processes[0].troubles = {{scene::at(5900ms), scene::at(8400ms)}};
  s.call(1, core::leave_args{300s, true}, 1s, 1s);
  s.tasks(1s, task_state::returning);
  s.tasks(8400ms, task_state::failed);
  expect_right(s.judged_by(check_tasks));

  s.h.tasks.back().at = scene::at(8600ms);
  expect_wrong(s.judged_by(check_tasks), "for too long");
}

BOOST_AUTO_TEST_CASE(what_follows_a_long_stall_may_be_seen_once_the_auditor_is_back) {
  scene s{1};
  s.h.stalls = {interval{scene::at(1s), scene::at(3s)}};
  s.tasks(0s, task_state::left);
  s.call(1, core::join_args{}, 1s, 3010ms);
  s.tasks(3050ms, task_state::connected);
  expect_wrong(s.judged_by(check_tasks), "not seen so");

  s.h.processes[0].troubles = {{scene::at(2s), scene::at(3050ms)}};
  expect_right(s.judged_by(check_tasks));
}

BOOST_AUTO_TEST_CASE(what_waits_for_the_disk_may_be_seen_after_a_stall) {
  scene s{1};
  s.h.stalls = {interval{scene::at(1020ms), scene::at(2s)}};
  s.tasks(0s, task_state::connected);
  s.call(1, core::leave_args{}, 1s, 1s + 5ms);
  s.tasks(2s, task_state::left);
  expect_wrong(s.judged_by(check_tasks), "not seen so");

  s.h.seen_within = 40ms;
  expect_right(s.judged_by(check_tasks));
  s.h.tasks.back().at = scene::at(2050ms);
  expect_wrong(s.judged_by(check_tasks), "not seen so");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(rules_of_a_drain)

BOOST_AUTO_TEST_CASE(nobody_may_join_a_job_that_drains_unless_it_asked_before) {
  scene s{2};
  s.call(0, core::end_job_args{core::job_end::drain, ""}, 2s, 2s);
  s.call(2, core::join_args{}, 1s, 3s, gives(core::join_answer{}));
  expect_right(s.judged_by(check_drain));

  s.call(2, core::join_args{}, 4s, 4s, gives(core::join_answer{}));
  expect_right(s.judged_by(check_drain));

  s.call(1, core::join_args{}, 5s, 5s, gives(core::join_answer{}));
  expect_wrong(s.judged_by(check_drain), "joins a job that drains");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(rules_of_preemption)

BOOST_AUTO_TEST_CASE(an_agreement_must_end_with_its_epoch) {
  scene s{2};
  for (auto const i : {1u, 2u}) {
    s.call(i, core::frozen_args{1, 3}, 1s, 1s, gives(core::sync_point{1, 4})).epoch = 1;
  }
  s.h.steps.push_back({1, task_id{0}, 5, scene::at(2s), false, 2});
  expect_right(s.judged_by(check_preemption));

  s.h.steps.back().stops = true;
  expect_wrong(s.judged_by(check_preemption), "stopped for nothing");
  s.h.steps.back().epoch = 1;
  expect_right(s.judged_by(check_preemption));
  s.h.calls.back().epoch = 2;
  expect_wrong(s.judged_by(check_preemption), "for several epochs");
}

BOOST_AUTO_TEST_CASE(an_agreement_must_not_fail_without_a_cause) {
  scene s{1};
  s.h.options.preemption_timeout = 4s;
  s.call(1, core::frozen_args{1, 3}, 1s, 5s, failed(errc::deadline_exceeded));
  expect_wrong(s.judged_by(check_preemption), "no fault explains");

  s.h.processes[1].troubles.push_back({scene::at(2s), scene::at(3s)});
  expect_right(s.judged_by(check_preemption));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(rules_of_guests)

namespace {

// Process 1 is the host, process 2 its guest.
scene with_guest() {
  scene s{1};
  process_record g;
  g.self = s.h.processes[1].self;
  g.tasks = {task_id{0}};
  g.host = 1;
  g.secret = "secret";
  s.h.processes.push_back(g);
  s.call(1, core::grant_args{"secret"}, 1s, 1s);
  return s;
}

call_record& of_guest(call_record& c) {
  c.process = 2;
  c.task = task_id{0};
  return c;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_guest_must_end_with_its_host) {
  scene s = with_guest();
  s.h.processes[1].died = scene::at(2s);
  expect_wrong(s.judged_by(check_guests), "outlives its host");

  s.h.processes[2].ended = scene::at(3s);
  expect_right(s.judged_by(check_guests));
}

BOOST_AUTO_TEST_CASE(an_ended_grant_must_not_be_usable) {
  scene s = with_guest();
  s.call(1, core::grant_args{}, 2s, 2s);
  s.h.processes[2].born = scene::at(3s);
  expect_right(s.judged_by(check_guests));

  of_guest(s.call(1, core::try_get_args{"k"}, 4s, 4s + 1ms));
  expect_wrong(s.judged_by(check_guests), "its grant had ended");
}

BOOST_AUTO_TEST_CASE(a_guest_of_a_replaced_host_must_be_refused) {
  scene s = with_guest();
  s.call(1, core::join_args{s.h.processes[1].self}, 1s, 1s, gives(core::join_answer{}));
  s.h.processes.push_back(s.h.processes[1]);
  s.call(3, core::join_args{incarnation{9}}, 2s, 2s, gives(core::join_answer{})).task = task_id{0};
  of_guest(s.call(1, core::increment_args{"n", 1}, 3s, 3s, failed(errc::aborted)));
  expect_right(s.judged_by(check_guests));

  s.h.calls.back().got = {};
  expect_wrong(s.judged_by(check_guests), "its host was replaced");
}

BOOST_AUTO_TEST_CASE(a_host_that_leaves_to_return_must_override_its_guests) {
  scene s = with_guest();
  of_guest(s.call(1, core::join_args{}, 1s, 1s, gives(core::join_answer{})));
  of_guest(s.call(1, core::leave_args{}, 2s, 2s));
  s.call(1, core::leave_args{300s, true}, 3s, 3s);
  s.tasks(3s, task_state::returning);
  expect_right(s.judged_by(check_guests));

  s.tasks(3s, task_state::left);
  expect_wrong(s.judged_by(check_guests), "its last program stated otherwise");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(rules_of_epochs)

namespace {

void says(scene& s, duration when, std::string line) {
  s.event(when, core::event_kind::joined, std::nullopt);
  s.h.events.back().what.what.text = std::move(line);
}

core::epoch_answer epoch_of(std::uint64_t number, std::uint32_t rank) {
  core::epoch_answer epoch;
  epoch.number = number;
  epoch.size = 2;
  epoch.rank = task_id{rank};
  epoch.joined = number == 1 ? 2 : 0;
  return epoch;
}

call_record& call_in(scene& s, std::uint64_t epoch, std::size_t process, core::request what,
                     duration made, duration answered, core::answer got = {}) {
  call_record& c = s.call(process, std::move(what), made, answered, std::move(got));
  c.epoch = epoch;
  return c;
}

// Processes 1 and 2 are its tasks 0 and 1.
void begin_epoch(scene& s, std::uint64_t number, duration when) {
  says(s, when, "epoch " + std::to_string(number) + " begins: 2 tasks");
  core::epoch_members_answer all;
  all.epoch = number;
  for (std::uint32_t i = 0; i < 2; ++i) {
    core::request what = core::next_epoch_args{};
    if (number == 1) what = core::join_args{};
    call_in(s, number - 1, i + 1, std::move(what), when - 100ms, when, gives(epoch_of(number, i)));
    core::epoch_members_answer::member one;
    one.self = incarnation{i + 1};
    one.survivor = number > 1;
    all.members.push_back(std::move(one));
  }
  s.call(0, core::epoch_members_args{}, when, when, gives(std::move(all)));
}

scene with_epochs(std::uint64_t epochs) {
  scene s{2};
  s.h.options.elastic = true;
  for (std::uint64_t i = 1; i <= epochs; ++i) begin_epoch(s, i, 2s * static_cast<int>(i));
  return s;
}

core::epoch_members_answer& members_of(scene& s, std::size_t epoch) {
  return std::get<core::epoch_members_answer>(s.h.calls[3 * epoch - 1].got.value);
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_epoch_must_wait_for_each_member_that_lives) {
  scene s = with_epochs(2);
  s.h.calls[4].made = scene::at(5s);
  expect_wrong(s.judged_by(check_epochs), "epoch 2 begins without task 1 of the last");

  scene other = with_epochs(1);
  other.event(3s, core::event_kind::failed, task_id{1});
  begin_epoch(other, 2, 4s);
  other.h.calls[4].made = scene::at(5s);
  expect_right(other.judged_by(check_epochs));
}

BOOST_AUTO_TEST_CASE(an_epoch_must_not_wait_for_members_that_are_lost) {
  scene s = with_epochs(2);
  for (std::size_t const i : {3u, 4u}) s.h.calls[i].made = scene::at(3s);
  expect_wrong(s.judged_by(check_epochs), "epoch 2 begins too late");

  says(s, 3900ms, "task 2 failed");
  s.h.events.back().what.what.kind = core::event_kind::failed;
  std::swap(s.h.events.back(), s.h.events[s.h.events.size() - 2]);
  expect_right(s.judged_by(check_epochs));

  s = with_epochs(2);
  for (std::size_t const i : {3u, 4u}) s.h.calls[i].made = scene::at(3s);
  call_in(s, 0, 2, core::join_args{}, 2500ms, 5s);  // which is not calm
  s.h.processes[2].troubles.push_back({{scene::at(2s), scene::at(5s)}});
  expect_right(s.judged_by(check_epochs));
}

BOOST_AUTO_TEST_CASE(a_guest_may_call_for_its_member_and_stops_in_its_epoch) {
  scene s = with_epochs(2);
  process_record& guest = s.h.processes.emplace_back(s.h.processes[2]);
  guest.host = 2;
  guest.secret = "secret";
  s.h.calls[4].process = 3;
  s.h.calls[4].epoch = 0;
  expect_right(s.judged_by(check_epochs));

  call_in(s, 1, 2, core::frozen_args{1, 0}, 2500ms, 2500ms, gives(core::sync_point{1, 4}));
  call_in(s, 2, 3, core::frozen_args{0, 5}, 5s, 5s).task = task_id{0};
  expect_right(s.judged_by(check_guests));
  s.h.calls.back().made = scene::at(3s);
  s.h.calls.back().answered = scene::at(3s);
  expect_wrong(s.judged_by(check_guests), "passed step 4");
}

BOOST_AUTO_TEST_CASE(a_round_must_wait_for_the_members_of_its_epoch) {
  scene s = with_epochs(2);
  for (std::size_t i = 1; i <= 2; ++i) {
    call_in(s, 2, i, core::barrier_args{.name = "b"}, 5s, 6s,
            gives(core::barrier_answer{round_number{1}, {}}));
  }
  expect_right(s.judged_by(check_epochs));

  s.h.calls.back().epoch = 1;
  expect_wrong(s.judged_by(check_epochs), "passed without task 0");
}

BOOST_AUTO_TEST_CASE(a_call_must_not_be_aborted_before_its_epoch_is_over) {
  scene s = with_epochs(1);
  call_in(s, 1, 1, core::get_args{"a"}, 3s, 4s,
          failed(errc::aborted, "epoch 1 is over: task 1 failed; call next_epoch"));
  expect_wrong(s.judged_by(check_epochs), "its epoch is not over");

  says(s, 4s, "epoch 1 is over: task 1 failed");
  expect_right(s.judged_by(check_epochs));
}

namespace {

// Process 2 has failed in epoch 1, and process 3 takes its place in epoch 2. Process 4 waits.
scene with_joiner(int losses = 1) {
  scene s = with_epochs(1);
  for (std::uint32_t i = 1; i <= 4; ++i) {
    if (i > 2) s.h.processes.emplace_back().self = incarnation{i};
    s.h.processes[i].member = "m" + std::to_string(i);
  }
  s.h.processes[2].died = scene::at(2500ms);
  for (int i = 0; i < losses; ++i) s.event(2500ms, core::event_kind::failed, task_id{1});
  begin_epoch(s, 2, 4s);
  s.h.calls[4].asked = core::join_args{};
  s.h.calls[4].made = scene::at(3500ms);
  s.h.calls[4].process = 3;
  members_of(s, 2).members[1].self = incarnation{3};
  members_of(s, 2).members[1].survivor = false;
  for (auto i : {3u, 4u}) std::get<core::epoch_answer>(s.h.calls[i].got.value).joined = 1;
  s.call(4, core::join_args{}, 3600ms, 9s, failed(errc::deadline_exceeded));
  return s;
}

}  // namespace

BOOST_AUTO_TEST_CASE(those_that_asked_first_must_be_admitted_first) {
  scene s = with_joiner();
  expect_right(s.judged_by(check_epochs));
  expect_right(s.judged_by(check_admission));

  s.h.calls.back().made = scene::at(3400ms);
  expect_wrong(s.judged_by(check_admission), "epoch 2 admits process 3 before process 4");

  s.h.processes[3].member = "m2";
  expect_right(s.judged_by(check_admission));
}

BOOST_AUTO_TEST_CASE(those_that_wait_must_be_admitted_while_there_is_room) {
  scene s = with_joiner();
  s.h.options.num_tasks = 3;
  expect_wrong(s.judged_by(check_admission), "epoch 2 has room for process 4");

  call_in(s, 0, 0, core::resize_args{2}, 1s, 1s);
  expect_right(s.judged_by(check_admission));
}

BOOST_AUTO_TEST_CASE(a_machine_must_not_wait_longer_or_for_others) {
  for (int const losses : {2, 3}) {
    scene s = with_joiner(losses);
    s.h.options.num_tasks = 3;
    s.h.processes[2].machine = s.h.processes[4].machine = "m";
    auto const found = s.judged_by(check_admission);
    if (losses == 3) expect_right(found);
    if (losses == 2) expect_wrong(found, "epoch 2 has room for process 4");

    s.h.processes[4].machine = "other";
    expect_wrong(s.judged_by(check_admission), "epoch 2 has room for process 4");
  }
}

BOOST_AUTO_TEST_CASE(keys_of_an_epoch_must_be_removed_with_the_one_after_the_next) {
  for (auto const at : {5s, 6s, 7s}) {
    scene s = with_epochs(3);
    s.key(3s, "epoch/1/a", "v");
    s.key(at, "epoch/1/a", std::nullopt);
    auto const found = s.judged_by(check_epochs);
    if (at == 6s) expect_right(found);
    if (at < 6s) expect_wrong(found, "was removed too early");
    if (at > 6s) expect_wrong(found, "was not removed");
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::sim
