// Numbered rounds: edge cases of §6.1, and §6.6.4.

#include "tests/core/cluster.hpp"
#include "tests/main/sanitized.hpp"
#include "tests/wire/live_bytes.hpp"

namespace coxswain::test {
namespace {

BOOST_AUTO_TEST_SUITE(coordinator_rounds_test)

BOOST_FIXTURE_TEST_CASE(a_straggler_of_a_failed_round_gets_that_failure_once, job<3>) {
  c.barrier(0, "b", 1s);
  c.barrier(1, "b", 1s);
  c.at(1s);
  c.replies();

  BOOST_TEST(c.round(c.barrier(2, "b")) == "round 1 DEADLINE_EXCEEDED 2/3 missing 2");
  auto const again = c.barrier(2, "b");
  BOOST_TEST(c.code(again) == "waits");
  c.barrier(0, "b");
  BOOST_TEST(c.after(c.barrier(1, "b")).round(again) == "round 2");
}

BOOST_FIXTURE_TEST_CASE(a_straggler_cannot_release_the_next_round, job<2>) {
  c.barrier(0, "b", 1s);
  c.at(1s);
  auto const next = c.barrier(0, "b", 60s);

  BOOST_TEST(c.round(c.barrier(1, "b")) == "round 1 DEADLINE_EXCEEDED 1/2 missing 1");
  BOOST_TEST(c.code(next) == "waits");
  BOOST_TEST(c.after(c.barrier(1, "b")).round(next) == "round 2");
}

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

BOOST_FIXTURE_TEST_CASE(a_straggler_of_one_name_owes_nothing_to_another, job<2>) {
  c.barrier(0, "a", 1s);
  c.at(1s);

  BOOST_TEST(c.code(c.barrier(1, "b")) == "waits");
  BOOST_TEST(contains(c.round(c.barrier(1, "a")), "round 1 DEADLINE_EXCEEDED"));
}

BOOST_AUTO_TEST_CASE(a_caller_that_cancelled_before_the_failure_is_a_straggler_like_others) {
  cluster c{3};
  c.barrier(0, "b", 5s);
  c.cancel(c.barrier(1, "b", 60s)).at(5s);

  BOOST_TEST(c.round(c.barrier(1, "b")) == "round 1 DEADLINE_EXCEEDED 1/3 missing 1-2");
}

BOOST_FIXTURE_TEST_CASE(a_participant_that_never_was_asked_is_owed_nothing, job<3>) {
  c.barrier(0, "b", 1s, {.among = {0, 1}});
  c.at(1s);

  auto const outsider = c.barrier(2, "b", 300s, {.among = {0, 2}});

  // It was no participant of the last round, so it may not change the participants.
  BOOST_TEST(c.code(outsider) == "INVALID_ARGUMENT");
  BOOST_TEST(contains(c.round(c.barrier(1, "b", 300s, {.among = {0, 1}})), "round 1 DEADLINE"));
}

BOOST_FIXTURE_TEST_CASE(a_straggler_gets_its_failure_whatever_participants_it_names, job<3>) {
  c.barrier(0, "b", 1s);
  c.at(1s);

  auto const late = c.barrier(1, "b", 300s, {.among = {1, 2}});

  BOOST_TEST(contains(c.round(late), "round 1 DEADLINE_EXCEEDED"));
}

BOOST_AUTO_TEST_CASE(passed_barrier_returns_immediately_only_for_a_request_sent_again_replaced) {
  cluster c{2};
  auto const zero = c.barrier(0, "b");
  c[1].deaf = true;
  c.barrier(1, "b");
  BOOST_TEST(c.round(zero) == "round 1");
  c[1].deaf = false;

  c.blink(1);

  BOOST_TEST(c.replies() == "0:OK 1:OK");
  BOOST_TEST(c.code(c.barrier(1, "b")) == "waits");
}

BOOST_AUTO_TEST_CASE(a_task_that_joined_after_a_round_had_ended_is_not_owed_it) {
  auto c = cluster::without_clients(2, {.join_barrier = false});
  c.observer();
  c.observer();
  c.join({0, 0}, 1);
  c.barrier(0, "b", 1s);
  c.at(1s);
  c.join({1, 1}, 2);

  auto const fresh = c.barrier(1, "b");

  BOOST_TEST(c.code(fresh) == "waits");
  BOOST_TEST(c.after(c.barrier(0, "b")).round(fresh) == "round 2");
}

BOOST_AUTO_TEST_CASE(a_task_that_joined_while_a_round_was_open_takes_part_in_it) {
  auto c = cluster::without_clients(2, {.join_barrier = false});
  c.observer();
  c.observer();
  c.join({0, 0}, 1);
  auto const open = c.barrier(0, "b", 10s);
  c.at(5s);
  c.join({1, 1}, 2);

  BOOST_TEST(c.after(c.barrier(1, "b")).round(open) == "round 1");
}

BOOST_AUTO_TEST_CASE(a_task_that_was_there_and_missed_the_open_round_is_owed_its_failure) {
  auto c = cluster::without_clients(2, {.join_barrier = false});
  c.observer();
  c.observer();
  c.join({0, 0}, 1);
  c.barrier(0, "b", 10s);
  c.at(5s);
  c.join({1, 1}, 2);
  c.at(10s);

  BOOST_TEST(contains(c.round(c.barrier(1, "b")), "round 1 DEADLINE_EXCEEDED"));
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

BOOST_FIXTURE_TEST_CASE(the_same_incarnation_in_another_session_is_owed_what_it_was, job<2>) {
  c.barrier(0, "b", 1s);
  c.at(1s);
  int const moved = c.observer();
  c.join({moved, 1}, 101);

  BOOST_TEST(contains(c.round(c.barrier(moved, "b")), "round 1 DEADLINE_EXCEEDED"));
}

BOOST_FIXTURE_TEST_CASE(a_job_that_shrank_may_use_its_names_with_fewer_participants, job<3>) {
  for (int i = 0; i < 3; ++i) c.barrier(i, "b");
  c.replies();

  c.barrier(0, "b", 300s, {.among = {0, 1}});
  BOOST_TEST(c.round(c.barrier(1, "b", 300s, {.among = {0, 1}})) == "round 2");
}

BOOST_FIXTURE_TEST_CASE(who_took_part_may_also_let_others_in, job<3>) {
  c.barrier(0, "b", 300s, {.among = {0, 1}});
  c.barrier(1, "b", 300s, {.among = {0, 1}});
  auto const first = c.barrier(1, "b");
  c.barrier(2, "b");
  BOOST_TEST(c.after(c.barrier(0, "b")).round(first) == "round 2");
}

// §6.6.4.
BOOST_FIXTURE_TEST_CASE(who_took_no_part_may_not_open_the_next_round_with_others, job<3>) {
  c.barrier(0, "b", 300s, {.among = {0, 1}});
  c.barrier(1, "b", 300s, {.among = {0, 1}});

  auto const refused = c.barrier(2, "b");

  BOOST_TEST(c.code(refused) == "INVALID_ARGUMENT");
  expect_words(c.text(refused), {"'b'", "round 1", "participants without task 2"});
  BOOST_TEST(c.look().barriers.empty());
}

BOOST_FIXTURE_TEST_CASE(within_a_round_all_calls_must_name_the_same_participants, job<3>) {
  auto const zero = c.barrier(0, "b");
  auto const one = c.barrier(1, "b", 300s, {.among = {0, 1}});

  BOOST_TEST(c.code(zero, one) == "INVALID_ARGUMENT INVALID_ARGUMENT");
  expect_words(c.text(zero), {"Barrier 'b' round 1", "task 1", "participants 0-1 instead of 0-2"});
  // Two tasks got the failure; it is kept for the third.
  BOOST_TEST(contains(c.round(c.barrier(2, "b")), "round 1 INVALID_ARGUMENT"));
  auto const next = c.barrier(0, "b");
  c.barrier(1, "b");
  BOOST_TEST(c.after(c.barrier(2, "b")).round(next) == "round 2");
}

BOOST_FIXTURE_TEST_CASE(a_caller_that_contradicts_its_own_earlier_call_spoils_the_round, job<3>) {
  auto const first = c.barrier(0, "b");
  auto const second = c.barrier(0, "b", 300s, {.among = {0, 1}});

  BOOST_TEST(c.code(first, second) == "INVALID_ARGUMENT INVALID_ARGUMENT");
}

// §2.2: a round's outcome is kept until each participant's session has acknowledged it.
BOOST_AUTO_TEST_CASE(the_one_that_spoiled_a_round_is_answered_again_when_its_reply_was_lost) {
  cluster c{3};
  c.barrier(0, "b");
  c[1].deaf = true;
  auto const spoiler = c.barrier(1, "b", 300s, {.among = {0, 1}});
  c[1].deaf = false;

  BOOST_TEST(c.blink(1).code(spoiler) == "INVALID_ARGUMENT");
  BOOST_TEST(c.look().barriers.empty());
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

BOOST_FIXTURE_TEST_CASE(after_a_job_error_nothing_is_owed_any_more, job<3>) {
  c.barrier(0, "b", 1s);
  c.at(1s);
  c.report_error(2, errc::internal, "boom");

  BOOST_TEST(c.code(c.barrier(1, "b")) == "FAILED_PRECONDITION");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
