// Count barriers: §6.5.

#include "tests/core/cluster.hpp"

namespace coxswain::test {
namespace {

BOOST_AUTO_TEST_SUITE(coordinator_count_barrier_test)

BOOST_FIXTURE_TEST_CASE(the_nth_arrival_releases_all, job<1>) {
  int const a = c.observer();
  int const b = c.observer();
  auto const first = c.count_barrier(a, "n", 3);
  BOOST_TEST(c.after(c.count_barrier(b, "n", 3)).replies() == "");

  BOOST_TEST(c.after(c.count_barrier(a, "n", 3)).replies() == "1:OK 2:OK 1:OK");
  BOOST_TEST(contains(c.round(first), "round "));
}

BOOST_FIXTURE_TEST_CASE(the_next_arrival_opens_a_new_round, job<1>) {
  int const a = c.observer();
  auto const one = c.count_barrier(a, "n", 1);
  auto const two = c.count_barrier(a, "n", 2);

  BOOST_TEST(c.code(one, two) == "OK waits");
  BOOST_TEST(c.after(c.count_barrier(a, "n", 2)).code(two) == "OK");
  BOOST_TEST(c.round(one) != c.round(two));
}

BOOST_FIXTURE_TEST_CASE(another_count_is_invalid_for_its_caller_only, job<1>) {
  int const a = c.observer();
  auto const waits = c.count_barrier(a, "n", 2);

  auto const wrong = c.count_barrier(0, "n", 3);

  BOOST_TEST(c.code(wrong) == "INVALID_ARGUMENT");
  expect_words(c.text(wrong), {"'n'", "count 2, not 3"});
  BOOST_TEST(c.code(waits) == "waits");
  BOOST_TEST(c.after(c.count_barrier(a, "n", 2)).code(waits) == "OK");
}

BOOST_FIXTURE_TEST_CASE(a_count_of_zero_is_invalid, job<1>) {
  BOOST_TEST(c.code(c.count_barrier(0, "n", 0)) == "INVALID_ARGUMENT");
}

BOOST_FIXTURE_TEST_CASE(a_deadline_removes_that_arrival_only_and_says_how_far_it_was, job<1>) {
  int const a = c.observer();
  auto const hasty = c.count_barrier(a, "n", 3, 1s);
  auto const patient = c.count_barrier(a, "n", 3, 60s);

  BOOST_TEST(c.at(1s - 1ns).code(hasty) == "waits");
  BOOST_TEST(c.at(1s).code(hasty) == "DEADLINE_EXCEEDED");
  expect_words("DEADLINE_EXCEEDED: " + c.text(hasty),
               {"DEADLINE_EXCEEDED: Barrier timed out.", "'n'", "1 s", "2 of 3"});
  BOOST_TEST(c.code(patient) == "waits");
  BOOST_TEST(c.after(c.count_barrier(a, "n", 3)).code(patient) == "waits");
  BOOST_TEST(c.after(c.count_barrier(a, "n", 3)).code(patient) == "OK");
}

BOOST_FIXTURE_TEST_CASE(a_cancellation_removes_that_arrival_only, job<1>) {
  int const a = c.observer();
  auto const stays = c.count_barrier(a, "n", 2);
  c.cancel(c.count_barrier(a, "m", 2));
  auto const goes = c.count_barrier(a, "k", 2);
  BOOST_TEST(c.cancel(goes).look().barriers.size() == 1u);
  BOOST_TEST(c.after(c.count_barrier(a, "n", 2)).code(stays) == "OK");
}

BOOST_AUTO_TEST_CASE(the_end_of_a_session_removes_its_arrivals_only) {
  for (bool const by_grace : {true, false}) {
    cluster c{1};
    int const a = c.observer();
    int const b = c.observer();
    auto const stays = c.count_barrier(a, "n", 2);
    c.count_barrier(b, "m", 2);
    c.count_barrier(b, "m2", 5);
    if (by_grace) {
      c.lose(b).pass(2s);
    } else {
      c.bye(b);
    }

    BOOST_TEST(c.look().barriers.size() == 1u);
    BOOST_TEST(c.code(stays) == "waits");
  }
}

BOOST_FIXTURE_TEST_CASE(after_all_are_gone_another_count_may_be_asked_for, job<1>) {
  int const a = c.observer();
  c.cancel(c.count_barrier(a, "n", 2));

  BOOST_TEST(c.after(c.count_barrier(a, "n", 1)).replies() == "1:OK");
}

BOOST_FIXTURE_TEST_CASE(the_arrival_of_a_lost_connection_stays_valid, job<1>) {
  int const a = c.observer();
  int const b = c.observer();
  auto const one = c.count_barrier(a, "n", 2);
  c.lose(a);
  BOOST_TEST(c.code(c.count_barrier(b, "n", 2)) == "OK");

  BOOST_TEST(c.resume(a).code(one) == "OK");
}

BOOST_FIXTURE_TEST_CASE(a_request_sent_again_after_a_resume_arrives_once, job<1>) {
  int const a = c.observer();
  auto const one = c.count_barrier(a, "n", 2);
  BOOST_TEST(c.blink(a).blink(a).look().barriers[0].arrived == 1u);

  BOOST_TEST(c.after(c.count_barrier(0, "n", 2)).code(one) == "OK");
}

BOOST_FIXTURE_TEST_CASE(tasks_may_use_them_too_and_go_on_after_a_job_error, job<2>) {
  auto const zero = c.count_barrier(0, "n", 2);
  BOOST_TEST(c.after(c.report_error(1, errc::internal, "boom")).code(zero) == "waits");

  BOOST_TEST(c.after(c.count_barrier(c.observer(), "n", 2)).code(zero) == "OK");
}

BOOST_FIXTURE_TEST_CASE(they_are_seen_live, job<1>) {
  int const a = c.observer();
  c.count_barrier(a, "n", 3);
  c.at(2s);

  auto const seen = c.look().barriers;

  BOOST_TEST_REQUIRE(seen.size() == 1u);
  BOOST_TEST((seen[0].what == core::snapshot::kind::count));
  BOOST_TEST(seen[0].name == "n");
  BOOST_TEST(seen[0].arrived == 1u);
  BOOST_TEST(seen[0].expected == 3u);
  BOOST_TEST(seen[0].missing == "");
  BOOST_TEST((seen[0].age == 2s));
}

BOOST_FIXTURE_TEST_CASE(without_limit_they_wait_on, job<1>) {
  auto const one = c.count_barrier(0, "n", 2, without_limit);

  BOOST_TEST(c.at(2h).code(one) == "waits");
}

BOOST_FIXTURE_TEST_CASE(a_timeout_of_zero_is_answered_in_the_same_iteration, job<1>) {
  auto const one = c.count_barrier(0, "n", 2, 0s);
  BOOST_TEST(c.at(0s).code(one) == "DEADLINE_EXCEEDED");
}

BOOST_FIXTURE_TEST_CASE(a_task_that_waits_at_one_is_named_where_it_is_missing, job<2>) {
  c.count_barrier(1, "n", 2);

  auto const b = c.barrier(0, "b", 5s);
  c.at(5s);

  expect_words(c.text(b), {"1 of 2 tasks is missing: 1 (connected", "waits for count barrier 'n'"});
}

// A client that is not connected yet may still arrive.
BOOST_FIXTURE_TEST_CASE(a_task_that_waits_at_one_is_never_stuck, job<2>) {
  c.log();
  c.count_barrier(0, "n", 2, 1h);
  c.barrier(1, "b", 1h);

  c.at(60s);

  BOOST_TEST(!contains(c.log(), "deadlock: "));
}

BOOST_AUTO_TEST_CASE(the_arrival_of_a_task_that_leaves_or_fails_is_its_sessions) {
  cluster c{2, {.leave_barrier = false, .recoverable = true}};
  auto const of_leaver = c.count_barrier(0, "n", 3);
  auto const of_failed = c.count_barrier(1, "n", 3);
  auto const reads = c.get(0, "k");
  auto const waits = c.barrier(1, "b");

  c.leave(0);
  BOOST_TEST(c.after(c.report_error(1, errc::internal, "boom")).code(reads) == "CANCELLED");
  BOOST_TEST(c.code(waits) != "waits");
  BOOST_TEST(c.code(of_leaver, of_failed) == "waits waits");
  BOOST_TEST(c.after(c.count_barrier(c.observer(), "n", 3)).code(of_leaver) == "OK");
  BOOST_TEST(c.code(of_failed) == "OK");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
