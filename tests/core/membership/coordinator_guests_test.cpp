// Guests: sessions that act for a task joined by another session (§1.5).

#include "tests/core/steps.hpp"

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

rows const cases{
    {"a_guest_acts_for_the_task_of_its_host", 2,
     "0/0 grants -> OK; guest g 0; named = g/0 barrier a; unnamed = g barrier b; "
     "1 barrier a -> round 1; 1 barrier b -> round 1; named -> round 1; unnamed -> round 1"},
    {"a_guest_and_a_task_without_one_leave_together", 2,
     "0/0 grants; guest g 0; by_guest = g/0 leaves; by_task = 1 leaves; by_guest by_task -> OK OK; "
     "state 0 -> connected; state 1 -> left; 0 leaves -> OK"},
    {"a_second_guest_of_one_task_leaves_alone", 2,
     "0/0 grants; 1/1 grants; replies; guest a 0; guest b 1; a/0 leaves; b/1 leaves; "
     "guest again 0; again/0 joins 9; again/0 leaves -> OK"},
    {"two_concurrent_guests_leave_as_one_task", 2,
     "0/0 grants; replies; guest a 0; guest b 0; a/0 joins 7; b/0 joins 8; first = a/0 leaves; "
     "second = b/0 leaves; first second -> waits waits; cancel first; barriers -> 1; 1 leaves; "
     "second -> OK; 0 leaves -> OK"},
    // no task waits for its own guest
    {"a_task_has_not_left_while_another_guest_runs", 2,
     "0/0 grants; 1/1 grants; replies; guest a 0; guest works_on 0; guest b 1; a/0 joins 7; "
     "works_on/0 joins 8; a/0 leaves; b/1 leaves; 1 leaves -> OK; works_on/0 leaves -> OK; "
     "0 leaves -> OK"},
    {"a_guest_reports_the_failure_of_the_task", 2,
     "0/0 grants; guest g 0; g/0 reports disk DATA_LOSS -> OK; error ~ task 0: DATA_LOSS: disk; "
     "g/0 barrier b -> FAILED_PRECONDITION"},
    {"ephemeral_keys_of_a_guest_live_as_long_as_the_task", 2,
     "0/0 grants; guest g 0; g/0 owns mine v; bye g; 1 try-get mine -> OK; 0 leaves 0s; "
     "1 try-get mine -> NOT_FOUND"},
    {"a_guest_that_comes_during_an_agreement_waits_for_it", 2,
     "0 preempts 1 0s; 0 is-at 1 0; 0/0 grants; guest g 0; waits = g reaches 1; waits -> waits; "
     "1 is-at 1 0; waits ~ all stop"},
    {"the_hosts_return_option_overrides_its_guests", 1,
     "0/0 grants; replies; guest g 0; g/0 leaves; 0 leaves returning 300s -> OK; "
     "state 0 -> returning",
     config{.recoverable = true}},
    {"a_host_that_dies_after_its_guest_left_to_return_makes_the_task_returning", 2,
     "0/0 grants; 1/1 grants; replies; guest g 0; g/0 leaves returning 300s; cut 0; pass 2001ms; "
     "state 0 -> returning",
     config{.recoverable = true}},
    {"the_shutdown_barrier_waits_for_a_task_whose_guest_left_to_return", 2,
     "0/0 grants; 1/1 grants; replies; guest g 0; g/0 leaves returning 300s; 1 leaves -> waits",
     config{.leave_together = true, .recoverable = true}},
    {"without_the_shutdown_barrier_a_guest_leaves_at_once_and_the_task_stays", 2,
     "0/0 grants; 1/1 grants; replies; guest g 0; guest h 1; waits = h/1 leaves; "
     "g/0 leaves 0s -> OK; waits -> OK; state 0 -> connected"},
    {"a_guest_leaves_at_once_while_another_of_the_task_waits_to_leave", 2,
     "0/0 grants; 1/1 grants; replies; guest g 0; waits = g/0 leaves; guest g2 0; "
     "g2/0 leaves 0s -> OK; waits -> waits; 1 leaves; waits -> OK"},
    {"the_hosts_leave_replaces_the_leave_of_its_guests", 2,
     "0/0 grants; 1/1 grants; replies; guest g 0; by_guest = g/0 leaves; by_host = 0 leaves; guest "
     "g2 0; late = g2/0 leaves; 1 leaves -> OK; by_guest by_host late -> OK OK OK; state 0 -> "
     "left"},
    {"a_host_that_takes_back_its_leave_leaves_its_guests_waiting", 2,
     "0/0 grants; 1/1 grants; replies; by_host = 0 leaves; guest g 0; by_guest = g/0 leaves; "
     "cancel by_host; by_guest -> waits; 1 leaves -> OK; by_guest -> OK; state 0 -> connected"},
    {"a_guest_resets_a_recoverable_task_and_joins_for_its_host", 2,
     "0/0 grants; guest g 0; g/0 reports disk DATA_LOSS; g/0 joins 7 -> ABORTED; bye g; "
     "guest next 0; next/0 resets 0 -> OK; next/0 joins 7 -> OK; bye next; state 0 -> connected; "
     "self 0 -> 100; by_host = 0 barrier b; 1 barrier b; by_host -> round 1",
     config{.recoverable = true}},
    {"a_guests_get_counts_as_the_tasks_for_deadlocks", 2,
     "0/0 grants; 1/1 grants; replies; guest a 0; a put other v; a get never; guest g 1; "
     "g barrier b; pass 1s; log ~ deadlock: tasks 0-1 are blocked ... key 'never' ... barrier 'b'"},
    {"a_guest_cannot_answer_an_agreement", 1,
     "0/0 grants; replies; guest g 0; g is-at 1 3 -> INVALID_ARGUMENT"},
    {"a_resumed_guest_executes_its_calls_once", 2,
     "0/0 grants; guest g 0; 1 push work item; deaf g; counted = g increment n 1; "
     "popped = g pop work; waited = g barrier b; 1 barrier b; hears g; blink g; counted -> OK 1; "
     "popped -> item; waited -> round 1; 1 increment n 1 -> OK 2; queued -> 0"},
    {"the_end_of_the_host_fails_the_task_and_ends_its_guests", 2,
     "0/0 grants; guest g 0; 1 push work item; waited = g barrier b; 1 barrier b -> OK; "
     "next = g barrier b; cut 0; pass 2001ms; waited next -> OK INTERNAL; pushes errors g -> 1; "
     "goodbye g ~ UNAVAILABLE: the session of its task has ended; error ~ task 0: UNAVAILABLE"},
    {"a_guest_gets_no_agreement_push", 1,
     "0/0 grants; replies; guest g 0; g/0 joins 7; 0 preempts 0 0s; pushes freezes g -> 0; "
     "pushes freezes 0 -> 1"},
};

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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
