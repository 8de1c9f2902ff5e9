// Cancelling a round: §6.4, and §6.6.6.

#include "tests/core/cluster.hpp"

#include "coxswain/core/model/reasons.hpp"

namespace coxswain::test {
namespace {

BOOST_AUTO_TEST_SUITE(coordinator_cancel_test)

BOOST_FIXTURE_TEST_CASE(barrier_cancelled, job<2>) {
  auto const waiting = c.barrier(0, "b");

  auto const cancel = c.cancel(0, "b");

  BOOST_TEST(c.code(cancel) == "OK");
  BOOST_TEST(c.round(waiting) == "round 1 CANCELLED 1/2 missing 1");
  expect_words(c.text(waiting), {"Barrier 'b' round 1 failed", "cancelled by task 0 (host0:1000)",
                                 "1 of 2 tasks had arrived"});
}

BOOST_AUTO_TEST_CASE(
    cancel_barrier_ongoing_barrier_cancelled_by_a_participant_that_has_not_arrived) {
  cluster c{3};
  auto const zero = c.barrier(0, "b");
  auto const one = c.barrier(1, "b");

  BOOST_TEST(c.code(c.cancel(2, "b", 1)) == "OK");

  BOOST_TEST(c.code(zero) == "CANCELLED");
  BOOST_TEST(c.code(one) == "CANCELLED");
}

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

BOOST_FIXTURE_TEST_CASE(cancel_after_barrier_has_passed, job<2>) {
  auto const zero = c.barrier(0, "b");
  c.barrier(1, "b");

  auto const cancel = c.cancel(0, "b");

  BOOST_TEST(c.code(cancel, zero) == "FAILED_PRECONDITION OK");
}

BOOST_AUTO_TEST_CASE(cancel_non_existent_barrier_fails_and_cancel_barrier_non_existent_fails) {
  cluster c{2};
  auto const cancel = c.cancel(0, "b");

  BOOST_TEST(c.code(cancel) == "FAILED_PRECONDITION");
  expect_words(c.text(cancel), {"'b'", "no open round"});
}

// Upstream, such a cancel succeeds and makes the next use of the name fail.
BOOST_FIXTURE_TEST_CASE(cancel_non_existent_barrier_future_barrier_fails_replaced, job<2>) {
  c.cancel(0, "b");

  c.barrier(0, "b");
  BOOST_TEST(c.after(c.barrier(1, "b")).replies() == "0:FAILED_PRECONDITION 0:OK 1:OK");
}

BOOST_AUTO_TEST_CASE(
    cancel_barrier_completed_barrier_fails_and_cancel_barrier_errored_barrier_fails) {
  cluster c{2};
  c.barrier(0, "b", 1s);
  c.at(1s);
  BOOST_TEST(c.code(c.cancel(0, "b")) == "FAILED_PRECONDITION");
  BOOST_TEST(c.code(c.cancel(1, "b", 1)) == "FAILED_PRECONDITION");
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

BOOST_FIXTURE_TEST_CASE(a_task_that_takes_no_part_may_not_cancel, job<3>) {
  auto const zero = c.barrier(0, "b", 300s, {.among = {0, 1}});

  auto const cancel = c.cancel(2, "b");

  BOOST_TEST(c.code(cancel) == "PERMISSION_DENIED");
  expect_words(c.text(cancel), {"task 2", "'b'"});
  BOOST_TEST(c.code(zero) == "waits");
}

BOOST_FIXTURE_TEST_CASE(an_observer_may_cancel_and_is_named, job<2>) {
  auto const zero = c.barrier(0, "b");
  int const o = c.observer("cli:77");

  BOOST_TEST(c.code(c.cancel(o, "b")) == "OK");

  expect_words(c.text(zero), {"cancelled by observer cli:77"});
}

BOOST_FIXTURE_TEST_CASE(a_straggler_of_a_cancelled_round_gets_cancelled_once, job<3>) {
  c.barrier(0, "b");
  c.cancel(0, "b");

  BOOST_TEST(contains(c.round(c.barrier(1, "b")), "round 1 CANCELLED"));
  BOOST_TEST(contains(c.round(c.barrier(2, "b")), "round 1 CANCELLED"));
  auto const next = c.barrier(0, "b");
  c.barrier(1, "b");
  BOOST_TEST(c.after(c.barrier(2, "b")).round(next) == "round 2");
}

BOOST_FIXTURE_TEST_CASE(a_cancelled_round_leaves_no_deadline_and_no_log_behind, job<2>) {
  c.barrier(0, "b", 20s, {.progress_every = 1s});
  c.cancel(0, "b");
  c.replies();
  c.log();

  BOOST_TEST(c.at(60s).replies() == "");
  BOOST_TEST(c.log() == "");
}

BOOST_FIXTURE_TEST_CASE(count_barriers_are_not_cancelled, job<1>) {
  int const o = c.observer();
  auto const waits = c.count_barrier(o, "b", 2);

  BOOST_TEST(c.code(c.cancel(o, "b")) == "FAILED_PRECONDITION");
  BOOST_TEST(c.code(waits) == "waits");
}

BOOST_AUTO_TEST_CASE(the_wait_of_a_suspect_task_is_cancelled_and_it_learns_it_when_it_is_back) {
  cluster c{2};
  auto const zero = c.barrier(0, "b");
  c.lose(0);
  c.cancel(1, "b");

  BOOST_TEST(c.resume(0).code(zero) == "CANCELLED");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
