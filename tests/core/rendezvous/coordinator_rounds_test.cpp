// Numbered rounds: edge cases of §6.1, and §6.6.4.

#include "tests/core/steps.hpp"
#include "tests/main/sanitized.hpp"
#include "tests/wire/live_bytes.hpp"

namespace coxswain::test {
namespace {

BOOST_AUTO_TEST_SUITE(coordinator_rounds_test)

rows const cases{
    {"a_straggler_of_a_failed_round_gets_that_failure_once", 3,
     "0 barrier b 1s; 1 barrier b 1s; at 1s; replies; 2 barrier b -> round 1 DEADLINE_EXCEEDED 2/3 "
     "missing 2; again = 2 barrier b; again -> waits; 0 barrier b; 1 barrier b; again -> round 2"},
    {"a_straggler_cannot_release_the_next_round", 2,
     "0 barrier b 1s; at 1s; next = 0 barrier b 60s; 1 barrier b -> round 1 DEADLINE_EXCEEDED 1/2 "
     "missing 1; next -> waits; 1 barrier b; next -> round 2"},
    {"a_straggler_of_one_name_owes_nothing_to_another", 2,
     "0 barrier a 1s; at 1s; 1 barrier b -> waits; 1 barrier a ~ round 1 DEADLINE_EXCEEDED"},
    {"a_caller_that_cancelled_before_the_failure_is_a_straggler_like_others", 3,
     "0 barrier b 5s; gone = 1 barrier b 60s; cancel gone; at 5s; "
     "1 barrier b -> round 1 DEADLINE_EXCEEDED 1/3 missing 1-2"},
    // It was no participant of the last round, so it may not change the participants.
    {"a_participant_that_never_was_asked_is_owed_nothing", 3,
     "0 barrier b 1s t0 t1; at 1s; 2 barrier b 300s t0 t2 -> INVALID_ARGUMENT; "
     "1 barrier b 300s t0 t1 ~ round 1 DEADLINE"},
    {"a_straggler_gets_its_failure_whatever_participants_it_names", 3,
     "0 barrier b 1s; at 1s; 1 barrier b 300s t1 t2 ~ round 1 DEADLINE_EXCEEDED"},
    {"passed_barrier_returns_immediately_only_for_a_request_sent_again_replaced", 2,
     "zero = 0 barrier b; deaf 1; 1 barrier b; zero -> round 1; hears 1; blink 1; "
     "replies -> 0:OK 1:OK; 1 barrier b -> waits"},
    {"a_task_that_joined_after_a_round_had_ended_is_not_owed_it", 2,
     "empty; observer x; observer x2; 0/0 joins 1; 0 barrier b 1s; at 1s; 1/1 joins 2; "
     "fresh = 1 barrier b; fresh -> waits; 0 barrier b; fresh -> round 2",
     config{.join_barrier = false}},
    {"a_task_that_joined_while_a_round_was_open_takes_part_in_it", 2,
     "empty; observer x; observer x2; 0/0 joins 1; open = 0 barrier b 10s; at 5s; 1/1 joins 2; "
     "1 barrier b; open -> round 1",
     config{.join_barrier = false}},
    {"a_task_that_was_there_and_missed_the_open_round_is_owed_its_failure", 2,
     "empty; observer x; observer x2; 0/0 joins 1; 0 barrier b 10s; at 5s; 1/1 joins 2; at 10s; "
     "1 barrier b ~ round 1 DEADLINE_EXCEEDED",
     config{.join_barrier = false}},
    {"the_same_incarnation_in_another_session_is_owed_what_it_was", 2,
     "0 barrier b 1s; at 1s; observer moved; moved/1 joins 101; "
     "moved barrier b ~ round 1 DEADLINE_EXCEEDED"},
    {"a_job_that_shrank_may_use_its_names_with_fewer_participants", 3,
     "0 barrier b; 1 barrier b; 2 barrier b; replies; 0 barrier b 300s t0 t1; "
     "1 barrier b 300s t0 t1 -> round 2"},
    {"who_took_part_may_also_let_others_in", 3,
     "0 barrier b 300s t0 t1; 1 barrier b 300s t0 t1; first = 1 barrier b; 2 barrier b; "
     "0 barrier b; first -> round 2"},
    // §6.6.4.
    {"who_took_no_part_may_not_open_the_next_round_with_others", 3,
     "0 barrier b 300s t0 t1; 1 barrier b 300s t0 t1; refused = 2 barrier b; refused -> "
     "INVALID_ARGUMENT; refused ~ 'b' ... round 1 ... participants without task 2; barriers -> 0"},
    // Two tasks got the failure; it is kept for the third.
    {"within_a_round_all_calls_must_name_the_same_participants", 3,
     "zero = 0 barrier b; one = 1 barrier b 300s t0 t1; zero one -> INVALID_ARGUMENT "
     "INVALID_ARGUMENT; zero ~ Barrier 'b' round 1 ... task 1 ... participants 0-1 instead of 0-2; "
     "2 barrier b ~ round 1 INVALID_ARGUMENT; next = 0 barrier b; 1 barrier b; 2 barrier b; next "
     "-> round 2"},
    {"a_caller_that_contradicts_its_own_earlier_call_spoils_the_round", 3,
     "first = 0 barrier b; second = 0 barrier b 300s t0 t1; "
     "first second -> INVALID_ARGUMENT INVALID_ARGUMENT"},
    // §2.2: a round's outcome is kept until each participant's session has acknowledged it.
    {"the_one_that_spoiled_a_round_is_answered_again_when_its_reply_was_lost", 3,
     "0 barrier b; deaf 1; spoiler = 1 barrier b 300s t0 t1; hears 1; blink 1; "
     "spoiler -> INVALID_ARGUMENT; barriers -> 0"},
    {"after_a_job_error_nothing_is_owed_any_more", 3,
     "0 barrier b 1s; at 1s; 2 reports boom; 1 barrier b -> FAILED_PRECONDITION"},
};

BOOST_FIXTURE_TEST_CASE(a_straggler_of_several_rounds_gets_each_failure_in_turn, job<2>) {
  for (int i = 1; i <= 3; ++i) {
    c.barrier(0, "b", 1s);
    c.pass(1s);
  }

  for (std::uint64_t round = 1; round <= 3; ++round) {
    BOOST_TEST(
        contains(c.round(c.barrier(1, "b")), "round " + std::to_string(round) + " DEADLINE"));
  }
  auto const own = c.barrier(1, "b");
  BOOST_TEST(c.after(c.barrier(0, "b")).round(own) == "round 4");
}

BOOST_AUTO_TEST_CASE(every_straggler_gets_the_failure_and_those_who_were_there_do_not_again) {
  cluster c{4};
  auto const there = c.barrier(0, "b", 1s);
  c.at(1s);
  for (int i = 1; i < 4; ++i) {
    auto const late = c.barrier(i, "b");
    BOOST_TEST(c.text(late) == c.text(there));
  }
  BOOST_TEST(c.code(c.barrier(0, "b")) == "waits");
}

BOOST_AUTO_TEST_CASE(a_task_that_left_and_joined_again_is_owed_nothing_of_before) {
  for (std::uint64_t const self : {100u, 999u}) {
    cluster c{2};
    c.barrier(1, "b", 1s);
    c.at(1s);
    c.leave(0, 0s);
    c.join({0, 0}, self);

    auto const fresh = c.barrier(0, "b");

    BOOST_TEST(c.code(fresh) == "waits");
    BOOST_TEST(c.after(c.barrier(1, "b")).round(fresh) == "round 2");
  }
}

// Without the cluster harness, which would take longer than the coordinator.
BOOST_FIXTURE_TEST_CASE(a_million_unique_names_do_not_grow_memory, job<2>) {
  auto& logic = c.logic();
  std::vector<core::outgoing> out;
  std::vector<core::event> events;
  core::client_message m;
  std::size_t after_warming = 0;
  constexpr int names = is_sanitized ? 100'000 : 1'000'000;
  for (int i = 0; i < names; ++i) {
    if (i == 10'000) after_warming = live_bytes();
    m.id = request_id{static_cast<std::uint64_t>(i) + 10};
    m.answered_through = static_cast<std::uint64_t>(i) + 1;
    for (int t = 0; t < 2; ++t) {
      m.what = core::barrier_args{.name = "step_" + std::to_string(i)};
      logic.received(t0, c[t].connection, core::client_message{m});
    }
    logic.take_outgoing(out);
    logic.take_events(events);
    BOOST_TEST_REQUIRE(out.size() == 2u);
    BOOST_TEST_REQUIRE(out[0].what->outcome.ok());
  }

  BOOST_TEST(live_bytes() < after_warming + 100'000);
  c[0].answered = c[1].answered = names + 1;
}

BOOST_FIXTURE_TEST_CASE(names_that_rest_cost_no_room_for_arrivals_of_a_large_job, job<3000>) {
  auto const round = [&](int number) {
    for (int i = 0; i < 3000; ++i) c.barrier(i, "n" + std::to_string(number));
    for (int i = 0; i < 3000; ++i) c[i].answers.clear();
    c.replies();
  };
  for (int i = 0; i < 10; ++i) round(i);
  std::size_t const before = live_bytes();

  for (int i = 10; i < 60; ++i) round(i);

  BOOST_TEST(live_bytes() < before + 500'000);
}

BOOST_AUTO_TEST_CASE(outcomes_beyond_the_bound_are_forgotten_and_their_calls_aborted) {
  cluster c{2, {.owed_outcomes_max = 5}};
  for (int i = 0; i < 6; ++i) {
    c.barrier(0, "b" + std::to_string(i), 1s);
    c.pass(1s);
  }

  auto const oldest = c.barrier(1, "b0");

  BOOST_TEST(c.code(oldest) == "ABORTED");
  expect_words(c.text(oldest), {"round 1", "'b0'", "discarded"});
  for (int i = 1; i < 6; ++i) {
    BOOST_TEST(contains(c.round(c.barrier(1, "b" + std::to_string(i))), "DEADLINE_EXCEEDED"));
  }
  BOOST_TEST(c.code(c.barrier(1, "b0")) == "waits");
}

BOOST_AUTO_TEST_CASE(failed_rounds_that_everybody_knows_of_cost_nothing) {
  cluster c{2, {.owed_outcomes_max = 1}};
  for (int i = 0; i < 100; ++i) {
    std::string const name = "b" + std::to_string(i);
    c.barrier(0, name, 1s);
    c.pass(1s);
    BOOST_TEST(contains(c.round(c.barrier(1, name)), "round 1 DEADLINE_EXCEEDED"));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
