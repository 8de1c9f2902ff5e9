// Count barriers: §6.5.

#include "tests/core/steps.hpp"

namespace coxswain::test {
namespace {

BOOST_AUTO_TEST_SUITE(coordinator_count_barrier_test)

rows const cases{
    {"the_nth_arrival_releases_all", 1,
     "observer a; observer b; first = a counts n 3; b counts n 3; replies ->; a counts n 3; "
     "replies -> 1:OK 2:OK 1:OK; first ~ round"},
    {"another_count_is_invalid_for_its_caller_only", 1,
     "observer a; waits = a counts n 2; wrong = 0 counts n 3; wrong -> INVALID_ARGUMENT; "
     "wrong ~ 'n' ... count 2, not 3; waits -> waits; a counts n 2; waits -> OK"},
    {"a_count_of_zero_is_invalid", 1, "0 counts n 0 -> INVALID_ARGUMENT"},
    {"a_deadline_removes_that_arrival_only_and_says_how_far_it_was", 1,
     "observer a; hasty = a counts n 3 1s; patient = a counts n 3 60s; at 1s-; hasty -> waits; at "
     "1s; hasty -> DEADLINE_EXCEEDED; hasty ~ DEADLINE_EXCEEDED: Barrier timed out. ... 'n' ... 1 "
     "s ... 2 of 3; patient -> waits; a counts n 3; patient -> waits; a counts n 3; patient -> OK"},
    {"a_cancellation_removes_that_arrival_only", 1,
     "observer a; stays = a counts n 2; gone = a counts m 2; cancel gone; goes = a counts k 2; "
     "cancel goes; barriers -> 1; a counts n 2; stays -> OK"},
    {"after_all_are_gone_another_count_may_be_asked_for", 1,
     "observer a; gone = a counts n 2; cancel gone; a counts n 1; replies -> 1:OK"},
    {"the_arrival_of_a_lost_connection_stays_valid", 1,
     "observer a; observer b; one = a counts n 2; cut a; b counts n 2 -> OK; resume a; one -> OK"},
    {"tasks_may_use_them_too_and_go_on_after_a_job_error", 2,
     "zero = 0 counts n 2; 1 reports boom; zero -> waits; observer x; x counts n 2; zero -> OK"},
    {"without_limit_they_wait_on", 1, "one = 0 counts n 2 for-ever; at 7200s; one -> waits"},
    {"a_timeout_of_zero_is_answered_in_the_same_iteration", 1,
     "one = 0 counts n 2 0s; at 0s; one -> DEADLINE_EXCEEDED"},
    {"a_task_that_waits_at_one_is_named_where_it_is_missing", 2,
     "1 counts n 2; b = 0 barrier b 5s; at 5s; "
     "b ~ 1 of 2 tasks is missing: 1 (connected ... waits for count barrier 'n'"},
    // A client that is not connected yet may still arrive.
    {"a_task_that_waits_at_one_is_never_stuck", 2,
     "log; 0 counts n 2 3600s; 1 barrier b 3600s; at 60s; log !~ deadlock:"},
    {"the_arrival_of_a_task_that_leaves_or_fails_is_its_sessions", 2,
     "of_leaver = 0 counts n 3; of_failed = 1 counts n 3; reads = 0 get k; waits = 1 barrier b; 0 "
     "leaves; 1 reports boom; reads -> CANCELLED; waits !~ waits; of_leaver of_failed -> waits "
     "waits; observer x; x counts n 3; of_leaver -> OK; of_failed -> OK",
     config{.leave_barrier = false, .recoverable = true}},
    {"a_request_sent_again_after_a_resume_arrives_once", 1,
     "observer a; one = a counts n 2; blink a; blink a; arrived -> 1; 0 counts n 2; one -> OK"},
};

BOOST_FIXTURE_TEST_CASE(the_next_arrival_opens_a_new_round, job<1>) {
  int const a = c.observer();
  auto const one = c.count_barrier(a, "n", 1);
  auto const two = c.count_barrier(a, "n", 2);

  BOOST_TEST(c.code(one, two) == "OK waits");
  BOOST_TEST(c.after(c.count_barrier(a, "n", 2)).code(two) == "OK");
  BOOST_TEST(c.round(one) != c.round(two));
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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
