// Handshakes that are refused, malformed messages and limits: §2.1, §3.1, §16.1, §2.7.

#include "tests/core/cluster.hpp"

#include <array>

namespace coxswain::test {
namespace {

core::client_message message_of(core::request what, std::uint64_t id = 0) {
  return {.id = request_id{id}, .what = std::move(what)};
}

std::string refusal(core::config options, core::hello_args args) {
  auto c = cluster::without_clients(1, std::move(options));
  int const who = c.hello(std::move(args));
  BOOST_TEST(c.look().sessions == (c[who].hello ? 1u : 0u));
  return c.goodbye(who);
}

core::config secured() {
  return core::config{
      .job = "train-7", .attempt = 3, .credentials = {{core::role::worker, "sesame"}}};
}

core::hello_args welcome() { return {.job = "train-7", .attempt = 3, .token = "sesame"}; }

BOOST_AUTO_TEST_SUITE(coordinator_limits_test)

BOOST_AUTO_TEST_CASE(the_hello_reply_states_all_limits_and_periods) {
  auto options = core::config{.version = "1.2.3",
                              .heartbeat_timeout = 90s,
                              .reconnect_grace = 7s,
                              .key_bytes_max = 500,
                              .value_bytes_max = 1'000'000,
                              .open_requests_max = 10,
                              .open_requests_max_per_task = 2};
  auto c = cluster::without_clients(5, options);
  int const who = c.observer();
  auto const& hello = *c[who].hello;

  BOOST_TEST((hello.coordinator == coordinator_self));
  BOOST_TEST(hello.version == "1.2.3");
  BOOST_TEST((hello.session != session_id{}));
  BOOST_TEST(hello.secret[0] == 1);
  BOOST_TEST(hello.num_tasks == 5u);
  BOOST_TEST((hello.heartbeat_period == 30s));
  BOOST_TEST((hello.heartbeat_timeout == 90s));
  BOOST_TEST((hello.reconnect_grace == 7s));
  BOOST_TEST(hello.value_bytes_max == 1'000'000u);
  BOOST_TEST(hello.frame_bytes_max == 1'000'000u + 64 * 1024);
  BOOST_TEST(hello.key_bytes_max == 500u);
  BOOST_TEST(hello.open_requests_max == 10u);
  BOOST_TEST(hello.open_requests_max_per_task == 2u);
}

BOOST_FIXTURE_TEST_CASE(every_session_has_its_own_id_and_secret, empty_job<1>) {
  int const a = c.observer();
  int const b = c.observer();

  BOOST_TEST((c[a].hello->session != c[b].hello->session));
  BOOST_TEST((c[a].hello->secret != c[b].hello->secret));
}

BOOST_AUTO_TEST_CASE(a_valid_hello_is_accepted) {
  BOOST_TEST(refusal(secured(), welcome()) == "none");
  BOOST_TEST(refusal({}, {}) == "none");
}

BOOST_AUTO_TEST_CASE(a_protocol_version_mismatch_is_final_and_names_both) {
  for (std::uint32_t const other : {1u, 3u}) {
    auto args = welcome();
    args.version = other;
    expect_words(refusal(secured(), args),
                 {"FAILED_PRECONDITION:", "version " + std::to_string(other), "version 2"});
  }
}

BOOST_AUTO_TEST_CASE(a_job_mismatch_is_final_and_names_both) {
  auto args = welcome();
  args.job = "train-8";
  expect_words(refusal(secured(), args), {"FAILED_PRECONDITION:", "'train-8'", "'train-7'"});
}

BOOST_AUTO_TEST_CASE(a_client_without_a_job_name_can_observe_any_job) {
  auto args = welcome();
  args.job = "";
  BOOST_TEST(refusal(secured(), args) == "none");
}

BOOST_AUTO_TEST_CASE(an_empty_job_is_the_default_one) {
  BOOST_TEST(refusal({}, core::hello_args{.job = "default"}) == "none");
}

BOOST_AUTO_TEST_CASE(token_errors_come_before_all_others) {
  auto args = welcome();
  args.job = "other";
  for (auto const* const token : {"", "sesam", "sesame!", "SESAME", "xxxxxx"}) {
    args.token = token;
    auto const text = refusal(secured(), args);
    expect_words(text, {"UNAUTHENTICATED:", "token"});
    BOOST_TEST(!contains(text, "sesame"));
    BOOST_TEST(!contains(text, "train-7"));
  }
}

BOOST_AUTO_TEST_CASE(an_unneeded_token_is_ignored) {
  BOOST_TEST(refusal({}, core::hello_args{.token = "whatever"}) == "none");
}

BOOST_AUTO_TEST_CASE(an_older_attempt_is_refused_and_a_newer_one_must_retry) {
  auto args = welcome();
  args.attempt = 2;
  expect_words(refusal(secured(), args), {"FAILED_PRECONDITION:", "attempt 2", "attempt 3"});
  args.attempt = 4;
  expect_words(refusal(secured(), args),
               {"UNAVAILABLE:", "attempt 4", "attempt 3", "an old coordinator is still running"});
}

BOOST_AUTO_TEST_CASE(attempts_are_compared_only_when_both_sides_state_one) {
  auto args = welcome();
  args.attempt.reset();
  BOOST_TEST(refusal(secured(), args) == "none");
  BOOST_TEST(refusal({}, core::hello_args{.attempt = 9}) == "none");
}

BOOST_AUTO_TEST_CASE(a_number_of_tasks_mismatch_is_final_and_names_both) {
  BOOST_TEST(refusal({}, core::hello_args{.num_tasks = 1}) == "none");
  for (std::uint32_t const other : {0u, 2u}) {
    expect_words(
        refusal({}, core::hello_args{.num_tasks = other}),
        {"FAILED_PRECONDITION:", "expects " + std::to_string(other) + " tasks", "the job has 1"});
  }
}

BOOST_AUTO_TEST_CASE(a_label_has_a_limit) {
  core::hello_args args{.label = std::string(256, 'x')};
  BOOST_TEST(refusal({}, args) == "none");
  args.label += 'x';
  expect_words(refusal({}, args), {"INVALID_ARGUMENT:", "257", "label_bytes_max is 256"});
}

BOOST_AUTO_TEST_CASE(the_frame_limit_rises_from_small_to_value_size_at_hello) {
  auto c = cluster::without_clients(1);
  auto const bare = c.dial();
  BOOST_TEST(c.logic().frame_bytes_max(bare) == 16u * 1024);
  BOOST_TEST(c.logic().frame_bytes_max(connection_id{}) == 16u * 1024);

  int const who = c.observer();

  BOOST_TEST(c.logic().frame_bytes_max(c[who].connection) == c.logic().options().frame_bytes_max());
}

BOOST_AUTO_TEST_CASE(a_connection_must_begin_with_hello) {
  for (auto const& m :
       {message_of(std::monostate{}), message_of(core::inspect_args{}, 1),
        message_of(core::bye_args{}), message_of(core::cancel_args{request_id{1}}),
        message_of(core::put_args{"k", "v", false}, 1), message_of(core::join_args{}, 1)}) {
    auto c = cluster::without_clients(1);
    auto const bare = c.dial();

    c.say(bare, m);

    expect_words(c.goodbye_to(bare), {"INVALID_ARGUMENT: protocol error", "Hello or Resume"});
    BOOST_TEST(c.look().keys == 0u);
  }
}

BOOST_AUTO_TEST_CASE(a_second_handshake_is_a_protocol_error) {
  for (bool const is_hello : {true, false}) {
    cluster c{1};
    auto const again = is_hello ? core::request{core::hello_args{}} : core::request{c.resume_of(0)};
    auto m = message_of(again);
    m.answered_through = c[0].answered;
    c.say(c[0].connection, m);

    expect_words(c.goodbye(0), {"INVALID_ARGUMENT: protocol error", "second handshake"});
    BOOST_TEST(c.state_of(0) == "failed");
  }
}

BOOST_FIXTURE_TEST_CASE(input_after_goodbye_is_ignored, empty_job<1>) {
  auto& logic = c.logic();
  auto const id = logic.connected(t0, "p", {});
  logic.malformed(t0, id, "noise");

  logic.received(t0, id, message_of(core::hello_args{}));
  logic.heard(t0, id);
  logic.malformed(t0, id, "more noise");
  logic.write_blocked(t0, id);
  logic.write_progressed(t0, id);

  std::vector<core::outgoing> out;
  logic.take_outgoing(out);
  BOOST_TEST(out.size() == 1u);
  logic.lost(t0, id, core::loss::closed);
  logic.lost(t0, id, core::loss::closed);
  logic.received(t0, id, message_of(core::hello_args{}));
  logic.take_outgoing(out);
  BOOST_TEST(out.empty());
}

BOOST_FIXTURE_TEST_CASE(input_after_a_lost_connection_is_ignored, empty_job<1>) {
  auto& logic = c.logic();
  auto const id = logic.connected(t0, "p", {});
  logic.lost(t0, id, core::loss::closed);

  logic.heard(t0, id);
  logic.malformed(t0, id, "noise");
  logic.write_blocked(t0, id);
  logic.write_progressed(t0, id);

  std::vector<core::outgoing> out;
  logic.take_outgoing(out);
  BOOST_TEST(out.empty());
  BOOST_TEST(!logic.next_deadline().has_value());
}

BOOST_AUTO_TEST_CASE(request_ids_must_increase) {
  for (std::uint64_t const id : {0u, 1u}) {
    cluster c{1};
    auto m = message_of(core::try_get_args{"k"}, id);
    m.answered_through = c[0].answered;
    c.say(c[0].connection, m);

    expect_words(c.goodbye(0), {"INVALID_ARGUMENT: protocol error: request id", "is not above"});
  }
}

// A request of a newer client that is unknown here must not leave it waiting forever.
BOOST_FIXTURE_TEST_CASE(a_request_of_an_unknown_kind_is_unimplemented, job<1>) {
  BOOST_TEST(c.code(c.send(0, std::monostate{})) == "UNIMPLEMENTED");
  BOOST_TEST(c.code(c.try_get(0, "k")) == "NOT_FOUND");
}

BOOST_AUTO_TEST_CASE(limits_of_keys_names_and_values_are_named_in_refusals) {
  cluster c{1, {.key_bytes_max = 10, .value_bytes_max = 20}};
  std::string const fits(10, 'k');
  std::string const long_one(11, 'k');
  BOOST_TEST(c.code(c.put(0, fits, std::string(20, 'v'))) == "OK");
  BOOST_TEST(c.code(c.put(0, "//" + fits + "/", "v")) == "ALREADY_EXISTS");
  BOOST_TEST(c.code(c.barrier(0, fits)) == "OK");

  for (auto const& one :
       {c.put(0, long_one, "v"), c.get(0, long_one), c.try_get(0, long_one), c.list(0, long_one),
        c.remove(0, long_one), c.remove_tree(0, long_one), c.increment(0, long_one, 1),
        c.barrier(0, long_one), c.cancel(0, long_one), c.count_barrier(0, long_one, 1)}) {
    BOOST_TEST(c.code(one) == "RESOURCE_EXHAUSTED");
    expect_words(c.text(one), {"11 bytes", "key_bytes_max is 10"});
  }
  auto const heavy = c.put(0, "h", std::string(21, 'v'));
  BOOST_TEST(c.code(heavy) == "RESOURCE_EXHAUSTED");
  expect_words(c.text(heavy), {"21 bytes", "value_bytes_max is 20"});
}

BOOST_AUTO_TEST_CASE(the_open_request_limit_affects_only_its_sender) {
  cluster c{2, {.open_requests_max = 4, .open_requests_max_per_task = 2}};
  for (int i = 0; i < 6; ++i) c.get(0, "k" + std::to_string(i));
  BOOST_TEST(c.replies() == "");

  auto const seventh = c.get(0, "k");

  BOOST_TEST(c.code(seventh) == "RESOURCE_EXHAUSTED");
  expect_words(c.text(seventh), {"6 requests", "open_requests_max"});
  BOOST_TEST(c.code(c.put(1, "k0", "v")) == "OK");
  BOOST_TEST(c.code(c.get(0, "k")) == "waits");
}

BOOST_AUTO_TEST_CASE(an_observer_has_the_lower_open_request_limit) {
  cluster c{1, {.open_requests_max = 2, .open_requests_max_per_task = 5}};
  int const o = c.observer();
  c.get(o, "a");
  c.get(o, "b");

  BOOST_TEST(c.code(c.get(o, "c")) == "RESOURCE_EXHAUSTED");
}

BOOST_AUTO_TEST_CASE(unacknowledged_replies_count_against_the_limit) {
  cluster c{1, {.open_requests_max = 4, .open_requests_max_per_task = 0}};
  auto const send = [&](std::uint64_t id) {
    auto m = message_of(core::remove_args{"none"}, id);
    m.answered_through = 1;
    c[0].open.emplace(request_id{id}, cluster::client::open_call{m, time_point::max(), true});
    c[0].last_id = request_id{id};
    c.say(c[0].connection, m);
  };
  for (std::uint64_t id = 10; id < 15; ++id) send(id);

  BOOST_TEST(c.replies() == "0:OK 0:OK 0:OK 0:OK 0:RESOURCE_EXHAUSTED");
  c.heartbeat(0);
  send(20);
  BOOST_TEST(c.replies() == "0:OK");
}

BOOST_AUTO_TEST_CASE(barriers_work_after_values_have_filled_their_memory) {
  cluster c{8, {.memory_bytes_max = 1'000'000}};
  int stored = 0;
  while (c.code(c.put(0, "k" + std::to_string(stored), std::string(1000, 'v'))) == "OK") ++stored;
  BOOST_TEST(stored > 500);
  auto const refused = c.put(0, "more", std::string(1000, 'v'));
  BOOST_TEST(c.code(refused) == "RESOURCE_EXHAUSTED");
  expect_words(c.text(refused), {"1000 bytes", "memory_bytes_max is 1000000"});
  int small = 0;
  while (c.code(c.put(0, "s" + std::to_string(small), "v")) == "OK") ++small;
  BOOST_TEST(c.heartbeat(0).logic().memory()->used() > 750'000u - 750'000u / 16 - 500);

  std::vector<call> calls;
  for (int i = 0; i < 20; ++i) {
    for (int t = 0; t < 8; ++t) calls.push_back(c.barrier(t, "b" + std::to_string((i + t) % 20)));
  }
  for (auto const& one : calls) BOOST_TEST(c.code(one) == "OK");
  BOOST_TEST(c.value(c.get(1, "k0")) == std::string(1000, 'v'));
  c.remove_tree(0, "", true);
  BOOST_TEST(c.code(c.put(0, "again", "v")) == "OK");
}

BOOST_AUTO_TEST_CASE(out_of_memory_refuses_waiting_requests_but_not_leave) {
  cluster c{1, {.memory_bytes_max = 100'000}};
  c.logic().memory()->add(74'000);

  for (auto const& one : {c.get(0, "k"), c.barrier(0, "b"), c.count_barrier(0, "n", 1),
                          c.increment(0, "n", 1), c.put(0, "k", "v")}) {
    BOOST_TEST(c.code(one) == "RESOURCE_EXHAUSTED");
    expect_words(c.text(one), {"memory_bytes_max is 100000"});
  }
  BOOST_TEST(c.code(c.try_get(0, "k")) == "NOT_FOUND");
  BOOST_TEST(c.code(c.remove(0, "k")) == "OK");
  BOOST_TEST(c.code(c.leave(0)) == "OK");
  c.logic().memory()->subtract(74'000);
}

BOOST_AUTO_TEST_CASE(kept_refusals_use_bounded_memory) {
  cluster c{1, {.memory_bytes_max = 1'000'000}};
  std::string const key(4000, 'k');
  c.put(0, key, "v");
  auto const used = c.logic().memory()->used();
  c[0].deaf = true;
  for (int i = 0; i < 100; ++i) c.put(0, key, "v");

  BOOST_TEST(c.logic().memory()->used() >= used + 100 * 100);
  BOOST_TEST(c.logic().memory()->used() <= used + 100 * 1300);
  c[0].deaf = false;
  c.blink(0);
}

BOOST_FIXTURE_TEST_CASE(a_connection_acts_for_tasks_after_its_session_joined, job<1>) {
  int const observer = c.observer();

  BOOST_TEST((c.logic().share_of(c[0].connection) == core::share_kind::task));
  BOOST_TEST((c.logic().share_of(c[observer].connection) == core::share_kind::observer));
  BOOST_TEST(!c.logic().share_of(connection_id{}));
}

BOOST_FIXTURE_TEST_CASE(simultaneous_deadlines_are_processed_in_batches, job<1>) {
  c.check_less();
  std::array<int, 2> const observers{c.observer(), c.observer()};
  for (int i = 0; i < 6'000; ++i) c.get(observers[i % 2], "k", 1s);
  BOOST_TEST(c.sleep_without_advance(1s).advance_once().look().waiting_gets == 6'000u - 1'024u);
  BOOST_TEST(c.pass(0s).look().waiting_gets == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
