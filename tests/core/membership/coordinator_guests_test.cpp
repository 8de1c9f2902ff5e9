// Guests: sessions that act for a task joined by another session (§1.5).

#include "tests/core/cluster.hpp"

#include "coxswain/core/access/credential.hpp"

namespace coxswain::test {
namespace {

std::string const secret = "0123456789abcdef";

call grant(cluster& c, int host, std::string with = secret) {
  return c.send({host, host}, core::grant_args{std::move(with)});
}

core::hello_args as_guest_of(std::uint32_t task, std::string with = secret) {
  return {.label = "child:1", .acts_for = core::guest_args{task_id{task}, std::move(with)}};
}

int guest(cluster& c, std::uint32_t task, std::string with = secret) {
  int const g = c.hello(as_guest_of(task, std::move(with)));
  BOOST_TEST_REQUIRE(c[g].hello.has_value());
  return g;
}

// A job whose tasks all grant guests: client i is the host of task i.
void host_all(cluster& c, int tasks) {
  for (int i = 0; i < tasks; ++i) grant(c, i);
  c.replies();
}

void kill(cluster& c, int who) {
  c.lose(who);
  c.pass(c.logic().options().reconnect_grace + 1ms);
}

bool stops(cluster const& c, call of) { return c.body<core::sync_point>(of) != nullptr; }

call reached(cluster& c, int who, std::uint64_t step) { return c.frozen(who, 0, step); }

BOOST_AUTO_TEST_SUITE(coordinator_guests_test)

BOOST_FIXTURE_TEST_CASE(a_guest_acts_for_the_task_of_its_host, job<2>) {
  BOOST_TEST(c.code(grant(c, 0)) == "OK");
  int const g = guest(c, 0);

  auto const named = c.barrier({g, 0}, "a");
  auto const unnamed = c.barrier(g, "b");
  BOOST_TEST(c.round(c.barrier(1, "a")) == "round 1");
  BOOST_TEST(c.round(c.barrier(1, "b")) == "round 1");

  BOOST_TEST(c.round(named) == "round 1");
  BOOST_TEST(c.round(unnamed) == "round 1");
}

BOOST_FIXTURE_TEST_CASE(a_wrong_guest_secret_is_refused, job<2>) {
  grant(c, 0);
  for (auto const& [task, with] : {std::pair{0u, std::string{"0123456789abcdeX"}},
                                   {0u, std::string{}},
                                   {1u, secret},
                                   {7u, secret}}) {
    int const outsider = c.hello(as_guest_of(task, with));
    BOOST_TEST(!c[outsider].hello.has_value());
    expect_words(c.goodbye(outsider), {"UNAUTHENTICATED", "act for task " + std::to_string(task),
                                       "the command that it was made for has ended"});
  }
}

BOOST_AUTO_TEST_CASE(a_guest_needs_no_token_and_has_the_worker_role) {
  auto options = core::config{.credentials = {{core::role::worker, "pull"}}};
  auto c = cluster::without_clients(1, options);
  int const host = c.hello(core::hello_args{.token = "pull"});
  c.join({host, 0}, 100);
  grant(c, 0);

  int const g = guest(c, 0);

  BOOST_TEST((c[g].hello->given == core::role::worker));
  BOOST_TEST(c.round(c.barrier(g, "b")) == "round 1");
}

BOOST_FIXTURE_TEST_CASE(a_grant_needs_a_task_and_a_valid_secret_and_cannot_come_from_a_guest,
                        job<1>) {
  BOOST_TEST(c.code(c.send(c.observer(), core::grant_args{secret})) == "FAILED_PRECONDITION");
  BOOST_TEST(c.code(grant(c, 0, std::string(15, 's'))) == "INVALID_ARGUMENT");
  BOOST_TEST(c.code(grant(c, 0, std::string(65, 's'))) == "INVALID_ARGUMENT");
  BOOST_TEST(c.code(grant(c, 0, std::string(16, 's'))) == "OK");
  BOOST_TEST(c.code(grant(c, 0, std::string(64, 's'))) == "OK");

  int const g = guest(c, 0, std::string(64, 's'));
  auto const by_guest = c.send({g, 0}, core::grant_args{secret});
  BOOST_TEST(c.code(by_guest) == "FAILED_PRECONDITION");
  expect_words(c.text(by_guest), {"only the session that joined as task 0"});
}

BOOST_AUTO_TEST_CASE(replacing_or_withdrawing_a_grant_ends_its_guests) {
  for (std::string const& next : {std::string{"fedcba9876543210"}, std::string{}}) {
    cluster c{2};
    grant(c, 0);
    int const g = guest(c, 0);
    c.barrier(g, "b");

    BOOST_TEST(c.code(grant(c, 0, next)) == "OK");

    BOOST_TEST(c.goodbye(g) == "FAILED_PRECONDITION: the command of task 0 (host0:1000) has ended");
    BOOST_TEST(c.look().barriers.empty());
    BOOST_TEST(!c[c.hello(as_guest_of(0))].hello.has_value());
    BOOST_TEST(c.state_of(0) == "connected");
  }
}

BOOST_FIXTURE_TEST_CASE(a_guest_cannot_act_for_another_task, job<2>) {
  grant(c, 0);
  int const g = guest(c, 0);
  for (auto const& refused : {c.barrier({g, 1}, "b"), c.join({g, 1}, 7), c.reset({g, 1}, 101)}) {
    BOOST_TEST(c.code(refused) == "FAILED_PRECONDITION");
    expect_words(c.text(refused), {"this session acts for task 0, not for task 1"});
  }
}

BOOST_AUTO_TEST_CASE(a_guest_has_the_open_request_limit_of_a_task) {
  cluster c{1, {.open_requests_max = 1, .open_requests_max_per_task = 2}};
  grant(c, 0);
  int const g = guest(c, 0);
  for (int i = 0; i < 3; ++i) c.get(g, "k" + std::to_string(i));
  BOOST_TEST(c.code(c.get(g, "last")) == "RESOURCE_EXHAUSTED");
}

BOOST_FIXTURE_TEST_CASE(a_killed_guest_cancels_its_calls_and_fails_no_task, job<2>) {
  grant(c, 0);
  int const g = guest(c, 0);
  c.join({g, 0}, 7);
  c.barrier(g, "b");
  c.get(g, "key");
  c.send({g, 0}, core::alive_args{});
  c.count_barrier(g, "c", 2);
  c.leave(g);
  c.exchange({g, 0}, "gpu", {});

  kill(c, g);

  auto const left = c.look();
  BOOST_TEST(left.barriers.empty());
  BOOST_TEST(left.waiting_gets == 0u);
  BOOST_TEST(c.state_of(0) == "connected");
  BOOST_TEST(c.error() == "none");
  c.barrier(guest(c, 0), "b");
  BOOST_TEST(c.round(c.barrier(1, "b")) == "round 1");
}

BOOST_FIXTURE_TEST_CASE(a_resumed_guest_executes_its_calls_once, job<2>) {
  grant(c, 0);
  int const g = guest(c, 0);
  c.push(1, "work", "item");
  c[g].deaf = true;
  auto const counted = c.increment(g, "n", 1);
  auto const popped = c.pop(g, "work");
  auto const waited = c.barrier(g, "b");
  c.barrier(1, "b");
  c[g].deaf = false;

  BOOST_TEST(c.blink(g).body<core::counter_answer>(counted)->value == 1);
  BOOST_TEST(c.value(popped) == "item");
  BOOST_TEST(c.round(waited) == "round 1");
  BOOST_TEST(c.body<core::counter_answer>(c.increment(1, "n", 1))->value == 2);
  BOOST_TEST(c.look().queued_items == 0u);
}

BOOST_AUTO_TEST_CASE(a_guest_killed_before_its_reply_keeps_effects_but_returns_items) {
  cluster c{2};
  grant(c, 0);
  int const g = guest(c, 0);
  c.push(1, "work", "item");
  c[g].deaf = true;
  c.increment(g, "n", 1);
  c.pop(g, "work");
  c.barrier(g, "b");
  c.barrier(1, "b");

  kill(c, g);

  BOOST_TEST(c.code(c.try_get(1, "n")) == "OK");
  BOOST_TEST(c.value(c.pop(1, "work", 0s)) == "item");
  BOOST_TEST(c.look().barriers.empty());
  BOOST_TEST(c.error() == "none");
}

BOOST_FIXTURE_TEST_CASE(the_end_of_the_host_fails_the_task_and_ends_its_guests, job<2>) {
  grant(c, 0);
  int const g = guest(c, 0);
  c.push(1, "work", "item");
  auto const waited = c.barrier(g, "b");
  BOOST_TEST(c.code(c.barrier(1, "b")) == "OK");
  auto const next = c.barrier(g, "b");

  kill(c, 0);

  BOOST_TEST(c.code(waited, next) == "OK INTERNAL");
  BOOST_TEST(c.pushed<job_error>(g).size() == 1u);
  expect_words(c.goodbye(g), {"UNAVAILABLE: the session of its task has ended"});
  expect_words(c.error(), {"task 0: UNAVAILABLE"});
}

BOOST_AUTO_TEST_CASE(a_host_killed_before_the_reply_of_its_guest_ends_the_guest) {
  cluster c{2, {.recoverable = true}};
  grant(c, 0);
  int const g = guest(c, 0);
  c.push(1, "work", "item");
  c[g].deaf = true;
  c.increment(g, "n", 1);
  c.pop(g, "work");
  c.barrier(g, "b");
  c.barrier(1, "b");

  kill(c, 0);

  BOOST_TEST(!c.is_attached(g));
  BOOST_TEST(c.code(c.try_get(1, "n")) == "OK");
  BOOST_TEST(c.value(c.pop(1, "work", 0s)) == "item");
  BOOST_TEST(c.state_of(0) == "failed");
}

BOOST_AUTO_TEST_CASE(a_guest_of_a_replaced_incarnation_gets_aborted) {
  cluster c{2, {.recoverable = true}};
  grant(c, 0);
  int const g = guest(c, 0);
  auto const open = c.barrier(g, "b");

  int const claimant = c.observer();
  BOOST_TEST(c.after(c.join({claimant, 0}, 900, 300s, {true, true})).code(open) == "ABORTED");
  for (auto const& later : {c.barrier({g, 0}, "b"), c.put(g, "k", "v"), c.join({g, 0}, 7)}) {
    BOOST_TEST(c.code(later) == "ABORTED");
    expect_words(c.text(later), {"task 0", "replaced the one this program acts through"});
  }
  int const late = c.hello(as_guest_of(0));
  expect_words(c.goodbye(late),
               {"FAILED_PRECONDITION", "replaced the one this program acts through"});
}

BOOST_FIXTURE_TEST_CASE(a_guest_join_returns_the_join_result_of_its_task, empty_job<2>) {
  int const first = c.observer();
  int const second = c.observer();
  c.join({first, 0}, 100);
  c.join({second, 1}, 101);
  host_all(c, 2);
  int const g = guest(c, 0);

  auto const joined = c.join({g, 0}, 7);

  BOOST_TEST_REQUIRE(c.body<core::join_answer>(joined));
  BOOST_TEST(!c.body<core::join_answer>(joined)->already_started);
  BOOST_TEST(c.state_of(0) == "connected");
  BOOST_TEST(c.look().tasks[0].self.value == 100u);
}

BOOST_AUTO_TEST_CASE(a_guest_of_a_late_task_learns_that_the_job_had_started) {
  cluster c{1, {.recoverable = true}};
  kill(c, 0);
  int const next = c.observer();
  c.join({next, 0}, 200);
  c.send({next, 0}, core::grant_args{secret});
  int const g = guest(c, 0);

  auto const joined = c.join({g, 0}, 7);

  BOOST_TEST(c.body<core::join_answer>(joined)->already_started);
}

BOOST_FIXTURE_TEST_CASE(a_guests_leave_takes_effect_when_its_host_leaves, job<2>) {
  host_all(c, 2);
  int const a = guest(c, 0);
  int const b = guest(c, 1);
  for (int const g : {a, b}) c.join(g == a ? caller{g, 0} : caller{g, 1}, 7);

  auto const first = c.leave({a, 0});
  BOOST_TEST(c.code(first) == "waits");
  auto const second = c.leave({b, 1});

  BOOST_TEST(c.code(first, second) == "OK OK");
  BOOST_TEST(c.state_of(0) == "connected");
  BOOST_TEST(c.code(c.leave(0)) == "OK");
  BOOST_TEST(c.state_of(0) == "left");
  BOOST_TEST(c.state_of(1) == "connected");
  BOOST_TEST(c.code(c.leave(1)) == "OK");
  BOOST_TEST(c.logic().done());
}

BOOST_AUTO_TEST_CASE(a_leave_ends_at_the_earliest_deadline_of_host_and_guests) {
  for (bool const guest_first : {true, false}) {
    cluster c{2};
    host_all(c, 2);
    int const g = guest(c, 0);
    c.join({g, 0}, 7);
    auto const by_first = guest_first ? c.leave({g, 0}, 1s) : c.leave(0, 2s);
    auto const by_second = guest_first ? c.leave(0, 2s) : c.leave({g, 0}, 1s);

    BOOST_TEST(c.pass(1s - 1ns).code(by_first, by_second) == "waits waits");
    BOOST_TEST(c.pass(1ns).code(by_first, by_second) == "INTERNAL INTERNAL");
  }
}

BOOST_AUTO_TEST_CASE(the_last_guest_leave_decides_whether_its_task_returns) {
  for (bool const returning : {true, false}) {
    cluster c{2, {.recoverable = true}};
    host_all(c, 2);
    auto const waits = c.barrier(1, "b", without_limit);
    for (bool const says : {!returning, returning}) {
      int const g = guest(c, 0);
      c.join({g, 0}, 7);
      BOOST_TEST(c.code(c.leave({g, 0}, 300s, says)) == "OK");
      BOOST_TEST(c.state_of(0) == "connected");
      BOOST_TEST(c.code(waits) == "waits");
    }

    BOOST_TEST(c.code(c.leave(0)) == "OK");

    BOOST_TEST(c.state_of(0) == (returning ? "returning" : "left"));
    BOOST_TEST(c.code(waits) == (returning ? "waits" : "FAILED_PRECONDITION"));
  }
}

BOOST_AUTO_TEST_CASE(the_hosts_return_option_overrides_its_guests) {
  cluster c{1, {.recoverable = true}};
  host_all(c, 1);
  c.leave({guest(c, 0), 0});

  BOOST_TEST(c.code(c.leave(0, 300s, true)) == "OK");

  BOOST_TEST(c.state_of(0) == "returning");
}

BOOST_AUTO_TEST_CASE(a_host_that_dies_after_its_guest_left_to_return_makes_the_task_returning) {
  cluster c{2, {.recoverable = true}};
  host_all(c, 2);
  c.leave({guest(c, 0), 0}, 300s, true);

  kill(c, 0);

  BOOST_TEST(c.state_of(0) == "returning");
}

BOOST_AUTO_TEST_CASE(the_shutdown_barrier_waits_for_a_task_whose_guest_left_to_return) {
  cluster c{2, {.leave_together = true, .recoverable = true}};
  host_all(c, 2);
  c.leave({guest(c, 0), 0}, 300s, true);

  auto const waits = c.leave(1);

  BOOST_TEST(c.code(waits) == "waits");
}

BOOST_FIXTURE_TEST_CASE(a_guest_and_a_task_without_one_leave_together, job<2>) {
  grant(c, 0);
  int const g = guest(c, 0);

  auto const by_guest = c.leave({g, 0});
  auto const by_task = c.leave(1);

  BOOST_TEST(c.code(by_guest, by_task) == "OK OK");
  BOOST_TEST(c.state_of(0) == "connected");
  BOOST_TEST(c.state_of(1) == "left");
  BOOST_TEST(c.code(c.leave(0)) == "OK");
}

BOOST_AUTO_TEST_CASE(a_second_guest_finds_the_task_joined_and_leaves_again) {
  cluster c{2};
  host_all(c, 2);
  for (int round = 1; round <= 2; ++round) {
    int const a = guest(c, 0);
    int const b = guest(c, 1);
    c.join({a, 0}, 7);
    c.join({b, 1}, 8);
    c.barrier(a, "b");
    BOOST_TEST(c.round(c.barrier(b, "b")) == "round " + std::to_string(round));
    auto const first = c.leave({a, 0});
    BOOST_TEST(c.code(first) == "waits");
    BOOST_TEST(c.after(c.leave({b, 1})).code(first) == "OK");
    c.bye(a).bye(b);
  }
}

BOOST_FIXTURE_TEST_CASE(a_second_guest_of_one_task_leaves_alone, job<2>) {
  host_all(c, 2);
  int const a = guest(c, 0);
  int const b = guest(c, 1);
  c.leave({a, 0});
  c.leave({b, 1});

  int const again = guest(c, 0);
  c.join({again, 0}, 9);

  BOOST_TEST(c.code(c.leave({again, 0})) == "OK");
}

BOOST_FIXTURE_TEST_CASE(two_concurrent_guests_leave_as_one_task, job<2>) {
  host_all(c, 1);
  int const a = guest(c, 0);
  int const b = guest(c, 0);
  c.join({a, 0}, 7);
  c.join({b, 0}, 8);

  auto const first = c.leave({a, 0});
  auto const second = c.leave({b, 0});
  BOOST_TEST(c.code(first, second) == "waits waits");
  BOOST_TEST(c.cancel(first).look().barriers.size() == 1u);
  BOOST_TEST(c.after(c.leave(1)).code(second) == "OK");
  BOOST_TEST(c.code(c.leave(0)) == "OK");
}

BOOST_FIXTURE_TEST_CASE(a_task_has_not_left_while_another_guest_runs, job<2>) {
  host_all(c, 2);
  int const a = guest(c, 0);
  int const works_on = guest(c, 0);
  int const b = guest(c, 1);
  c.join({a, 0}, 7);
  c.join({works_on, 0}, 8);
  c.leave({a, 0});
  c.leave({b, 1});

  auto const by_host = c.leave(1);
  BOOST_TEST(c.code(by_host) == "OK");  // no task waits for its own guest
  BOOST_TEST(c.code(c.leave({works_on, 0})) == "OK");
  BOOST_TEST(c.code(c.leave(0)) == "OK");
}

BOOST_AUTO_TEST_CASE(without_the_shutdown_barrier_a_guest_leaves_at_once_and_the_task_stays) {
  cluster c{2};
  host_all(c, 2);
  int const g = guest(c, 0);
  auto const waits = c.leave({guest(c, 1), 1});

  BOOST_TEST(c.code(c.leave({g, 0}, 0s)) == "OK");

  BOOST_TEST(c.code(waits) == "OK");
  BOOST_TEST(c.state_of(0) == "connected");
}

BOOST_FIXTURE_TEST_CASE(a_guest_leaves_at_once_while_another_of_the_task_waits_to_leave, job<2>) {
  host_all(c, 2);
  auto const waits = c.leave({guest(c, 0), 0});
  BOOST_TEST(c.code(c.leave({guest(c, 0), 0}, 0s)) == "OK");
  BOOST_TEST(c.code(waits) == "waits");

  BOOST_TEST(c.after(c.leave(1)).code(waits) == "OK");
}

BOOST_FIXTURE_TEST_CASE(a_host_that_dies_after_its_guest_left_has_left, job<2>) {
  host_all(c, 2);
  int const a = guest(c, 0);
  int const b = guest(c, 1);
  c.leave({a, 0});
  c.leave({b, 1});

  kill(c, 0);
  c.report_error({1, 1}, errc::aborted, "'sh' exited with status 3");

  BOOST_TEST(c.state_of(0) == "left");
  BOOST_TEST(c.state_of(1) == "left");
  BOOST_TEST(c.error() == "none");
}

BOOST_FIXTURE_TEST_CASE(the_hosts_leave_replaces_the_leave_of_its_guests, job<2>) {
  host_all(c, 2);
  auto const by_guest = c.leave({guest(c, 0), 0});
  auto const by_host = c.leave(0);
  auto const late = c.leave({guest(c, 0), 0});

  BOOST_TEST(c.code(c.leave(1)) == "OK");

  BOOST_TEST(c.code(by_guest, by_host, late) == "OK OK OK");
  BOOST_TEST(c.state_of(0) == "left");
}

BOOST_FIXTURE_TEST_CASE(a_host_that_takes_back_its_leave_leaves_its_guests_waiting, job<2>) {
  host_all(c, 2);
  auto const by_host = c.leave(0);
  auto const by_guest = c.leave({guest(c, 0), 0});

  BOOST_TEST(c.cancel(by_host).code(by_guest) == "waits");
  BOOST_TEST(c.code(c.leave(1)) == "OK");

  BOOST_TEST(c.code(by_guest) == "OK");
  BOOST_TEST(c.state_of(0) == "connected");
}

BOOST_AUTO_TEST_CASE(a_guest_is_notified_that_its_host_left) {
  for (bool const returning : {false, true}) {
    cluster c{2, {.recoverable = true}};
    host_all(c, 1);
    int const g = guest(c, 0);
    c.leave(0, 300s, returning);
    std::string const text =
        "task 0 (host0:1000) has left the job, so its programs can no longer act for it";

    for (auto const refused : {c.barrier({g, 0}, "b"), c.join({g, 0}, 7), c.leave({g, 0})}) {
      BOOST_TEST(c.code(refused) == "FAILED_PRECONDITION");
      BOOST_TEST(c.text(refused) == text);
    }
    BOOST_TEST(c.code(c.put(g, "k", "v")) == "OK");

    expect_words(c.bye(0).goodbye(g), {"FAILED_PRECONDITION: " + text});
    BOOST_TEST(c.error() == "none");
  }
}

BOOST_FIXTURE_TEST_CASE(a_guest_reports_the_failure_of_the_task, job<2>) {
  grant(c, 0);
  int const g = guest(c, 0);

  BOOST_TEST(c.code(c.report_error({g, 0}, errc::data_loss, "disk")) == "OK");

  expect_words(c.error(), {"task 0: DATA_LOSS: disk"});
  BOOST_TEST(c.code(c.barrier({g, 0}, "b")) == "FAILED_PRECONDITION");
}

BOOST_AUTO_TEST_CASE(a_guest_resets_a_recoverable_task_and_joins_for_its_host) {
  cluster c{2, {.recoverable = true}};
  grant(c, 0);
  int const g = guest(c, 0);
  c.report_error({g, 0}, errc::data_loss, "disk");
  BOOST_TEST(c.code(c.join({g, 0}, 7)) == "ABORTED");
  c.bye(g);

  int const next = guest(c, 0);
  BOOST_TEST(c.code(c.reset({next, 0}, 0)) == "OK");
  BOOST_TEST(c.code(c.join({next, 0}, 7)) == "OK");
  BOOST_TEST(c.bye(next).state_of(0) == "connected");
  BOOST_TEST(c.look().tasks[0].self.value == 100u);
  auto const by_host = c.barrier(0, "b");
  BOOST_TEST(c.after(c.barrier(1, "b")).round(by_host) == "round 1");
}

BOOST_FIXTURE_TEST_CASE(ephemeral_keys_of_a_guest_live_as_long_as_the_task, job<2>) {
  grant(c, 0);
  int const g = guest(c, 0);
  c.put_owned({g, 0}, "mine", "v");
  c.bye(g);
  BOOST_TEST(c.code(c.try_get(1, "mine")) == "OK");

  c.leave(0, 0s);

  BOOST_TEST(c.code(c.try_get(1, "mine")) == "NOT_FOUND");
}

BOOST_FIXTURE_TEST_CASE(a_guests_get_counts_as_the_tasks_for_deadlocks, job<2>) {
  host_all(c, 2);
  int const a = guest(c, 0);
  c.put(a, "other", "v");
  c.get(a, "never");
  c.barrier(guest(c, 1), "b");

  expect_words(c.pass(1s).log(), {"deadlock: tasks 0-1 are blocked", "key 'never'", "barrier 'b'"});
}

BOOST_FIXTURE_TEST_CASE(guests_stop_at_the_step_that_all_agree_on, job<2>) {
  host_all(c, 2);
  int const a = guest(c, 0);
  int const b = guest(c, 1);
  BOOST_TEST(c.code(reached(c, a, 7)) == "OK");
  BOOST_TEST(c.code(reached(c, b, 9)) == "OK");

  c.preempt(0, 1);
  c.frozen(0, 1, 0);
  auto const waits = reached(c, a, 8);
  BOOST_TEST(c.code(waits) == "waits");
  BOOST_TEST(c.code(reached(c, a, 7)) == "OK");
  BOOST_TEST(c.after(c.frozen(1, 1, 0)).code(waits) == "OK");
  BOOST_TEST(!stops(c, waits));
  BOOST_TEST(!stops(c, reached(c, a, 9)));
  BOOST_TEST(stops(c, reached(c, a, 10)));
  BOOST_TEST(stops(c, reached(c, b, 10)));
  BOOST_TEST(stops(c, reached(c, guest(c, 0), 10)));  // another guest, the same step
  BOOST_TEST(!stops(c, reached(c, a, 11)));
}

BOOST_FIXTURE_TEST_CASE(a_guest_that_comes_during_an_agreement_waits_for_it, job<2>) {
  c.preempt(0, 1);
  c.frozen(0, 1, 0);
  grant(c, 0);
  int const g = guest(c, 0);

  auto const waits = reached(c, g, 1);
  BOOST_TEST(c.code(waits) == "waits");
  c.frozen(1, 1, 0);

  BOOST_TEST(stops(c, waits));
}

BOOST_FIXTURE_TEST_CASE(a_failed_agreement_or_a_departed_guest_stops_no_task, job<2>) {
  host_all(c, 1);
  int const g = guest(c, 0);
  c.preempt(0, 1);
  c.frozen(0, 1, 0);
  auto const taken_back = reached(c, g, 1);
  c.cancel(taken_back);
  auto const waits = reached(c, g, 1);
  auto const gone = guest(c, 0);
  reached(c, gone, 1);
  kill(c, gone);

  BOOST_TEST(c.pass(c.logic().options().preemption_timeout).code(waits) == "OK");
  BOOST_TEST(!stops(c, waits));
}

BOOST_FIXTURE_TEST_CASE(a_guest_cannot_answer_an_agreement, job<1>) {
  host_all(c, 1);
  BOOST_TEST(c.code(c.frozen(guest(c, 0), 1, 3)) == "INVALID_ARGUMENT");
}

BOOST_FIXTURE_TEST_CASE(a_guest_gets_no_agreement_push, job<1>) {
  host_all(c, 1);
  int const g = guest(c, 0);
  c.join({g, 0}, 7);
  c.preempt(0, 0);
  BOOST_TEST(c.pushed<core::freeze_request>(g).empty());
  BOOST_TEST(c.pushed<core::freeze_request>(0).size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
