// Cancelling a round: §6.4, and §6.6.6.

#include "tests/core/steps.hpp"

namespace coxswain::test {
namespace {

BOOST_AUTO_TEST_SUITE(coordinator_cancel_test)

rows const cases{
    {"barrier_cancelled", 2,
     "waiting = 0 barrier b; 0 cancels b -> OK; waiting -> round 1 CANCELLED 1/2 missing 1; "
     "waiting ~ Barrier 'b' round 1 failed ... cancelled by task 0 (host0:1000) ... 1 of 2 tasks "
     "had arrived"},
    {"cancel_barrier_ongoing_barrier_cancelled_by_a_participant_that_has_not_arrived", 3,
     "zero = 0 barrier b; one = 1 barrier b; 2 cancels b 1 -> OK; zero -> CANCELLED; "
     "one -> CANCELLED"},
    {"cancel_after_barrier_has_passed", 2,
     "zero = 0 barrier b; 1 barrier b; cancel_ = 0 cancels b; "
     "cancel_ zero -> FAILED_PRECONDITION OK"},
    {"cancel_non_existent_barrier_fails_and_cancel_barrier_non_existent_fails", 2,
     "cancel_ = 0 cancels b; cancel_ -> FAILED_PRECONDITION; cancel_ ~ 'b' ... no open round"},
    // Upstream, such a cancel succeeds and makes the next use of the name fail.
    {"cancel_non_existent_barrier_future_barrier_fails_replaced", 2,
     "0 cancels b; 0 barrier b; 1 barrier b; replies -> 0:FAILED_PRECONDITION 0:OK 1:OK"},
    {"cancel_barrier_completed_barrier_fails_and_cancel_barrier_errored_barrier_fails", 2,
     "0 barrier b 1s; at 1s; 0 cancels b -> FAILED_PRECONDITION; "
     "1 cancels b 1 -> FAILED_PRECONDITION"},
    {"a_task_that_takes_no_part_may_not_cancel", 3,
     "zero = 0 barrier b 300s t0 t1; cancel_ = 2 cancels b; cancel_ -> PERMISSION_DENIED; "
     "cancel_ ~ task 2 ... 'b'; zero -> waits"},
    {"an_observer_may_cancel_and_is_named", 2,
     "zero = 0 barrier b; observer o cli:77; o cancels b -> OK; zero ~ cancelled by cli:77"},
    {"a_straggler_of_a_cancelled_round_gets_cancelled_once", 3,
     "0 barrier b; 0 cancels b; 1 barrier b ~ round 1 CANCELLED; 2 barrier b ~ round 1 CANCELLED; "
     "next = 0 barrier b; 1 barrier b; 2 barrier b; next -> round 2"},
    {"a_cancelled_round_leaves_no_deadline_and_no_log_behind", 2,
     "0 barrier b 20s progress=1s; 0 cancels b; replies; log; at 60s; replies ->; log ->"},
    {"count_barriers_are_not_cancelled", 1,
     "observer o; waits = o counts b 2; o cancels b -> FAILED_PRECONDITION; waits -> waits"},
    {"the_wait_of_a_suspect_task_is_cancelled_and_it_learns_it_when_it_is_back", 2,
     "zero = 0 barrier b; cut 0; 1 cancels b; resume 0; zero -> CANCELLED"},
};

BOOST_FIXTURE_TEST_CASE(the_operator_of_the_coordinator_cancels_a_round_and_is_named, job<2>) {
  auto const waiting = c.barrier(0, "b");

  BOOST_TEST(c.operator_cancels("b", 1, "10.0.0.9 over HTTP").ok());

  BOOST_TEST(c.round(waiting) == "round 1 CANCELLED 1/2 missing 1");
  expect_words(c.text(waiting), {"Barrier 'b' round 1 failed", "cancelled by 10.0.0.9 over HTTP"});
}

BOOST_FIXTURE_TEST_CASE(the_operator_cancels_only_a_round_that_is_open, job<2>) {
  auto const waiting = c.barrier(0, "b");

  auto const other = c.operator_cancels("b", 2, "me");
  auto const none = c.operator_cancels("c", {}, "me");

  BOOST_TEST(other == core::fail<&core::reasons::other_round_is_open>("b", 1, 2));
  BOOST_TEST(states(none, &core::reasons::no_open_round));
  BOOST_TEST((c.operator_cancels("", {}, "me").code() == errc::invalid_argument));
  BOOST_TEST(c.code(waiting) == "waits");
}

// Upstream a client always cancels round 0 (sharp edge 8).
BOOST_FIXTURE_TEST_CASE(later_rounds_can_be_cancelled_with_and_without_their_number, job<1>) {
  c.barrier(0, "b", 1s, {.among = {0}});
  cluster two{2};
  for (int i = 0; i < 3; ++i) {
    two.barrier(0, "b");
    two.barrier(1, "b");
  }
  auto const fourth = two.barrier(0, "b");
  BOOST_TEST(two.code(two.cancel(0, "b", 4)) == "OK");
  BOOST_TEST(two.code(fourth) == "CANCELLED");
}

BOOST_FIXTURE_TEST_CASE(another_round_than_the_open_one_is_not_cancelled, job<2>) {
  c.barrier(0, "b");
  c.barrier(1, "b");
  auto const second = c.barrier(0, "b");

  for (std::uint64_t const round : {0u, 1u, 3u}) {
    auto const cancel = c.cancel(0, "b", round);
    BOOST_TEST(c.code(cancel) == "FAILED_PRECONDITION");
    expect_words(c.text(cancel), {"round", "'b'", "is 2, not " + std::to_string(round)});
  }
  BOOST_TEST(c.code(second) == "waits");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
