// Barriers of tasks: §2.3, §2.5, §6.1, §6.2, and §6.6.1 to 3.38.

#include "tests/core/steps.hpp"

#include <set>

namespace coxswain::test {
namespace {

BOOST_AUTO_TEST_SUITE(coordinator_barrier_test)

rows const cases{
    {"barrier_releases_nobody_before_the_last_and_then_all_at_once", 3,
     "one = 0 barrier b; 1 barrier b; at 100s; replies ->; 2 barrier b; replies -> 0:OK 1:OK 2:OK; "
     "one -> round 1"},
    {"wait_at_barrier_timeout_with_different_barrier_id", 2,
     "one = 0 barrier barrier_1 200ms; two = 1 barrier barrier_2 200ms; at 200ms-; replies ->; at "
     "200ms; replies -> 0:DEADLINE_EXCEEDED 1:DEADLINE_EXCEEDED; one ~ 1 of 2 tasks is missing: 1 "
     "(connected ... waits for barrier 'barrier_2'; two ~ 0 (connected"},
    {"barrier_with_subset_of_tasks_and_wait_at_barrier_subset_succeeds", 3,
     "0 barrier b 300s t0 t1; 1 barrier b 300s t1 t0; replies -> 0:OK 1:OK; 0 leaves; 1 leaves; "
     "2 leaves; replies -> 0:OK 1:OK 2:OK"},
    {"the_order_and_the_repetition_of_participants_do_not_matter", 3,
     "0 barrier b 300s t0 t2 t2 t0; 2 barrier b 300s t2 t0; replies -> 0:OK 2:OK; 0 barrier all "
     "300s t2 t1 t0; 1 barrier all; 2 barrier all 300s t0 t1 t2; replies -> 0:OK 1:OK 2:OK"},
    {"a_task_may_be_alone_at_a_barrier", 2, "0 barrier b 0s t0 -> round 1"},
    {"barrier_by_non_participating_task_three_tasks_is_refused_and_the_others_keep_ok", 3,
     "zero = 0 barrier b 300s t0 t1; one = 1 barrier b 300s t0 t1; outsider = 2 barrier b 300s t0 "
     "t1; everybody = 2 barrier b; outsider -> INVALID_ARGUMENT; outsider ~ 'b' ... task 2 ... not "
     "among the participants; everybody -> INVALID_ARGUMENT; zero -> OK; one -> OK"},
    // Upstream, one wrong caller fails the round for all (sharp edge 29).
    {"an_outsider_that_calls_while_others_wait_is_refused_alone", 3,
     "zero = 0 barrier b 300s t0 t1; 2 barrier b -> INVALID_ARGUMENT; zero -> waits; "
     "1 barrier b 300s t0 t1; zero -> round 1"},
    {"barrier_by_non_cluster_task", 2,
     "one = 0 barrier b 300s t0 t2; one -> INVALID_ARGUMENT; one ~ 'b' ... no task 2 ... 0 to 1; "
     "barriers -> 0"},
    {"a_round_ends_at_the_earliest_deadline_of_its_arrivals", 3,
     "0 barrier b 60s; at 1s; 1 barrier b 10s; at 11s-; replies ->; at 11s; "
     "replies -> 0:DEADLINE_EXCEEDED 1:DEADLINE_EXCEEDED"},
    {"a_later_arrival_with_a_longer_timeout_does_not_extend_the_round", 3,
     "0 barrier b 10s; at 9s; 1 barrier b 60s; at 10s; "
     "replies -> 0:DEADLINE_EXCEEDED 1:DEADLINE_EXCEEDED"},
    {"a_barrier_with_timeout_zero_is_answered_in_the_same_iteration", 2,
     "one = 0 barrier b 0s; one -> waits; at 0s; one -> DEADLINE_EXCEEDED"},
    {"a_cancelled_call_unarrives_only_its_caller", 3,
     "stays = 0 barrier b 60s; goes = 1 barrier b 5s; cancel goes; missing -> 1-2; at 6s; "
     "stays -> waits; 2 barrier b; stays -> waits; 1 barrier b -> round 1; stays -> round 1"},
    {"the_round_waits_for_the_deadlines_of_those_who_stay", 3,
     "stays = 0 barrier b 60s; gone = 1 barrier b 5s; cancel gone; at 60s-; stays -> waits; "
     "at 60s; stays -> round 1 DEADLINE_EXCEEDED 1/3 missing 1-2"},
    {"a_round_that_everybody_cancelled_from_has_never_been", 2,
     "gone = 0 barrier b; cancel gone; barriers -> 0; at 400s; replies ->; a = 0 barrier b; "
     "1 barrier b; a -> round 1"},
    {"barrier_returns_previous_error_is_failed_precondition_replaced", 2,
     "waiting = 0 barrier b; 0 reports boom; waiting -> INTERNAL; later = 1 barrier b; later -> "
     "FAILED_PRECONDITION; later ~ the job has failed: task 0 (host0:1000) failed: INTERNAL: boom"},
    {"barrier_fails_if_task_is_already_in_error_with_failed_precondition", 2,
     "0 reports boom; 1 barrier b -> FAILED_PRECONDITION"},
    {"barrier_fails_when_a_participant_dies", 3,
     "zero = 0 barrier b; cut 2; at 2s-; zero -> waits; at 2s; zero -> INTERNAL; "
     "zero ~ task 2 (host2:1002) failed ... was lost at 00:00:00.0"},
    {"a_participant_that_dies_while_it_waits_fails_the_round_of_the_others", 3,
     "0 barrier b; one = 1 barrier b; abandon 0; one -> round 1 INTERNAL 1/3 missing 0,2"},
    {"a_job_error_fails_also_barriers_that_the_culprit_has_no_part_in", 3,
     "pair = 0 barrier pair 300s t0 t1; 2 reports boom; pair -> INTERNAL"},
    {"barrier_with_participating_tasks_fails_if_task_is_stale", 2,
     "mute 0; mute 1; at 200s; observer fresh; one = fresh/0 barrier b 300s t0; "
     "one -> FAILED_PRECONDITION; one ~ the job has failed ... no heartbeat from"},
    {"barrier_with_subset_fails_if_task_is_stale_as_barrier_fails_if_task_is_in_error", 2,
     "mute 0; mute 1; at 200s; observer fresh; all = fresh/0 barrier b; "
     "subset = fresh/0 barrier b 300s t0; all -> FAILED_PRECONDITION; subset -> "
     "FAILED_PRECONDITION"},
    {"names_are_apart_from_keys_and_from_count_barriers", 2,
     "b = 0 barrier tensorstore_checkpoint_1; 0 put tensorstore_checkpoint_1 v; observer o; "
     "count = o counts tensorstore_checkpoint_1 2; b count -> waits waits; "
     "1 get tensorstore_checkpoint_1 -> v"},
    {"barriers_are_only_for_those_who_act_for_a_task", 1,
     "observer o; one = o barrier b; one -> FAILED_PRECONDITION; "
     "one ~ join first ... the call must name one"},
    {"who_asks_for_progress_more_often_than_others_gets_it_sooner", 3,
     "0 barrier b 60s progress=10s; 1 barrier b 60s progress=2s; at 2s-; pushes progress 1 -> 0; "
     "at 2s; "
     "pushes progress 1 -> 1; pushes progress 0 -> 0; at 10s; pushes progress 0 -> 1"},
    {"when_nobody_wants_progress_any_more_none_is_sent_until_somebody_does", 3,
     "0 barrier b 60s; gone = 1 barrier b 60s progress=1s; cancel gone; at 5s; pushes progress 0 "
     "-> 0; "
     "pushes progress 1 -> 0; 1 barrier b 60s progress=1s; at 6s; pushes progress 1 -> 1"},
    {"no_progress_is_sent_after_the_round", 2,
     "0 barrier b 60s progress=100ms; 1 barrier b 60s progress=100ms; at 10s; pushes progress 0 -> "
     "0"},
    {"progress_is_not_sent_to_a_lost_connection_and_goes_on_after_a_resume", 4,
     "0 barrier b 60s progress=1s; cut 0; at 1500ms; resume 0; 1 barrier b 60s; at 4s; "
     "pushes progress 0 -> 3"},
    {"a_barrier_that_waits_long_is_logged_every_ten_seconds", 3,
     "0 barrier b 60s; log; at 10s-; log ->; at 10s; "
     "log ~ Barrier 'b' round 1 has waited for 10 s: 2 of 3 tasks are missing: 1 (; at 20s-; "
     "log ->; at 20s; log ~ has waited for 20 s; 1 barrier b; 2 barrier b; log; at 120s; log ->"},
    {"a_log_period_of_zero_means_that_waiting_is_not_logged", 2,
     "0 barrier b 60s; 1 leaves 60s; log; at 50s; log !~ has waited",
     config{.waiting_log_period = 0s}},
    {"the_last_arrival_at_the_deadline_itself_still_counts", 2,
     "0 barrier b 10s; at 10s-; sleep 1ns; 1 barrier b 10s; replies -> 0:OK 1:OK; at 30s; "
     "replies ->"},
    {"the_same_task_calling_again_while_it_waits_replaces_its_call", 3,
     "older = 0 barrier b 5s; newer = 0 barrier b 60s; older -> CANCELLED; arrived -> 1; at 10s; "
     "newer -> waits; 1 barrier b; 2 barrier b; newer -> round 1"},
};

BOOST_FIXTURE_TEST_CASE(wait_at_barrier_succeed, job<2>) {
  for (auto const* const id : {"barrier_1", "barrier_2"}) {
    c.barrier(0, id, 200ms);
    BOOST_TEST(c.after(c.barrier(1, id, 200ms)).replies() == "0:OK 1:OK");
  }
}

BOOST_FIXTURE_TEST_CASE(wait_at_barrier_reuse_same_id_succeeds, job<2>) {
  std::uint64_t round = 0;
  for (int use = 0; use < 2; ++use) {
    ++round;
    for (auto const* const id : {"1", "2"}) {
      auto const a = c.barrier(0, id);
      auto const b = c.barrier(1, id);
      BOOST_TEST(c.round(a) == "round " + std::to_string(round));
      BOOST_TEST(c.round(b) == "round " + std::to_string(round));
    }
  }
}

// Replaces the upstream rule that an id can be used once.
BOOST_FIXTURE_TEST_CASE(wait_at_barrier_fail_with_same_barrier_id_replaced, job<2>) {
  for (int i = 0; i < 100; ++i) {
    c.barrier(0, "b");
    BOOST_TEST(c.after(c.barrier(1, "b")).replies() == "0:OK 1:OK");
  }
}

BOOST_FIXTURE_TEST_CASE(two_consecutive_barriers_succeed_with_numbers_that_rise, job<3>) {
  for (std::uint64_t round = 1; round <= 2; ++round) {
    std::vector<call> calls;
    for (int i = 0; i < 3; ++i) calls.push_back(c.barrier(i, "b"));
    for (auto const& one : calls) BOOST_TEST(c.round(one) == "round " + std::to_string(round));
  }
}

BOOST_FIXTURE_TEST_CASE(barrier_timeout_is_the_same_for_all_and_names_who_is_missing, job<3>) {
  c.at(5s);
  auto const one = c.barrier(1, "b", 1s);
  auto const zero = c.barrier(0, "b", 1s);

  BOOST_TEST(c.at(6s).replies() == "1:DEADLINE_EXCEEDED 0:DEADLINE_EXCEEDED");
  BOOST_TEST(c.text(zero) == c.text(one));
  expect_words("DEADLINE_EXCEEDED: " + c.text(zero),
               {"DEADLINE_EXCEEDED: Barrier timed out. Barrier 'b' round 1", "1 s",
                "1 of 3 tasks is missing: 2 (connected, last heard at 00:00:00.0, host2:1002)",
                "2/3", "task 1 first"});
}

BOOST_FIXTURE_TEST_CASE(a_failed_barrier_says_in_figures_who_is_missing, job<5>) {
  c.lose(3);
  c.get(4, "the/key", 60s);
  auto const one = c.barrier(1, "b", 1s);
  c.at(1s);

  auto const* const f = c.body<barrier_failure>(one);

  BOOST_TEST_REQUIRE(f != nullptr);
  BOOST_TEST(f->round.value == 1u);
  BOOST_TEST(f->arrived == 1u);
  BOOST_TEST(f->expected == 5u);
  BOOST_TEST(f->missing == "0,2-4");
  BOOST_TEST(f->missing_cut == 0u);
  BOOST_TEST_REQUIRE(f->known.size() == 4u);
  BOOST_TEST((f->known[0].task == task_id{0}));
  BOOST_TEST(!f->known[0].suspect);
  BOOST_TEST((f->known[0].state == task_state::connected));
  BOOST_TEST(f->known[0].label == "host0:1000");
  BOOST_TEST((f->known[0].last_heard == 1s));
  BOOST_TEST(f->known[2].suspect);
  BOOST_TEST(f->known[3].waits_for == "key 'the/key'");
  expect_words(c.text(one), {"3 (suspect", "4 (connected", "waits for key 'the/key'"});
}

BOOST_FIXTURE_TEST_CASE(what_the_missing_wait_for_instead_is_reported, job<4>) {
  c.barrier(1, "later", 60s);
  c.barrier(1, "elsewhere", 60s);
  c.leave(2, 60s);
  c.get(3, "b/second", 60s);
  c.get(3, "a/first", 60s);
  auto const one = c.barrier(0, "b", 1s);
  c.at(1s);

  auto const& known = c.body<barrier_failure>(one)->known;

  BOOST_TEST(known[0].waits_for == "barrier 'later'");
  BOOST_TEST(known[1].waits_for == "the others to leave");
  BOOST_TEST(contains(known[2].waits_for, "key '"));
}

BOOST_FIXTURE_TEST_CASE(sixteen_of_many_missing_are_described_and_all_are_named, job<64>) {
  auto const one = c.barrier(0, "b", 1s);
  c.at(1s);

  auto const* const f = c.body<barrier_failure>(one);

  BOOST_TEST(f->known.size() == 16u);
  BOOST_TEST(f->missing == "1-63");
  expect_words(c.text(one), {"63 of 64 tasks are missing: 1-63; of these 1 (connected"});
}

BOOST_FIXTURE_TEST_CASE(a_missing_set_above_four_kibibytes_is_cut_and_counted, job<4000>) {
  for (int i = 0; i < 4000; i += 2) c.barrier(i, "b", 1s);
  c.at(1s);

  call const first{0, request_id{2}};
  auto const* const f = c.body<barrier_failure>(first);

  BOOST_TEST_REQUIRE(f != nullptr);
  BOOST_TEST(f->missing.size() <= 4096u);
  BOOST_TEST(f->missing_cut > 0u);
  auto const named = std::count(f->missing.begin(), f->missing.end(), ',') + 1;
  BOOST_TEST(static_cast<std::uint32_t>(named) + f->missing_cut == 2000u);
  expect_words(c.text(first), {"2000 of 4000", "and " + std::to_string(f->missing_cut) + " more"});
}

BOOST_FIXTURE_TEST_CASE(a_barrier_without_limit_waits_until_somebody_dies, job<2>) {
  auto const one = c.barrier(0, "b", without_limit);
  BOOST_TEST(c.at(2h).code(one) == "waits");
  BOOST_TEST(!c.look().barriers[0].remaining.has_value());

  BOOST_TEST(c.bye(1, true).code(one) == "INTERNAL");
}

BOOST_FIXTURE_TEST_CASE(cancelling_the_older_of_two_calls_takes_nothing_back, job<2>) {
  auto const older = c.barrier(0, "b");
  auto const newer = c.barrier(0, "b");
  core::client_message m{.answered_through = c[0].answered, .what = core::cancel_args{older.id}};
  c.say(c[0].connection, m);

  BOOST_TEST(c.after(c.barrier(1, "b")).code(newer) == "OK");
}

BOOST_FIXTURE_TEST_CASE(cancelling_after_the_release_changes_nobodys_outcome, job<2>) {
  auto const a = c.barrier(0, "b");
  c.barrier(1, "b");
  core::client_message m{.answered_through = c[0].answered, .what = core::cancel_args{a.id}};
  BOOST_TEST(c.say(c[0].connection, m).replies() == "0:OK 1:OK");
  BOOST_TEST(c.look().barriers.empty());
}

BOOST_FIXTURE_TEST_CASE(cancelling_what_was_never_asked_does_nothing, job<2>) {
  auto const a = c.barrier(0, "b");
  for (std::uint64_t const id : {std::uint64_t{0}, a.id.value + 7, UINT64_MAX}) {
    core::client_message m{.answered_through = c[0].answered,
                           .what = core::cancel_args{request_id{id}}};
    c.say(c[0].connection, m);
  }
  core::client_message others{.answered_through = c[1].answered, .what = core::cancel_args{a.id}};
  BOOST_TEST(c.say(c[1].connection, others).look().barriers[0].arrived == 1u);
  BOOST_TEST(c.goodbye(0) == "none");
}

BOOST_AUTO_TEST_CASE(barrier_fails_upon_task_error_at_once_and_says_who_and_how_far_it_was) {
  cluster c{3};
  auto const zero = c.barrier(0, "b");
  auto const one = c.barrier(1, "b");

  c.report_error(2, errc::unavailable, "out of disk");

  BOOST_TEST(c.round(zero) == "round 1 INTERNAL 2/3 missing 2");
  BOOST_TEST(c.text(one) == c.text(zero));
  expect_words(c.text(zero), {"Barrier 'b' round 1 failed", "task 2 (host2:1002)",
                              "UNAVAILABLE: out of disk", "2 of 3 tasks had arrived"});
}

BOOST_FIXTURE_TEST_CASE(names_may_have_spaces_brackets_and_any_letters, job<1>) {
  for (std::string const name : {"[op=save] step 7: all", "/a//b/", "\xe2\x82\xac", "a\nb"}) {
    BOOST_TEST(c.code(c.barrier(0, name)) == "OK");
  }
}

BOOST_FIXTURE_TEST_CASE(a_name_is_not_empty_and_is_utf8_without_nul, job<1>) {
  for (std::string const& bad : {std::string{}, std::string("a\0b", 3), std::string{"\xff"}}) {
    BOOST_TEST(c.code(c.barrier(0, bad)) == "INVALID_ARGUMENT");
    BOOST_TEST(c.code(c.cancel(0, bad)) == "INVALID_ARGUMENT");
    BOOST_TEST(c.code(c.count_barrier(0, bad, 1)) == "INVALID_ARGUMENT");
  }
}

BOOST_FIXTURE_TEST_CASE(a_waiter_that_asks_for_progress_gets_it_every_period, job<4>) {
  auto const one = c.barrier(0, "b", 60s, {.progress_every = 1s});
  c.at(1s);
  auto const first = c.pushed<core::barrier_progress>(0);
  BOOST_TEST_REQUIRE(first.size() == 1u);
  BOOST_TEST((first[0].request == one.id));
  BOOST_TEST(first[0].round.value == 1u);
  BOOST_TEST(first[0].arrived == 1u);
  BOOST_TEST(first[0].expected == 4u);
  BOOST_TEST(first[0].missing == "1-3");

  c.at(5s);
  auto const same = c.pushed<core::barrier_progress>(0);
  BOOST_TEST(same.size() == 4u);
  for (auto const& one : same) BOOST_TEST(one.missing == "1-3");
  c.barrier(2, "b", 60s);
  c.at(6s);

  auto const second = c.pushed<core::barrier_progress>(0);
  BOOST_TEST_REQUIRE(second.size() == 1u);
  BOOST_TEST(second[0].missing == "1,3");
  BOOST_TEST(c.pushed<core::barrier_progress>(2).empty());
}

BOOST_FIXTURE_TEST_CASE(a_waiter_gets_progress_as_often_as_it_asked_at_the_most, job<9>) {
  c.barrier(0, "b", 60s, {.progress_every = 100ms});
  c.barrier(1, "b", 60s, {.progress_every = 2s});
  std::size_t often = 0;
  std::size_t seldom = 0;
  for (int i = 2; i < 8; ++i) {
    c.pass(500ms);
    c.barrier(i, "b", 60s);
  }
  c.at(4s);
  often = c.pushed<core::barrier_progress>(0).size();
  seldom = c.pushed<core::barrier_progress>(1).size();

  BOOST_TEST(often == 40u);
  BOOST_TEST(seldom == 2u);
}

BOOST_FIXTURE_TEST_CASE(those_who_asked_for_progress_alike_get_the_same_together, job<3>) {
  auto const one = c.barrier(0, "b", 60s, {.progress_every = 1s});
  auto const two = c.barrier(1, "b", 60s, {.progress_every = 1s});

  c.at(1s);

  auto const first = c.pushed<core::barrier_progress>(0);
  auto const second = c.pushed<core::barrier_progress>(1);
  BOOST_TEST_REQUIRE(first.size() == 1u);
  BOOST_TEST_REQUIRE(second.size() == 1u);
  BOOST_TEST((first[0].request == one.id));
  BOOST_TEST((second[0].request == two.id));
  BOOST_TEST(first[0].missing == "2");
  BOOST_TEST(second[0].missing == "2");
}

BOOST_FIXTURE_TEST_CASE(a_cancellation_is_progress_too, job<3>) {
  c.barrier(0, "b", 60s, {.progress_every = 100ms});
  auto const other = c.barrier(1, "b", 60s);
  c.at(1s);
  c.pushed<core::barrier_progress>(0);

  c.cancel(other).at(1100ms);

  auto const progress = c.pushed<core::barrier_progress>(0);
  BOOST_TEST_REQUIRE(progress.size() == 1u);
  BOOST_TEST(progress[0].arrived == 1u);
}

BOOST_FIXTURE_TEST_CASE(progress_is_sent_ten_times_a_second_at_the_most, job<30>) {
  c.barrier(0, "b", 60s, {.progress_every = 1ns});
  for (int i = 1; i < 29; ++i) {
    c.pass(10ms);
    c.barrier(i, "b", 60s);
  }
  c.at(1s);

  auto const progress = c.pushed<core::barrier_progress>(0);
  BOOST_TEST(progress.size() == 10u);
}

BOOST_FIXTURE_TEST_CASE(barrier_and_join_waits_are_seen_live, job<3>) {
  c.at(1s);
  c.barrier(1, "b", 60s);
  c.at(3s);

  auto const seen = c.look().barriers;

  BOOST_TEST_REQUIRE(seen.size() == 1u);
  BOOST_TEST(seen[0].name == "b");
  BOOST_TEST((seen[0].what == core::snapshot::kind::tasks));
  BOOST_TEST(seen[0].round.value == 1u);
  BOOST_TEST(seen[0].arrived == 1u);
  BOOST_TEST(seen[0].expected == 3u);
  BOOST_TEST(seen[0].missing == "0,2");
  BOOST_TEST((seen[0].age == 2s));
  BOOST_TEST((seen[0].remaining == 58s));
}

BOOST_FIXTURE_TEST_CASE(many_barriers_at_once_do_not_disturb_each_other, job<2>) {
  std::vector<call> calls;
  for (int i = 0; i < 200; ++i) calls.push_back(c.barrier(0, "b" + std::to_string(i)));
  for (int i = 199; i >= 0; --i) c.barrier(1, "b" + std::to_string(i));

  for (auto const& one : calls) BOOST_TEST(c.round(one) == "round 1");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
