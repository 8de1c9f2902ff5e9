// A new incarnation replaces a recoverable one: §1.2, §3.1, §1.8.2 to §1.8.6, sharp edges 1, 2
// and 4.

#include "tests/core/cluster.hpp"

namespace coxswain::test {
namespace {

core::config recoverable() { return core::config{.recoverable = true}; }

constexpr joining taking_over{.recoverable = {}, .take_over = true};

// Task 0 of two is held by client 0, incarnation 100, and does not answer a probe.
class silent_holder : public cluster {
 public:
  silent_holder() : cluster{2, recoverable()} { (*this)[0].beats = false; }
};

BOOST_AUTO_TEST_SUITE(coordinator_replacement_test)

BOOST_AUTO_TEST_CASE(a_silent_recoverable_holder_is_replaced_by_the_claimant) {
  silent_holder c;
  int const fresh = c.observer("fresh:1");
  auto const asked = c.join({fresh, 0}, 555);

  c.at(2s - 1ns);
  BOOST_TEST(c.code(asked) == "waits");
  c.at(2s);

  BOOST_TEST(c.code(asked) == "OK");
  BOOST_TEST(c.body<core::join_answer>(asked)->already_started);
  BOOST_TEST(c.state_of(0) == "connected");
  BOOST_TEST(c.look().tasks[0].self.value == 555u);
  BOOST_TEST(c.error() == "none");
  c.barrier(fresh, "b");
  c.barrier(1, "b");
  BOOST_TEST(c.replies() == "2:OK 2:OK 1:OK");
}

BOOST_AUTO_TEST_CASE(a_replaced_session_learns_which_task_to_name_in_a_join) {
  cluster c{2, recoverable()};
  c.task_ended(0, {errc::internal, "killed"});
  c.join({c.observer(), 0}, 555);
  BOOST_TEST(c.code(c.barrier(0, "b")) == "ABORTED");

  auto const unnamed = c.join(0, 556);

  BOOST_TEST(c.code(unnamed) == "INVALID_ARGUMENT");
  BOOST_TEST(c.text(unnamed) == "a Join must name its task");
}

BOOST_AUTO_TEST_CASE(a_probed_holder_of_two_tasks_that_answers_keeps_both) {
  auto c = cluster::without_clients(2, recoverable());
  int const both = c.observer();
  c.join({both, 0}, 1);
  c.join({both, 1}, 2);

  auto const asked = c.join({c.observer(), 1}, 555);

  BOOST_TEST(c.pass(200ms).code(asked) == "ABORTED");
  expect_words(c.text(asked), {"task 1", "is alive in another incarnation"});
  BOOST_TEST(c.state_of(0) + c.state_of(1) == "connectedconnected");
}

BOOST_AUTO_TEST_CASE(a_recoverable_holder_that_lives_is_not_harmed) {
  cluster c{2, recoverable()};

  auto const asked = c.join({c.observer(), 0}, 555);
  BOOST_TEST(c.pass(200ms).code(asked) == "ABORTED");
  BOOST_TEST(c.look().tasks[0].self.value == 100u);
}

BOOST_AUTO_TEST_CASE(a_suspect_recoverable_holder_is_replaced_at_once) {
  cluster c{2, recoverable()};
  c.lose(0);

  BOOST_TEST(c.code(c.join({c.observer(), 0}, 555)) == "OK");
  BOOST_TEST(c.state_of(0) == "connected");
  c.resume(0);
  BOOST_TEST(c.code(c.barrier({0, 0}, "b")) == "ABORTED");
  BOOST_TEST(c.at(10s).state_of(0) == "connected");
}

BOOST_AUTO_TEST_CASE(the_newest_of_several_claimants_replaces_the_holder) {
  silent_holder c;
  auto const first = c.join({c.observer(), 0}, 1);
  c.at(1s);
  auto const second = c.join({c.observer(), 0}, 2);

  c.at(2s);

  BOOST_TEST(c.code(first) == "ALREADY_EXISTS");
  BOOST_TEST(c.code(second) == "OK");
  BOOST_TEST(c.look().tasks[0].self.value == 2u);
}

BOOST_AUTO_TEST_CASE(a_claimant_replaces_a_probed_holder_whose_connection_is_lost) {
  silent_holder c;
  auto const first = c.join({c.observer(), 0}, 1);
  c.lose(0);

  auto const second = c.join({c.observer(), 0}, 2);

  BOOST_TEST(c.code(first) == "ALREADY_EXISTS");
  BOOST_TEST(c.code(second) == "OK");
}

BOOST_AUTO_TEST_CASE(a_claimant_joins_when_the_holder_fails_otherwise) {
  enum class way { grace, abandoned, malformed, reported, ended };
  for (way const w : {way::grace, way::abandoned, way::malformed, way::reported, way::ended}) {
    BOOST_TEST_CONTEXT("way " << static_cast<int>(w)) {
      auto c = cluster::without_clients(1, {.reconnect_grace = 5s, .recoverable = true});
      int const holder = c.observer();
      c.join({holder, 0}, 100);
      c[holder].beats = false;
      auto const asked = c.join({c.observer(), 0}, 555);
      if (w == way::grace) c.lose(holder);
      if (w == way::abandoned) c.bye(holder, true);
      if (w == way::malformed) c.malformed(holder, "noise");
      if (w == way::reported) c.report_error(holder, errc::internal, "boom");
      if (w == way::ended) c.task_ended(0, {errc::aborted, "signal 9"});

      c.pass(5s);

      BOOST_TEST(c.code(asked) == "OK");
      BOOST_TEST(c.state_of(0) == "connected");
      BOOST_TEST(c.error() == "none");
    }
  }
}

// A relay that was stopped passes on what the process had sent, and then its end.
BOOST_AUTO_TEST_CASE(the_last_bytes_of_a_dead_holder_do_not_refuse_its_claimant) {
  enum class way { ended, lost };
  for (way const w : {way::ended, way::lost}) {
    silent_holder c;
    auto const asked = c.join({c.observer(), 0}, 555);
    c.heartbeat(0);
    BOOST_TEST(c.pass(200ms - 1ns).code(asked) == "waits");
    if (w == way::ended) c.task_ended(0, {errc::unavailable, "killed"});
    if (w == way::lost) c.lose(0);

    BOOST_TEST(c.pass(1ns).code(asked) == "OK");
    BOOST_TEST(c.look().tasks[0].self.value == 555u);
    BOOST_TEST(c.error() == "none");
  }
}

BOOST_FIXTURE_TEST_CASE(a_claimant_is_refused_when_the_job_fails_while_it_waits, empty_job<2>) {
  int const holder = c.observer();
  c.join({holder, 0}, 100, 300s, {.recoverable = true});
  int const other = c.observer();
  c.join({other, 1}, 101);
  c[holder].beats = false;
  auto const asked = c.join({c.observer(), 0}, 555);

  c.report_error(other, errc::internal, "boom");
  BOOST_TEST(c.at(2s).code(asked) == "ABORTED");
  expect_words(c.text(asked), {"the job has failed", "boom"});
}

BOOST_AUTO_TEST_CASE(a_cancelled_claimant_does_not_replace_the_holder) {
  silent_holder c;
  c.cancel(c.join({c.observer(), 0}, 555));

  c.at(10s);

  BOOST_TEST(c.state_of(0) == "connected");
  BOOST_TEST(c.look().tasks[0].self.value == 100u);
}

BOOST_AUTO_TEST_CASE(a_disconnected_claimant_joins_as_suspect) {
  silent_holder c;
  int const fresh = c.observer();
  c.at(1s);
  auto const asked = c.join({fresh, 0}, 555);
  c.at(2s);
  c.lose(fresh);

  c.at(3s);
  BOOST_TEST(c.look().tasks[0].self.value == 555u);
  BOOST_TEST(c.state_of(0) == "suspect");
  c.resume(fresh);

  BOOST_TEST(c.code(asked) == "OK");
  BOOST_TEST(c.state_of(0) == "connected");
}

BOOST_AUTO_TEST_CASE(take_over_replaces_a_live_recoverable_holder_without_a_probe) {
  cluster c{2, recoverable()};
  int const fresh = c.observer();

  BOOST_TEST(c.code(c.join({fresh, 0}, 555, 300s, taking_over)) == "OK");
  BOOST_TEST(c.pushed<core::probe>(0).empty());
  BOOST_TEST(c.look().tasks[0].self.value == 555u);
  BOOST_TEST(c.error() == "none");
  BOOST_TEST(c.bye(0).state_of(0) == "connected");
}

BOOST_AUTO_TEST_CASE(take_over_needs_recoverable_tasks_on_both_sides) {
  auto c = cluster::without_clients(2);
  c.join({c.observer(), 0}, 100);
  c.join({c.observer(), 1}, 101, 300s, {.recoverable = true});

  auto const holder_is_not =
      c.join({c.observer(), 0}, 555, 300s, {.recoverable = true, .take_over = true});
  auto const claimant_is_not = c.join({c.observer(), 1}, 555, 300s, taking_over);

  BOOST_TEST(c.code(holder_is_not) == "INVALID_ARGUMENT");
  expect_words(c.text(holder_is_not), {"task 0", "did not join as a recoverable task"});
  BOOST_TEST(c.code(claimant_is_not) == "INVALID_ARGUMENT");
  expect_words(c.text(claimant_is_not), {"only a recoverable task", "task 1"});
  BOOST_TEST(c.state_of(0) == "connected");
  BOOST_TEST(c.look().tasks[1].self.value == 101u);
}

BOOST_AUTO_TEST_CASE(take_over_of_a_free_task_is_a_plain_join) {
  auto c = cluster::without_clients(1, recoverable());
  c.observer();

  BOOST_TEST(c.code(c.join({0, 0}, 1, 300s, taking_over)) == "OK");
  BOOST_TEST(c.code(c.join({0, 0}, 1, 300s, taking_over)) == "OK");
  c.report_error(0, errc::internal, "boom");
  BOOST_TEST(c.code(c.join({0, 0}, 2, 300s, taking_over)) == "OK");
}

BOOST_AUTO_TEST_CASE(take_over_comes_before_claimants_waiting_for_the_probe) {
  silent_holder c;
  auto const patient = c.join({c.observer(), 0}, 1);

  auto const hasty = c.join({c.observer(), 0}, 2, 300s, taking_over);

  BOOST_TEST(c.code(patient) == "ALREADY_EXISTS");
  BOOST_TEST(c.code(hasty) == "OK");
  c.at(10s);
  BOOST_TEST(c.look().tasks[0].self.value == 2u);
}

// Sharp edge 2: two processes that take over from each other are detected, and neither acts for the
// other.
BOOST_AUTO_TEST_CASE(after_take_overs_only_the_last_session_can_act) {
  cluster c{2, recoverable()};
  int const second = c.observer();
  c.join({second, 0}, 200, 300s, taking_over);
  c.join({0, 0}, 300, 300s, taking_over);

  BOOST_TEST(c.code(c.put({second, 0}, "k", "v")) == "ABORTED");
  BOOST_TEST(c.code(c.put({0, 0}, "k", "v")) == "OK");
  BOOST_TEST(contains(c.log(), "new incarnation (300) took over"));
}

BOOST_AUTO_TEST_CASE(replacement_while_joining_the_newer_one_wins) {
  auto c = cluster::without_clients(2, recoverable());
  auto const older = c.join({c.observer(), 0}, 1);
  auto const newer = c.join({c.observer(), 0}, 2, 300s, taking_over);

  BOOST_TEST(c.code(older) == "ALREADY_EXISTS");
  BOOST_TEST(c.after(c.join({c.observer(), 1}, 3)).code(newer) == "OK");
  BOOST_TEST(c.code(c.barrier({0, 0}, "b")) == "ABORTED");
}

// §1.8.4 and sharp edge 4: its arrival is cancelled and the round waits for the claimant.
BOOST_AUTO_TEST_CASE(replacement_in_a_barrier_ends_the_old_call_and_not_the_round) {
  cluster c{3, recoverable()};
  auto const old = c.barrier(0, "b");
  auto const one = c.barrier(1, "b");
  int const fresh = c.observer();
  BOOST_TEST(c.after(c.join({fresh, 0}, 555, 300s, taking_over)).code(old) == "ABORTED");
  expect_words(c.text(old), {"task 0", "replaced by a new incarnation"});
  BOOST_TEST(c.after(c.barrier(2, "b")).code(one) == "waits");
  auto const own = c.barrier(fresh, "b");

  BOOST_TEST(c.round(one) == "round 1");
  BOOST_TEST(c.round(own) == "round 1");
}

BOOST_AUTO_TEST_CASE(replacement_fails_a_round_with_fail_when_lost) {
  cluster c{2, recoverable()};
  auto const one = c.barrier(1, "b", 300s, {.fail_when_lost = true});

  BOOST_TEST(c.after(c.join({c.observer(), 0}, 555, 300s, taking_over)).code(one) == "INTERNAL");
  expect_words(c.text(one), {"task 0 (host0:1000) failed", "new incarnation (555)"});
}

BOOST_AUTO_TEST_CASE(replacement_in_a_blocked_get_ends_it) {
  cluster c{2, recoverable()};
  auto const old = c.get(0, "k");
  BOOST_TEST(c.after(c.join({c.observer(), 0}, 555, 300s, taking_over)).code(old) == "ABORTED");
  BOOST_TEST(c.look().waiting_gets == 0u);
}

BOOST_AUTO_TEST_CASE(replacement_while_leaving_makes_the_leave_wait_for_the_claimant) {
  cluster c{2, {.leave_together = true, .recoverable = true}};
  auto const old = c.leave(0);
  int const fresh = c.observer();
  BOOST_TEST(c.after(c.join({fresh, 0}, 555, 300s, taking_over)).code(old) == "ABORTED");
  auto const one = c.leave(1);
  BOOST_TEST(c.code(one) == "waits");
  BOOST_TEST(c.after(c.leave(fresh)).code(one) == "OK");
}

BOOST_AUTO_TEST_CASE(replacement_of_the_last_missing_task_does_not_release_the_leave) {
  cluster c{2, {.leave_together = true, .recoverable = true}};
  auto const one = c.leave(1);

  int const fresh = c.observer();
  BOOST_TEST(c.after(c.join({fresh, 0}, 555, 300s, taking_over)).code(one) == "waits");
  BOOST_TEST(c.after(c.leave(fresh)).code(one) == "OK");
}

BOOST_AUTO_TEST_CASE(replacement_of_a_suspect_ends_its_calls_and_informs_it_at_resume) {
  cluster c{2, recoverable()};
  auto const old = c.barrier(0, "b");
  c.lose(0);
  c.join({c.observer(), 0}, 555);
  BOOST_TEST(c.look().barriers.empty());

  c.resume(0);

  BOOST_TEST(c.code(old) == "ABORTED");
}

BOOST_AUTO_TEST_CASE(replacement_of_a_silent_connected_holder_ends_its_calls) {
  silent_holder c;
  auto const old = c.barrier(0, "b");
  c.join({c.observer(), 0}, 555);

  c.at(2s);

  BOOST_TEST(c.code(old) == "ABORTED");
  BOOST_TEST(c.look().barriers.empty());
}

BOOST_AUTO_TEST_CASE(replacement_by_the_same_session_continues_as_the_new_incarnation) {
  cluster c{2, recoverable()};
  auto const old = c.barrier(0, "b");

  BOOST_TEST(c.code(c.join({0, 0}, 555, 300s, taking_over)) == "OK");
  BOOST_TEST(c.code(old) == "ABORTED");
  auto const own = c.barrier(0, "b");
  BOOST_TEST(c.after(c.barrier(1, "b")).round(own) == "round 1");
}

// §3.1: a replaced session is refused, whatever became of the task.
BOOST_AUTO_TEST_CASE(a_replaced_session_learns_that_it_was_replaced) {
  enum class way { failed, left, taken_over };
  for (way const w : {way::failed, way::left, way::taken_over}) {
    BOOST_TEST_CONTEXT("way " << static_cast<int>(w)) {
      cluster c{2, recoverable()};
      if (w == way::failed) c.report_error(0, errc::internal, "boom");
      if (w == way::left) c.leave(0, 0s);
      int const fresh = c.observer();
      c.join({fresh, 0}, 555, 300s, taking_over);

      for (auto const& one : {c.barrier({0, 0}, "b"), c.put({0, 0}, "k", "v"), c.leave({0, 0}),
                              c.report_error({0, 0}, errc::internal, "x")}) {
        BOOST_TEST(c.code(one) == "ABORTED");
      }
      BOOST_TEST(c.code(c.barrier(fresh, "b", 300s, {.among = {0}})) == "OK");
      BOOST_TEST(c.error() == "none");
    }
  }
}

// Clients do not name their task in calls that need none.
BOOST_AUTO_TEST_CASE(a_replaced_session_cannot_act_as_an_observer) {
  cluster c{2, recoverable()};
  c.put(1, "k", "v");
  int const fresh = c.observer();
  c.join({fresh, 0}, 555, 300s, taking_over);

  for (auto const& one :
       {c.put(0, "k", "zombie", true), c.put(0, "new", "zombie"), c.append(0, "k", "zombie"),
        c.compare_and_set(0, "k", std::string{"v"}, "zombie"), c.increment(0, "n", 1),
        c.put_all(0, {{"a", "zombie"}}), c.remove(0, "k"), c.remove_tree(0, "k"),
        c.push(0, "q", "zombie"), c.pop(0, "q"), c.get(0, "k"), c.count_barrier(0, "c", 1),
        c.cancel(0, "b"), c.preempt(0, 1), c.watch_keys(0, ""), c.barrier(0, "b"), c.leave(0)}) {
    BOOST_TEST(c.code(one) == "ABORTED");
    expect_words(c.text(one), {"task 0", "held by another session, which replaced this one"});
  }
  BOOST_TEST(c.listing(c.list(1, "")) == "k=v");
  BOOST_TEST(c.error() == "none");
}

BOOST_AUTO_TEST_CASE(a_session_keeps_its_other_tasks_when_one_is_replaced) {
  auto c = cluster::without_clients(2, recoverable());
  int const both = c.observer();
  c.join({both, 0}, 100);
  c.join({both, 1}, 101);
  int const fresh = c.observer();
  c.join({fresh, 0}, 555, 300s, taking_over);

  BOOST_TEST(c.code(c.put(both, "k", "v")) == "OK");
  BOOST_TEST(c.code(c.barrier(both, "b", 300s, {.among = {1}})) == "OK");
  BOOST_TEST(c.code(c.barrier({both, 0}, "b")) == "ABORTED");
}

BOOST_AUTO_TEST_CASE(a_replaced_session_can_join_again) {
  cluster c{1, recoverable()};
  int const fresh = c.observer();
  c.join({fresh, 0}, 555, 300s, taking_over);
  BOOST_TEST(c.code(c.put(0, "k", "v")) == "ABORTED");

  c.join({0, 0}, 556, 300s, taking_over);

  BOOST_TEST(c.code(c.put(0, "k", "v")) == "OK");
  BOOST_TEST(c.code(c.put(fresh, "k", "w", true)) == "ABORTED");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
