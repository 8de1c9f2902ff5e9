// Counters of the coordinator, and its history of finished rounds.

#include "tests/core/steps.hpp"

namespace coxswain::test {
namespace {

// The counts of an operation, such as "OK 2, NOT_FOUND 1"; empty if none.
std::string counted(cluster& c, core::operation what) {
  std::string all;
  auto const& by_code = c.logic().counts().requests[what.value];
  for (std::uint32_t code = 0; code < by_code.size(); ++code) {
    if (by_code[code] == 0) continue;
    if (!all.empty()) all += ", ";
    all += std::string{name(errc_of(code))} + ' ' + std::to_string(by_code[code]);
  }
  return all;
}

template <class Args>
std::string counted(cluster& c) {
  return counted(c, core::operation_id<Args>);
}

BOOST_AUTO_TEST_SUITE(coordinator_statistics_test)

rows const cases{
    {"a_round_has_its_last_task_and_lag", 3,
     "at 2s; 1 barrier b; at 4s; 0 barrier b; at 5s; 2 barrier b; "
     "last-round -> 1 b round 1 OK 3 tasks at 5s spread 3s lag 1s last 2"},
    {"most_tasks_being_late_gives_no_lag", 5,
     "0 barrier b; 1 barrier b; at 2s; 2-4 barrier b; "
     "last-round -> 1 b round 1 OK 5 tasks at 2s spread 2s lag 0s last 4"},
    {"the_last_task_of_one_session_is_known", 2,
     "empty; observer host; host/0 joins 1; host/1 joins 2; host/1 barrier b; at 1s; "
     "host/0 barrier b; last-round -> 1 b round 1 OK 2 tasks at 1s spread 1s lag 1s last 0"},
    {"a_round_of_a_subset_counts_its_participants", 4,
     "3 barrier b 300s t1 t3; 1 barrier b 300s t1 t3; "
     "last-round -> 1 b round 1 OK 2 tasks at 0s spread 0s lag 0s last 1"},
    {"a_failed_round_has_no_last_task", 3,
     "0 barrier b 10s; at 4s; 1 barrier b 10s; at 10s; "
     "last-round -> 1 b round 1 DEADLINE_EXCEEDED 3 tasks at 10s spread 4s lag 4s last none"},
    {"a_round_failed_by_its_first_caller_has_no_arrivals", 2,
     "0 gather b xx; "
     "last-round -> 1 b round 1 RESOURCE_EXHAUSTED 2 tasks at 0s spread 0s lag 0s last none",
     config{.gather_bytes_max = 1}},
    {"a_cancelled_arrival_does_not_count_and_a_repeated_one_counts_again", 3,
     "taken_back = 0 barrier b; at 1s; 1 barrier b; at 3s; cancel taken_back; 0 barrier b; at 4s; "
     "1 barrier b; at 9s; 2 barrier b; "
     "last-round -> 1 b round 1 OK 3 tasks at 9s spread 6s lag 5s last 2"},
    {"round_numbers_in_the_history_span_all_names", 1,
     "0 barrier a; 0 barrier b; 0 barrier a; "
     "last-round -> 3 a round 2 OK 1 tasks at 0s spread 0s lag 0s last none"},
    {"joins_leaves_and_count_barriers_are_not_in_the_history", 1,
     "0 counts b 1; 0 leaves; last-round -> none"},
    {"a_job_error_ends_open_rounds_with_its_cause", 2,
     "0 barrier b; at 1s; 1 reports boom DATA_LOSS; "
     "last-round -> 1 b round 1 INTERNAL 2 tasks at 1s spread 0s lag 0s last none"},
};

BOOST_AUTO_TEST_CASE(operations_have_the_names_of_their_requests) {
  BOOST_TEST(name(core::operation_id<std::monostate>) == "heartbeat");
  BOOST_TEST(name(core::operation_id<core::join_args>) == "join");
  BOOST_TEST(name(core::operation_id<core::barrier_args>) == "barrier");
  BOOST_TEST(name(core::operation_id<core::try_get_args>) == "try_get");
  BOOST_TEST(name(core::operation_id<core::inspect_args>) == "inspect");
  BOOST_TEST(name(core::operation_id<core::reset_args>) == "reset");
  BOOST_TEST(name(core::operation_id<core::get_all_args>) == "get_all");
  BOOST_TEST(name(core::operation_id<core::pop_args>) == "pop");
  BOOST_TEST(name(core::operation_id<core::watch_events_args>) == "watch_events");
  BOOST_TEST(name(core::operation_id<core::why_args>) == "why");
  BOOST_TEST(name(core::unknown_operation) == "unknown");
}

BOOST_FIXTURE_TEST_CASE(each_reply_is_counted_by_operation_and_code, job<1>) {
  c.put(0, "a", "1");
  c.put(0, "a", "2");
  c.put(0, "b", "3");
  c.try_get(0, "missing");

  BOOST_TEST(counted<core::put_args>(c) == "OK 2, ALREADY_EXISTS 1");
  BOOST_TEST(counted<core::try_get_args>(c) == "NOT_FOUND 1");
  BOOST_TEST(counted<core::hello_args>(c) == "OK 1");
  BOOST_TEST(counted<core::join_args>(c) == "OK 1");
}

BOOST_FIXTURE_TEST_CASE(a_request_that_waits_is_counted_when_it_is_answered, job<2>) {
  c.barrier(0, "b", 1s);
  c.get(0, "key", 2s);
  c.get_all(0, {"key", "other"}, 3s);
  c.pop(0, "queue", 4s);
  c.count_barrier(0, "n", 2, 5s);
  BOOST_TEST(counted<core::barrier_args>(c) == "");
  BOOST_TEST(counted<core::get_args>(c) == "");
  c.at(5s);

  BOOST_TEST(counted<core::barrier_args>(c) == "DEADLINE_EXCEEDED 1");
  BOOST_TEST(counted<core::get_args>(c) == "DEADLINE_EXCEEDED 1");
  BOOST_TEST(counted<core::get_all_args>(c) == "DEADLINE_EXCEEDED 1");
  BOOST_TEST(counted<core::pop_args>(c) == "DEADLINE_EXCEEDED 1");
  BOOST_TEST(counted<core::count_barrier_args>(c) == "DEADLINE_EXCEEDED 1");
}

BOOST_FIXTURE_TEST_CASE(a_pop_is_counted_when_it_gets_an_item, job<1>) {
  c.pop(0, "q");
  c.push(0, "q", "x");
  c.push(0, "q", "y");
  c.pop(0, "q");

  BOOST_TEST(counted<core::pop_args>(c) == "OK 2");
  BOOST_TEST(counted<core::push_args>(c) == "OK 2");
}

BOOST_FIXTURE_TEST_CASE(a_straggler_reply_is_counted, job<2>) {
  c.barrier(0, "b", 1s);
  c.at(1s);
  c.barrier(1, "b");

  BOOST_TEST(counted<core::barrier_args>(c) == "DEADLINE_EXCEEDED 2");
}

BOOST_FIXTURE_TEST_CASE(a_superseded_call_is_counted_as_cancelled, job<2>) {
  c.barrier(0, "b");
  c.barrier(0, "b");
  c.leave(0);
  c.leave(0);
  c.leave(0, 0s);

  BOOST_TEST(counted<core::barrier_args>(c) == "CANCELLED 1, INTERNAL 1");
  BOOST_TEST(counted<core::leave_args>(c) == "OK 1, CANCELLED 2");
}

BOOST_FIXTURE_TEST_CASE(a_cancelled_request_has_no_outcome, job<2>) {
  c.cancel(c.get(0, "key"));

  BOOST_TEST(counted<core::get_args>(c) == "");
  BOOST_TEST(counted<core::cancel_args>(c) == "OK 1");
}

BOOST_FIXTURE_TEST_CASE(an_unknown_request_is_not_counted_as_a_heartbeat, job<1>) {
  c.send(0, std::monostate{});

  BOOST_TEST(counted(c, core::unknown_operation) == "UNIMPLEMENTED 1");
  BOOST_TEST(counted<std::monostate>(c) == "");
  c.heartbeat(0);
  BOOST_TEST(counted<std::monostate>(c) == "OK 1");
}

BOOST_FIXTURE_TEST_CASE(refused_handshakes_are_counted, job<1>) {
  c.hello(core::hello_args{.job = "another"});
  c.blink(0);
  auto stale = c.resume_of(0);
  stale.session.value += 1000;
  c.say(c.dial(), {{}, 0, std::nullopt, stale});

  BOOST_TEST(counted<core::hello_args>(c) == "OK 1, FAILED_PRECONDITION 1");
  BOOST_TEST(counted<core::resume_args>(c) == "OK 1, ABORTED 1");
}

BOOST_FIXTURE_TEST_CASE(a_resent_reply_is_not_counted_again, job<1>) {
  c[0].deaf = true;
  c.put(0, "a", "1");
  c[0].deaf = false;
  c.blink(0);

  BOOST_TEST(counted<core::put_args>(c) == "OK 1");
}

BOOST_AUTO_TEST_CASE(timed_out_and_unresumed_sessions_are_counted_separately) {
  cluster c{2, {.recoverable = true}};
  c[0].beats = false;
  BOOST_TEST(c.lose(1).at(1h).logic().counts().heartbeats_expired == 1u);
  BOOST_TEST(c.logic().counts().graces_expired == 1u);
}

BOOST_FIXTURE_TEST_CASE(the_lateness_of_deadline_replies_is_recorded, job<2>) {
  c.barrier(0, "b", 1s);
  c.at(1s);
  c.get(0, "key", 100ms);
  c.stall(103ms);

  auto const& lateness = c.logic().counts().lateness;

  BOOST_TEST(lateness.count() == 2u);
  BOOST_TEST((lateness.sum() == 3ms));
}

BOOST_FIXTURE_TEST_CASE(an_open_round_is_not_in_the_history, job<2>) {
  c.barrier(0, "b");

  BOOST_TEST(c.last_round() == "none");
  BOOST_TEST(c.logic().counts().barrier_wait.count() == 0u);
}

// All tasks of one host arrive late together: measured from the second to last arrival, none of
// them would be late.
BOOST_FIXTURE_TEST_CASE(half_of_the_tasks_being_late_still_gives_a_lag, job<16>) {
  for (int i = 0; i < 8; ++i) c.barrier(i, "b");
  c.at(2s);
  for (int i = 8; i < 16; ++i) c.barrier(i, "b");

  BOOST_TEST(c.last_round() == "1 b round 1 OK 16 tasks at 2s spread 2s lag 2s last 15");
  BOOST_TEST_REQUIRE(c.look().stragglers.size() == 1u);
  BOOST_TEST((c.look().stragglers[0] == core::snapshot::straggler{task_id{15}, 1, 2s, 2s, 1}));
}

BOOST_FIXTURE_TEST_CASE(a_round_of_one_task_has_no_last_task, job<1>) {
  c.barrier(0, "b");

  BOOST_TEST(c.last_round() == "1 b round 1 OK 1 tasks at 0s spread 0s lag 0s last none");
  BOOST_TEST(c.look().stragglers.empty());
}

BOOST_FIXTURE_TEST_CASE(a_round_that_all_callers_cancelled_is_not_counted, job<2>) {
  BOOST_TEST(c.cancel(c.barrier(0, "b")).last_round() == "none");
}

BOOST_AUTO_TEST_CASE(rounds_are_counted_by_outcome_and_duration) {
  cluster c{2};
  c.at(1s);
  c.barrier(0, "b");
  c.at(3s);
  c.barrier(1, "b");
  c.barrier(0, "b", 4s);
  c.at(7s);

  auto const& counts = c.logic().counts();

  BOOST_TEST(counts.rounds[static_cast<std::size_t>(errc::ok)] == 1u);
  BOOST_TEST(counts.rounds[static_cast<std::size_t>(errc::deadline_exceeded)] == 1u);
  BOOST_TEST(counts.barrier_wait.count() == 2u);
  BOOST_TEST((counts.barrier_wait.sum() == 6s));
}

BOOST_FIXTURE_TEST_CASE(stragglers_are_listed_with_the_rounds, job<2>) {
  for (int i = 0; i < 3; ++i) {
    c.barrier(0, "b");
    c.pass(2s);
    c.barrier(1, "b");
  }

  auto const seen = c.look();

  BOOST_TEST(seen.rounds.size() == 3u);
  BOOST_TEST_REQUIRE(seen.stragglers.size() == 1u);
  BOOST_TEST((seen.stragglers[0] == core::snapshot::straggler{task_id{1}, 3, 2s, 2s, 3}));
}

// So one portion of due deadlines has few of them, as it has of requests.
BOOST_FIXTURE_TEST_CASE(a_round_that_expires_costs_steps_for_its_tasks, job<64>) {
  auto const call = c.send(0, core::barrier_args{.name = "b", .timeout = 1s}, 1s);
  auto const before = c.logic().counts().steps;

  c.pass(1s);

  BOOST_TEST(c.code(call) == "DEADLINE_EXCEEDED");
  BOOST_TEST(c.logic().counts().steps - before >= 64u / 16 + 63u / 4);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
