// A session outlives its connection: §2.2. Each request takes effect exactly once.

#include "tests/core/steps.hpp"

namespace coxswain::test {
namespace {

std::string numbers(std::vector<request_id> const& ids) {
  std::string all;
  for (auto const id : ids) all += (all.empty() ? "" : " ") + std::to_string(id.value);
  return all;
}

// A Resume with the given fields on a new connection.
std::string resume_with(cluster& c, core::resume_args args, std::uint64_t answered) {
  auto const on = c.dial();
  c.say(on, core::client_message{.answered_through = answered, .what = std::move(args)});
  return c.goodbye_to(on);
}

BOOST_AUTO_TEST_SUITE(coordinator_resume_test)

rows const cases{
    {"a_known_request_keeps_its_original_deadline", 2,
     "barrier = 0 barrier b 10s; get = 0 get k 10s; at 5s; cut 0; at 6s; resume 0; at 10s-; "
     "barrier -> waits; at 10s; barrier get -> DEADLINE_EXCEEDED DEADLINE_EXCEEDED"},
    {"a_deadline_that_passes_while_the_connection_is_lost_is_answered_after_it", 2,
     "barrier = 0 barrier b 1s; at 500ms; cut 0; at 2s; resume 0; "
     "barrier -> round 1 DEADLINE_EXCEEDED 1/2 missing 1"},
    {"a_resent_put_does_not_fail_because_of_its_first_execution", 1,
     "deaf 0; put = 0 put k v; hears 0; blink 0; put -> OK"},
    {"a_refused_put_stays_refused_after_the_key_was_removed", 2,
     "1 put k old; deaf 0; put = 0 put k new; hears 0; 1 remove k; blink 0; put -> ALREADY_EXISTS; "
     "0 try-get k -> NOT_FOUND"},
    {"acknowledged_replies_are_not_resent", 1,
     "0 put a 1; 0 put b 2; replies; blink 0; replies ->; 0 put c 3 -> OK"},
    {"lost_replies_are_resent_in_their_order", 1,
     "0 put a 1; deaf 0; b = 0 put b 2; d = 0 increment d 1; e = 0 put a x; hears 0; replies; "
     "blink 0; replies -> 0:OK 0:OK 0:ALREADY_EXISTS; b d e -> OK OK ALREADY_EXISTS"},
    {"an_observer_session_can_be_resumed", 1,
     "observer o; get = o get k; cut o; pass 1s; resume o; 0 put k v; get -> v"},
    {"requests_queued_while_disconnected_follow_the_unknown_ones", 1,
     "deaf 0; reads = 0 try-get k; hears 0; cut 0; put = 0 put k v; replies; resume 0; "
     "replies -> 0:NOT_FOUND 0:OK; reads put -> NOT_FOUND OK"},
    {"an_arrival_counts_once", 3,
     "waits = 0 barrier b; blink 0; blink 0; blink 0; arrived -> 1; 1 barrier b; waits -> waits; "
     "2 barrier b; waits -> round 1"},
    {"an_increment_is_not_applied_twice", 1,
     "deaf 0; sum = 0 increment n 5; hears 0; blink 0; sum -> OK 5; 0 try-get n -> 5"},
    {"a_remove_is_counted_once", 1,
     "0 put k v; deaf 0; removed = 0 remove k; hears 0; blink 0; removed -> OK removed 1"},
    {"replies_can_be_lost_repeatedly", 1,
     "deaf 0; sum = 0 increment n 1; blink 0; blink 0; blink 0; blink 0; blink 0; hears 0; "
     "blink 0; sum -> OK 1; heartbeat 0; goodbye 0 -> none"},
};

BOOST_AUTO_TEST_CASE(a_waiting_request_survives_a_resume_and_replies_on_the_new_connection) {
  cluster c{2};
  auto const waits = c.barrier(0, "b");
  c.blink(0);
  BOOST_TEST(numbers(c[0].resumed->unknown) == "");

  BOOST_TEST(c.after(c.barrier(1, "b")).round(waits) == "round 1");
}

BOOST_FIXTURE_TEST_CASE(a_get_whose_reply_was_lost_is_executed_again, job<2>) {
  c[0].deaf = true;
  c.put(1, "k", "v");
  auto const get = c.get(0, "k");
  c[0].deaf = false;
  c.blink(0);

  BOOST_TEST(numbers(c[0].resumed->unknown) == std::to_string(get.id.value));
  BOOST_TEST(c.value(get) == "v");
}

BOOST_AUTO_TEST_CASE(a_get_woken_while_disconnected_is_executed_again) {
  cluster c{2};
  auto const get = c.get(0, "k");
  c.lose(0);
  c.put(1, "k", "v");
  c.resume(0);

  BOOST_TEST(numbers(c[0].resumed->unknown) == std::to_string(get.id.value));
  BOOST_TEST(c.value(get) == "v");
}

BOOST_FIXTURE_TEST_CASE(replies_to_all_changes_are_kept_until_acknowledged, job<2>) {
  c[0].deaf = true;
  std::vector<call> calls;
  calls.push_back(c.put(0, "k", "v"));
  calls.push_back(c.increment(0, "n", 1));
  calls.push_back(c.remove(0, "none"));
  calls.push_back(c.barrier(0, "alone", 1s, {.among = {0}}));
  calls.push_back(c.count_barrier(0, "c", 1));
  calls.push_back(c.join({0, 0}, 100));
  c.barrier(1, "b");
  calls.push_back(c.cancel(0, "b"));
  calls.push_back(c.leave(0, 0s));
  c[0].deaf = false;

  c.blink(0);

  BOOST_TEST(numbers(c[0].resumed->unknown) == "");
  for (auto const& one : calls) BOOST_TEST(c.code(one) == "OK");
  BOOST_TEST(c.value(c.try_get(1, "n")) == "1");
}

BOOST_FIXTURE_TEST_CASE(kept_replies_are_freed_by_their_acknowledgement, job<1>) {
  c.heartbeat(0);
  auto const idle = c.logic().memory()->used();
  for (int i = 0; i < 100; ++i) c.remove(0, "none");
  BOOST_TEST(c.logic().memory()->used() > idle);

  BOOST_TEST(c.heartbeat(0).logic().memory()->used() == idle);
}

BOOST_FIXTURE_TEST_CASE(requests_absent_from_the_resume_list_are_cancelled_or_dropped, job<2>) {
  auto const waits = c.barrier(0, "b");
  c.get(0, "k");
  c[0].deaf = true;
  c.put(0, "p", "v");
  c[0].deaf = false;
  c.lose(0);
  c[0].open.clear();
  BOOST_TEST(c.resume(0).look().barriers.empty());
  BOOST_TEST(c.look().waiting_gets == 0u);
  BOOST_TEST(c.code(waits) == "waits");
  BOOST_TEST(c.value(c.try_get(0, "p")) == "v");  // the put took effect
  BOOST_TEST(c.heartbeat(0).logic().memory()->used() < 600u);
}

BOOST_FIXTURE_TEST_CASE(a_request_that_never_arrived_is_unknown_and_resent_with_its_id, job<1>) {
  // The reply was in transit when the connection broke.
  c.lose(0);
  auto const put = c.put(0, "k", "v");
  c[0].open.at(put.id).sent = true;

  c.resume(0);

  BOOST_TEST(numbers(c[0].resumed->unknown) == std::to_string(put.id.value));
  BOOST_TEST(c.code(put) == "OK");
}

BOOST_FIXTURE_TEST_CASE(a_resent_request_has_its_remaining_time, job<2>) {
  c.lose(0);
  auto const get = c.get(0, "k", 10s);
  c[0].open.at(get.id).sent = true;
  BOOST_TEST(c.at(1s).resume(0).at(10s - 1ns).code(get) == "waits");
  BOOST_TEST(c.at(10s).code(get) == "DEADLINE_EXCEEDED");
}

BOOST_FIXTURE_TEST_CASE(lower_ids_may_be_resent_only_if_reported_unknown, job<1>) {
  auto const get = c.get(0, "k", 60s);
  c.put(0, "x", "1");
  c.blink(0);

  core::client_message m{
      .id = get.id, .answered_through = c[0].answered, .what = core::try_get_args{"k"}};
  c.say(c[0].connection, m);

  expect_words(c.goodbye(0), {"INVALID_ARGUMENT: protocol error: request id 2 is not above"});
  BOOST_TEST(c.state_of(0) == "failed");
}

BOOST_FIXTURE_TEST_CASE(an_unknown_request_that_is_cancelled_is_dropped, job<1>) {
  auto const get = c.get(0, "k", 60s);
  c[0].deaf = true;
  auto const read = c.try_get(0, "k");
  c.lose(0);
  auto const on = c.dial();
  core::client_message m{.answered_through = c[0].answered, .what = c.resume_of(0)};
  c.say(on, m);
  m.what = core::cancel_args{read.id};
  c.say(on, m);
  m.what = core::cancel_args{get.id};
  c.say(on, m);
  m.id = request_id{read.id.value + 1};
  m.what = core::put_args{"k", "v", false};
  BOOST_TEST(c.say(on, m).goodbye_to(on) == "none");
  BOOST_TEST(c.look().keys == 1u);
  BOOST_TEST(c.look().waiting_gets == 0u);
}

BOOST_AUTO_TEST_CASE(a_resume_replaces_a_connection_that_still_looks_alive) {
  cluster c{2};
  auto const waits = c.barrier(0, "b");
  auto const old = c[0].connection;

  c.resume(0);

  expect_words(c.goodbye_to(old), {"ABORTED may resume", "resumed by another connection"});
  BOOST_TEST(c.state_of(0) == "connected");
  BOOST_TEST(c.after(c.barrier(1, "b")).code(waits) == "OK");
  BOOST_TEST(c.error() == "none");
}

BOOST_FIXTURE_TEST_CASE(input_of_the_replaced_connection_is_ignored, job<1>) {
  auto const old = c[0].connection;
  c[0].connection = {};
  auto const on = c.dial();
  core::client_message resume{.answered_through = c[0].answered, .what = c.resume_of(0)};
  c.logic().received(t0, on, std::move(resume));

  core::client_message late{.id = request_id{50}, .what = core::put_args{"k", "v", false}};
  c.logic().received(t0, old, std::move(late));
  c.logic().malformed(t0, old, "noise");

  BOOST_TEST(c.look().keys == 0u);
  BOOST_TEST(c.look().sessions == 1u);
}

BOOST_FIXTURE_TEST_CASE(the_address_shown_is_that_of_the_last_resume, job<1>) {
  c.lose(0);
  c[0].peer = "192.168.7.7:7777";

  BOOST_TEST(c.resume(0).look().tasks[0].peer == "192.168.7.7:7777");
}

// The client abandoned the first connection before it opened the second; its old messages arrive
// late. They must not undo what happened since.
BOOST_AUTO_TEST_CASE(a_late_resume_of_an_older_connection_does_not_take_the_session_back) {
  cluster c{1};
  c.lose(0);
  auto const given_up = c.dial();
  core::client_message stale{.answered_through = c[0].answered, .what = c.resume_of(0)};
  c.resume(0);
  c[0].deaf = true;
  auto const sum = c.increment(0, "n", 1);
  c[0].deaf = false;

  expect_words(c.say(given_up, stale).goodbye_to(given_up), {"ABORTED may resume"});
  BOOST_TEST(c.goodbye(0) == "none");
  BOOST_TEST(c.blink(0).body<core::counter_answer>(sum)->value == 1);
  BOOST_TEST(c.value(c.try_get(0, "n")) == "1");
}

// As behind a relay, which opens a route when it reads what the client sent before.
BOOST_AUTO_TEST_CASE(an_older_resume_on_a_newer_connection_does_not_take_the_session_back) {
  cluster c{1};
  core::client_message stale{.answered_through = c[0].answered, .what = c.resume_of(0)};
  std::get<core::resume_args>(stale.what).resume_count = 1;
  auto newer = stale;
  std::get<core::resume_args>(newer.what).resume_count = 2;
  c.lose(0).say(c.dial(), newer);
  auto const late = c.dial();

  expect_words(c.say(late, stale).goodbye_to(late), {"ABORTED may resume"});
}

BOOST_FIXTURE_TEST_CASE(a_resume_needs_the_session_id_its_secret_and_the_same_coordinator, job<1>) {
  c.lose(0);
  auto const right = c.resume_of(0);

  auto wrong = right;
  wrong.secret[15] ^= 1;
  expect_words(resume_with(c, wrong, 1), {"ABORTED: session ended"});
  wrong = right;
  wrong.session.value += 1;
  expect_words(resume_with(c, wrong, 1), {"ABORTED: session ended"});
  wrong = right;
  wrong.session = {};
  expect_words(resume_with(c, wrong, 1), {"ABORTED: session ended"});
  wrong = right;
  wrong.coordinator.value += 1;
  expect_words(resume_with(c, wrong, 1), {"ABORTED: session ended", "restarted", "are gone"});

  BOOST_TEST(c.resume(0).goodbye(0) == "none");
}

BOOST_FIXTURE_TEST_CASE(a_refused_resume_has_no_effect_on_others, job<1>) {
  auto wrong = c.resume_of(0);
  wrong.secret[0] ^= 0xff;

  resume_with(c, wrong, 0);

  BOOST_TEST(c.state_of(0) == "connected");
  BOOST_TEST(c.code(c.put(0, "k", "v")) == "OK");
}

BOOST_AUTO_TEST_CASE(an_ended_session_cannot_be_resumed) {
  for (bool const by_bye : {true, false}) {
    cluster c{1};
    int const o = c.observer();
    auto const args = c.resume_of(o);
    if (by_bye) c.bye(o);
    if (!by_bye) c.malformed(o, "noise");

    expect_words(resume_with(c, args, 0), {"ABORTED: session ended"});
  }
}

// §2.6: a protocol error is final, since a resume would send the same again.
BOOST_AUTO_TEST_CASE(a_resume_with_an_unsorted_list_ends_its_session) {
  for (auto const& list : std::vector<std::vector<std::uint64_t>>{{2, 1}, {1, 1}, {0}, {0, 1}}) {
    cluster c{2};
    c.lose(0);
    auto args = c.resume_of(0);
    for (auto const id : list) args.open.push_back(request_id{id});

    expect_words(resume_with(c, args, 1), {"INVALID_ARGUMENT: protocol error", "rising"});

    BOOST_TEST(c.state_of(0) == "failed");
    BOOST_TEST(c.look().sessions == 1u);
  }
}

BOOST_AUTO_TEST_CASE(an_invalid_resume_also_ends_the_old_connection) {
  cluster c{1};
  auto args = c.resume_of(0);
  args.open = {request_id{0}};

  auto const refusal = resume_with(c, std::move(args), c[0].answered);

  expect_words(refusal, {"INVALID_ARGUMENT: protocol error", "rising"});
  BOOST_TEST(c.goodbye(0) == refusal);
  BOOST_TEST(c.state_of(0) == "failed");
}

BOOST_FIXTURE_TEST_CASE(a_resume_that_acknowledges_unsent_replies_ends_its_session, job<2>) {
  c.lose(0);

  expect_words(resume_with(c, c.resume_of(0), c[0].answered + 1),
               {"INVALID_ARGUMENT: protocol error"});

  BOOST_TEST(c.state_of(0) == "failed");
}

BOOST_AUTO_TEST_CASE(a_resume_with_a_lower_acknowledgement_is_stale_and_refused) {
  cluster c{2};
  c.put(0, "k", "v");
  c.heartbeat(0);

  expect_words(resume_with(c, c.resume_of(0), c[0].answered - 1), {"ABORTED may resume"});

  BOOST_TEST(c.state_of(0) == "connected");
}

BOOST_FIXTURE_TEST_CASE(acknowledging_unsent_replies_is_a_protocol_error, job<2>) {
  c[0].answered += 1;
  expect_words(c.heartbeat(0).goodbye(0),
               {"INVALID_ARGUMENT: protocol error: answered_through is 2, but only 1"});
  BOOST_TEST(c.state_of(0) == "failed");
}

BOOST_FIXTURE_TEST_CASE(a_repeated_or_lower_acknowledgement_is_ignored, job<1>) {
  for (int i = 0; i < 4; ++i) c.remove(0, "none");
  c.heartbeat(0);
  auto const used = c.logic().memory()->used();
  std::uint64_t const answered = std::exchange(c[0].answered, 1);

  BOOST_TEST(c.heartbeat(0).goodbye(0) == "none");
  BOOST_TEST(c.logic().memory()->used() == used);
  c[0].answered = answered;
}

BOOST_FIXTURE_TEST_CASE(a_session_of_many_tasks_resumes_with_all_of_them, empty_job<3>) {
  int const agent = c.observer();
  for (std::uint32_t t = 0; t < 3; ++t) c.join({agent, t}, t + 1);
  c.barrier({agent, 0}, "b");
  c.barrier({agent, 1}, "b");
  c.blink(agent);
  c.replies();

  BOOST_TEST(c.after(c.barrier({agent, 2}, "b")).replies() == "0:OK 0:OK 0:OK");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
