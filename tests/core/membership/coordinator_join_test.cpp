// Joining: §1.2, §1.1, and §1.8.1 to 3.16.

#include "tests/core/steps.hpp"

namespace coxswain::test {
namespace {

BOOST_AUTO_TEST_SUITE(coordinator_join_test)

rows const cases{
    {"zero_init_timeout_should_still_wait_for_other_tasks_is_left_to_the_client", 2,
     "empty; observer x; observer x2; 0/0 joins 1; at 5s; replies ->; 1/1 joins 2; "
     "replies -> 0:OK 1:OK"},
    {"a_join_with_timeout_zero_is_answered_in_the_same_iteration", 2,
     "empty; observer x; one = 0/0 joins 1 0s; at 0s; one -> DEADLINE_EXCEEDED"},
    {"a_join_waits_at_most_the_coordinators_timeout", 2,
     "empty; observer x; patient = 0/0 joins 1; at 10s-; patient -> waits; at 10s; "
     "patient -> DEADLINE_EXCEEDED; hasty = 0/0 joins 1 2s; at 12s-; hasty -> waits; at 12s; "
     "hasty -> DEADLINE_EXCEEDED",
     config{.join_timeout_max = 10s}},
    {"connect_eventually_times_out_if_a_client_does_not_show_up", 3,
     "empty; observer x; observer x2; one = 0/0 joins 1 30s; at 1s; 1/1 joins 2 30s; at 30s-; "
     "replies ->; at 30s; replies -> 0:DEADLINE_EXCEEDED 1:DEADLINE_EXCEEDED; one ~ Not all tasks "
     "joined within 30 s: 1 of 3 tasks is missing: 2 (never connected) ... 2/3 ... task 0 first; "
     "one -> round 0 DEADLINE_EXCEEDED 2/3 missing 2"},
    {"register_with_barrier_timeout", 2,
     "empty; observer x; one = 0/0 joins 1 1s; at 1s; one -> DEADLINE_EXCEEDED"},
    {"a_failed_join_fails_no_task_and_can_be_retried", 2,
     "empty; observer x; observer x2; 0/0 joins 1 1s; at 1s; replies -> 0:DEADLINE_EXCEEDED; state "
     "0 -> never connected; error -> none; 0/0 joins 1 1s; 1/1 joins 2 1s; replies -> 0:OK 1:OK"},
    {"the_earliest_deadline_ends_a_join_for_all", 3,
     "empty; observer x; observer x2; 0/0 joins 1 30s; 1/1 joins 2 10s; at 10s; "
     "replies -> 0:DEADLINE_EXCEEDED 1:DEADLINE_EXCEEDED"},
    {"the_deadline_of_a_cancelled_join_affects_no_other", 3,
     "empty; observer x; observer x2; patient = 0/0 joins 1 30s; hasty = 1/1 joins 2 10s; "
     "cancel hasty; state 1 -> never connected; at 30s-; patient -> waits; at 30s; "
     "patient -> DEADLINE_EXCEEDED; patient -> round 0 DEADLINE_EXCEEDED 1/3 missing 1-2"},
    {"a_join_cancelled_by_all_leaves_no_state", 2,
     "empty; observer x; gone = 0/0 joins 1 10s; cancel gone; barriers -> 0; at 20s; replies ->"},
    {"a_suspect_joining_task_still_counts", 2,
     "empty; observer x; observer x2; one = 0/0 joins 1; cut 0; 1/1 joins 2; replies -> 1:OK; "
     "state 0 -> suspect; resume 0; one -> OK; state 0 -> connected"},
    {"without_the_join_barrier_a_task_is_connected_at_once", 3,
     "empty; observer x; 0/0 joins 1 -> OK; state 0 -> connected; state 1 -> never connected",
     config{.join_barrier = false}},
    {"a_resume_of_the_holder_is_a_sign_of_life", 1,
     "mute 0; observer claimant; asked = claimant/0 joins 555; at 1s; blink 0; pass 200ms; "
     "asked -> ABORTED; error -> none"},
    // §2.3: every blocking call has a deadline that the coordinator enforces.
    {"a_claimants_deadline_ends_its_wait_for_the_probe", 1,
     "mute 0; observer x; asked = x/0 joins 555 300ms; at 300ms-; asked -> waits; at 300ms; "
     "asked -> DEADLINE_EXCEEDED; asked ~ task 0 ... host0:1000 ... 300 ms; at 10s; error -> none"},
    {"a_new_incarnation_fails_a_suspect_holder_at_once", 2,
     "cut 0; observer claimant; claimant/0 joins 555 -> ABORTED; state 0 -> failed; error ~ task "
     "0: ABORTED ... new incarnation (555) ... the connection of task 0 (host0:1000) was lost"},
    {"a_claimant_is_answered_when_the_holder_leaves_with_the_others", 2,
     "0 leaves; mute 0; observer x; asked = x/0 joins 555; asked -> waits; 1 leaves; "
     "replies -> 2:ABORTED 0:OK 1:OK; pass 10s; asked -> ABORTED; error -> none; state 0 -> left"},
    {"a_claimant_is_answered_when_the_coordinator_stops", 1,
     "mute 0; observer x; asked = x/0 joins 555; stop; asked -> ABORTED; pass 10s; error -> none"},
    {"a_session_can_rejoin_its_own_task_with_a_new_incarnation", 1,
     "mute 0; asked = 0/0 joins 555; asked -> waits; heartbeat 0; pass 200ms; asked -> ABORTED; "
     "state 0 -> connected"},
    // A reply before the reply to Resume would be counted by one side only.
    {"a_session_waiting_to_rejoin_its_own_task_can_resume", 1,
     "mute 0; asked = 0/0 joins 555; blink 0; pass 200ms; asked -> ABORTED; 0 put k v -> OK; "
     "heartbeat 0; goodbye 0 -> none"},
    // Its session was lost together with the reply: a new session of the same process takes over.
    {"the_same_incarnation_from_another_session_moves_its_task", 2,
     "cut 0; observer again host0:1000; again/0 joins 100 -> OK; state 0 -> connected; pass 10s; "
     "error -> none; again barrier b; 1 barrier b; replies -> 2:OK 2:OK 1:OK"},
    // It was on the way while its process opened another session and joined there.
    {"a_late_join_with_hello_does_not_take_the_task_from_its_process", 2,
     "observer stale; stale/0 joins 100 300s with-hello -> CANCELLED; cut stale; pass 10s; "
     "error -> none; 0 leaves; 1 leaves; observer staler; "
     "staler/0 joins 100 300s with-hello -> CANCELLED; state 0 -> left"},
    {"a_late_join_with_hello_does_not_end_the_join_of_its_process", 2,
     "empty; observer live; joining = live/0 joins 100; observer stale; stale/0 joins 100 300s "
     "with-hello -> CANCELLED; observer x; x/1 joins 101 300s with-hello; joining -> OK"},
    {"a_late_join_with_hello_does_not_replace_a_claimant_of_its_process", 2,
     "mute 0; observer x; claimant = x/0 joins 555; observer x2; "
     "x2/0 joins 555 300s with-hello -> CANCELLED; pass 10s; claimant -> ABORTED"},
    {"waiting_calls_of_the_old_session_end_aborted_when_its_task_moves", 2,
     "at_barrier = 0 barrier b; at_key = 0 get k; at_leave = 0 leaves; observer other; other/0 "
     "joins 100; at_barrier -> ABORTED; at_key at_leave -> ABORTED ABORTED; at_barrier ~ task 0 "
     "... another session; barriers -> 0; bye 0; error -> none; state 0 -> connected"},
    {"a_session_that_never_joined_a_task_is_refused_as_not_joined", 2,
     "observer other; connected = other/0 barrier b; connected -> FAILED_PRECONDITION; "
     "connected ~ task 0 ... not joined by this session; 0/1 barrier b -> FAILED_PRECONDITION"},
    {"a_session_with_several_tasks_must_name_the_acting_task", 2,
     "empty; observer agent agent:1; agent/0 joins 1; agent/1 joins 2; agent barrier b -> "
     "FAILED_PRECONDITION; agent leaves -> FAILED_PRECONDITION; agent put k v -> OK"},
    {"a_session_with_one_task_left_need_not_name_it", 2,
     "empty; observer agent agent:1; agent/0 joins 1; agent/1 joins 2; agent/0 leaves; "
     "agent barrier b 300s t1 -> OK",
     config{.leave_barrier = false}},
    {"a_request_for_a_joining_task_is_refused", 2,
     "empty; observer x; 0/0 joins 1; 0/0 barrier b -> FAILED_PRECONDITION; "
     "0 barrier b -> FAILED_PRECONDITION; 0/0 leaves -> FAILED_PRECONDITION; "
     "0/0 reports x -> FAILED_PRECONDITION; 0 put k v -> OK"},
    {"register_task_already_in_error_fails", 2,
     "0 reports boom; 0/0 joins 100 -> ABORTED; observer x; fresh = x/0 joins 999; "
     "fresh -> ABORTED; fresh ~ the job has failed ... task 0 (host0:1000) ... INTERNAL: boom"},
    {"test_standalone_service_knows_its_tasks_and_their_incarnations", 2,
     "at 60s; state 0 -> connected; 0/2 barrier b -> INVALID_ARGUMENT; observer x; "
     "asked = x/1 joins 999; pass 200ms; asked -> ABORTED"},
    {"test_coordinated_jobs_a_task_outside_the_job_is_refused_without_harm", 2,
     "observer x; x/2 joins 1 -> INVALID_ARGUMENT; 0 barrier b; 1 barrier b; "
     "replies -> 2:INVALID_ARGUMENT 0:OK 1:OK"},
    // §6.2: most waiting happens during initialization, so a waiting join is logged like a barrier.
    {"a_long_join_is_logged_every_ten_seconds_with_the_missing_tasks", 3,
     "empty; observer x; 0/0 joins 1 60s; log; at 10s-; log ->; at 10s; log ~ Join ... has waited "
     "for 10 s ... 2 of 3 tasks are missing ... 1 (never connected) ... 2 (never connected); at "
     "20s-; log ->; at 20s; log ~ has waited for 20 s; at 60s; log; at 200s; log !~ has waited"},
    // §1.8.2 and §1.2: a newer incarnation wins while the join is pending.
    {"while_a_join_is_pending_a_newer_incarnation_wins", 2,
     "empty; observer x; observer x2; observer x3; older = 0/0 joins 1; newer = 1/0 joins 2; "
     "older newer -> ALREADY_EXISTS waits; older ~ another process (observer:1) has joined as "
     "task 0 since; self 0 -> 2; 2/1 joins 3; newer -> OK; state 0 -> connected; "
     "0/0 barrier b -> ABORTED"},
    {"a_repeated_pending_join_counts_once", 2,
     "empty; observer x; observer x2; older = 0/0 joins 1 10s; newer = 0/0 joins 1 30s; "
     "older -> CANCELLED; at 10s; newer -> waits; arrived -> 1; 1/1 joins 2; newer -> OK"},
    // §1.2 replaces the upstream rule, which fails the job: the holder is probed, answers and
    // stays.
    {"register_task_already_connected_different_incarnation_fails_the_claimant_only", 2,
     "observer claimant intruder:9; refused = claimant/0 joins 555; pass 200ms; "
     "refused -> ABORTED; refused ~ task 0 ... host0:1000 ... alive; error -> none; "
     "state 0 -> connected; self 0 -> 100; 0 barrier b; 1 barrier b; replies -> 2:ABORTED 0:OK "
     "1:OK"},
    {"any_byte_of_the_holder_is_a_sign_of_life", 1,
     "mute 0; observer claimant; asked = claimant/0 joins 555; at 1s; heard 0; pass 200ms-; "
     "asked -> waits; pass 1ns; asked -> ABORTED; at 10s; error -> none"},
    {"register_task_already_connected_succeeds", 2,
     "again = 0/0 joins 100; again -> OK; again ~ joined a running job; state 0 -> connected"},
    {"test_task_restart_beside_a_silent_holder_fails_the_old_incarnation", 2,
     "mute 1; observer claimant; asked = claimant/1 joins 555; pushes probes 1 -> 1; at 2s-; "
     "asked -> waits; error -> none; at 2s; asked -> ABORTED; state 1 -> failed; "
     "error ~ task 1: UNAVAILABLE ... no heartbeat from ... another incarnation"},
    {"several_claimants_share_one_probe_and_its_result", 1,
     "mute 0; observer a; observer b; first = a/0 joins 1; at 1s; second = b/0 joins 2; "
     "pushes probes 0 -> 1; heartbeat 0; pass 200ms; first second -> ABORTED ABORTED; at 10s; "
     "error -> none"},
    {"reset_and_register_again_is_leave_and_join", 1,
     "0 leaves; state 0 -> left; again = 0/0 joins 100; again -> OK; again ~ joined a running job; "
     "state 0 -> connected"},
    // §1.8.6.
    {"a_join_after_the_job_has_started_is_connected_at_once", 2,
     "0 leaves; 1 leaves; observer fresh; joined = fresh/1 joins 999; joined -> OK; "
     "joined ~ joined a running job; self 1 -> 999"},
};

BOOST_FIXTURE_TEST_CASE(connect_and_shutdown_are_barriers, empty_job<3>) {
  for (int i = 0; i < 3; ++i) c.observer();

  auto const first = c.join({0, 0}, 100);
  auto const second = c.join({1, 1}, 101);
  BOOST_TEST(c.replies() == "");
  BOOST_TEST(c.state_of(0) == "joining");
  auto const third = c.join({2, 2}, 102);

  BOOST_TEST(c.replies() == "0:OK 1:OK 2:OK");
  for (auto const& one : {first, second, third}) {
    BOOST_TEST_REQUIRE(c.body<core::join_answer>(one) != nullptr);
    BOOST_TEST(!c.body<core::join_answer>(one)->already_started);
  }
  BOOST_TEST(c.state_of(2) == "connected");

  c.leave(0);
  BOOST_TEST(c.after(c.leave(1)).replies() == "");
  BOOST_TEST(c.after(c.leave(2)).replies() == "0:OK 1:OK 2:OK");
}

BOOST_FIXTURE_TEST_CASE(late_clients_are_ok, empty_job<3>) {
  for (int i = 0; i < 3; ++i) {
    c.at(i * 200ms);
    c.observer();
    c.join({i, i}, static_cast<std::uint64_t>(i + 1), 20s);
  }

  BOOST_TEST(c.replies() == "0:OK 1:OK 2:OK");
}

// §2.1: an observer need not know the name of the job.
BOOST_AUTO_TEST_CASE(a_session_without_a_job_name_observes_any_job_but_joins_only_the_default) {
  auto c = cluster::without_clients(1, core::config{.job = "train"});
  auto const silent = c.observer();
  core::hello_args args{.job = "train"};
  auto const knowing = c.hello(args);
  args.job = "default";
  auto const wrong = c.hello(args);

  BOOST_TEST(c.code(c.put(silent, "a", "1")) == "OK");
  auto const refused = c.join({silent, 0}, 1);
  auto const taken = c.join({knowing, 0}, 2);

  BOOST_TEST(c.code(refused) == "FAILED_PRECONDITION");
  BOOST_TEST(c.text(refused) ==
             "this client named no job, and the job here is 'train': --job train");
  BOOST_TEST(c.code(taken) == "OK");
  BOOST_TEST_REQUIRE(c[wrong].goodbye.has_value());
  expect_words(c[wrong].goodbye->why.message(), {"wants job 'default'", "serves job 'train'"});
}

BOOST_FIXTURE_TEST_CASE(a_join_must_name_a_task_of_the_job, empty_job<2>) {
  c.observer();
  auto const nobody = c.join(0, 1);
  auto const unknown = c.join({0, 2}, 1);
  auto const far = c.join({0, UINT32_MAX}, 1);

  BOOST_TEST(c.replies() == "0:INVALID_ARGUMENT 0:INVALID_ARGUMENT 0:INVALID_ARGUMENT");
  expect_words(c.text(nobody), {"must name its task"});
  expect_words(c.text(unknown), {"no task 2", "0 to 1"});
  expect_words(c.text(far), {"no task 4294967295"});
  BOOST_TEST(c.error() == "none");
}

BOOST_AUTO_TEST_CASE(a_joining_task_that_ends_in_any_way_no_longer_counts) {
  enum class way { grace, abandoned, bye, malformed, ended, cancelled };
  for (way const w :
       {way::grace, way::abandoned, way::bye, way::malformed, way::ended, way::cancelled}) {
    BOOST_TEST_CONTEXT("way " << static_cast<int>(w)) {
      auto c = cluster::without_clients(3);
      for (int i = 0; i < 4; ++i) c.observer();
      auto const patient = c.join({0, 0}, 1, 60s);
      auto const dying = c.join({1, 1}, 2, 60s);

      if (w == way::grace) {
        c.lose(1).pass(2s);
      }
      if (w == way::abandoned) c.bye(1, true);
      if (w == way::bye) c.bye(1);
      if (w == way::malformed) c.malformed(1, "noise");
      if (w == way::ended) c.task_ended(1, {errc::unavailable, "exit code 3"});
      if (w == way::cancelled) c.cancel(dying);

      BOOST_TEST(c.state_of(1) == "never connected");
      BOOST_TEST(c.error() == "none");
      BOOST_TEST(c.code(patient) == "waits");
      BOOST_TEST(c.after(c.join({2, 2}, 3)).code(patient) == "waits");
      BOOST_TEST(c.after(c.join({3, 1}, 4)).code(patient) == "OK");
      BOOST_TEST(c.look().tasks[1].self.value == 4u);
    }
  }
}

BOOST_AUTO_TEST_CASE(no_session_can_act_for_a_task_while_it_joins) {
  auto c = cluster::without_clients(2);
  int const joins = c.observer();
  int const other = c.observer();
  c.join({joins, 0}, 1);

  auto const own = c.barrier({joins, 0}, "b");
  auto const foreign = c.barrier({other, 0}, "b");

  BOOST_TEST(c.code(own) == "FAILED_PRECONDITION");
  BOOST_TEST(c.text(own) == "task 0 is still joining");
  BOOST_TEST(c.code(foreign) == "FAILED_PRECONDITION");
  BOOST_TEST(c.text(foreign) == "task 0 was not joined by this session");
}

BOOST_AUTO_TEST_CASE(the_probe_timeout_is_the_grace_and_at_least_a_second) {
  for (auto const& [grace, verdict] : {std::pair{0ms, 1000ms}, {500ms, 1000ms}, {5000ms, 5000ms}}) {
    cluster c{1, {.reconnect_grace = grace}};
    c[0].beats = false;
    auto const asked = c.join({c.observer(), 0}, 555);

    BOOST_TEST(c.at(verdict - 1ns).code(asked) == "waits");
    BOOST_TEST(c.at(verdict).code(asked) == "ABORTED");
  }
}

// §2.5: the state of a cancelled call is freed, including its probe.
BOOST_AUTO_TEST_CASE(a_probe_ends_with_its_last_waiting_claimant) {
  enum class way { cancelled, bye, grace };
  for (way const w : {way::cancelled, way::bye, way::grace}) {
    cluster c{1, {.reconnect_grace = 3s}};
    c[0].beats = false;
    int const claimant = c.observer();
    c.pass(500ms);
    if (w == way::grace) c.lose(claimant);
    if (w == way::grace) c.resume(claimant);
    auto const asked = c.join({claimant, 0}, 555);
    c.pass(1ms);
    if (w == way::cancelled) c.cancel(asked);
    if (w == way::bye) c.bye(claimant);
    if (w == way::grace) {
      c.lose(claimant);
      c[claimant].open.clear();
      c.resume(claimant);  // cancelled
    }

    BOOST_TEST(c.pass(20s).error() == "none");
    BOOST_TEST(c.state_of(0) == "connected");
  }
}

BOOST_AUTO_TEST_CASE(a_claimant_is_answered_when_the_holder_fails_otherwise) {
  enum class way { bye, malformed, reported, ended, other_task };
  for (way const w : {way::bye, way::malformed, way::reported, way::ended, way::other_task}) {
    BOOST_TEST_CONTEXT("way " << static_cast<int>(w)) {
      cluster c{2};
      c[0].beats = false;
      auto const asked = c.join({c.observer(), 0}, 555);
      // Messages of the holder are signs of life, so these come from other sessions where possible.
      if (w == way::bye) c.bye(0, true);
      if (w == way::malformed) c.malformed(0, "noise");
      if (w == way::reported) c.report_error(0, errc::internal, "boom");
      if (w == way::ended) c.task_ended(0, {errc::unavailable, "signal 9"});
      if (w == way::other_task) c.report_error(1, errc::internal, "boom");

      BOOST_TEST(c.pass(10s).code(asked) == "ABORTED");
    }
  }
}

BOOST_FIXTURE_TEST_CASE(a_session_that_lost_its_task_cannot_act_for_it, job<2>) {
  int const other = c.observer();
  BOOST_TEST(c.after(c.join({other, 0}, 100)).replies() == "2:OK");

  for (auto const& one :
       {c.barrier({0, 0}, "b"), c.leave({0, 0}), c.report_error({0, 0}, errc::internal, "x"),
        c.get({0, 0}, "k"), c.put({0, 0}, "k", "v"), c.cancel({0, 0}, "b")}) {
    BOOST_TEST(c.code(one) == "ABORTED");
  }
  BOOST_TEST(c.error() == "none");
}

BOOST_FIXTURE_TEST_CASE(one_session_can_join_many_tasks, empty_job<3>) {
  int const agent = c.observer("agent:1");
  auto const a = c.join({agent, 0}, 1);
  auto const b = c.join({agent, 2}, 2);
  BOOST_TEST(c.replies() == "");
  auto const d = c.join({agent, 1}, 3);
  BOOST_TEST(c.replies() == "0:OK 0:OK 0:OK");
  static_cast<void>(a);
  static_cast<void>(b);
  static_cast<void>(d);

  for (std::uint32_t t = 0; t < 3; ++t) c.barrier({agent, t}, "b");
  BOOST_TEST(c.replies() == "0:OK 0:OK 0:OK");
}

BOOST_AUTO_TEST_CASE(a_client_learns_that_it_came_through_a_relay) {
  cluster c{1};
  int const direct = c.hello({}, "10.0.0.2:9");
  int const through = c.hello({}, "10.0.0.2:9 via relay, unix: process 5");
  BOOST_TEST(!c[direct].hello->relayed);
  BOOST_TEST(c[through].hello->relayed);
}

// A task that rejoins quickly would join a coordinator that is about to stop.
BOOST_AUTO_TEST_CASE(only_the_host_can_join_a_coordinator_that_all_tasks_left) {
  cluster elsewhere{2};
  elsewhere.leave(0);
  elsewhere.leave(1);
  BOOST_TEST(elsewhere.code(elsewhere.join({1, 1}, 501)) == "OK");

  cluster c{2, {.hosted_by_task = 0}};
  c.leave(0);
  c.leave(1);

  auto const again = c.join({1, 1}, 501);
  BOOST_TEST(c.code(again) == "ABORTED");
  expect_words(c.text(again), {"all tasks have left", "with the process of task 0"});

  BOOST_TEST(c.code(c.join({0, 0}, 500)) == "OK");
  BOOST_TEST(c.code(c.join({1, 1}, 502)) == "OK");
}

BOOST_FIXTURE_TEST_CASE(a_waiting_join_is_shown_with_the_missing_tasks, empty_job<3>) {
  c.observer();
  c.join({0, 1}, 1, 60s);
  c.at(5s);

  auto const seen = c.look().barriers;

  BOOST_TEST_REQUIRE(seen.size() == 1u);
  BOOST_TEST((seen[0].what == core::snapshot::kind::join));
  BOOST_TEST(seen[0].arrived == 1u);
  BOOST_TEST(seen[0].expected == 3u);
  BOOST_TEST(seen[0].missing == "0,2");
  BOOST_TEST((seen[0].age == 5s));
  BOOST_TEST((seen[0].remaining == 55s));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
