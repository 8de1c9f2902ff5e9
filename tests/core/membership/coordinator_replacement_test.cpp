// A new incarnation replaces a recoverable one: §1.2, §3.1, §1.8.2 to §1.8.6, sharp edges 1, 2
// and 4.

#include "tests/core/steps.hpp"

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

rows const cases{
    {"a_suspect_recoverable_holder_is_replaced_at_once", 2,
     "cut 0; observer x; x/0 joins 555 -> OK; state 0 -> connected; resume 0; "
     "0/0 barrier b -> ABORTED; at 10s; state 0 -> connected",
     recoverable()},
    {"a_claimant_is_refused_when_the_job_fails_while_it_waits", 2,
     "empty; observer holder; holder/0 joins 100 300s recoverable; observer other; "
     "other/1 joins 101; mute holder; observer x; asked = x/0 joins 555; other reports boom; "
     "at 2s; asked -> ABORTED; asked ~ the job has failed ... boom"},
    {"take_over_of_a_free_task_is_a_plain_join", 1,
     "empty; observer x; 0/0 joins 1 300s takes-over -> OK; 0/0 joins 1 300s takes-over -> OK; "
     "0 reports boom; 0/0 joins 2 300s takes-over -> OK",
     recoverable()},
    // Sharp edge 2: two processes that take over from each other are detected, and neither acts for
    // the other.
    {"after_take_overs_only_the_last_session_can_act", 2,
     "observer second; second/0 joins 200 300s takes-over; 0/0 joins 300 300s takes-over; "
     "second/0 put k v -> ABORTED; 0/0 put k v -> OK; log ~ new incarnation (300) took over",
     recoverable()},
    {"replacement_while_joining_the_newer_one_wins", 2,
     "empty; observer x; older = x/0 joins 1; observer x2; newer = x2/0 joins 2 300s takes-over; "
     "older -> ALREADY_EXISTS; observer x3; x3/1 joins 3; newer -> OK; 0/0 barrier b -> ABORTED",
     recoverable()},
    // §1.8.4 and sharp edge 4: its arrival is cancelled and the round waits for the claimant.
    {"replacement_in_a_barrier_ends_the_old_call_and_not_the_round", 3,
     "old = 0 barrier b; one = 1 barrier b; observer fresh; fresh/0 joins 555 300s takes-over; "
     "old -> ABORTED; old ~ task 0 ... replaced by a new incarnation; 2 barrier b; one -> waits; "
     "own = fresh barrier b; one -> round 1; own -> round 1",
     recoverable()},
    {"replacement_fails_a_round_with_fail_when_lost", 2,
     "one = 1 barrier b 300s fail_when_lost; observer x; x/0 joins 555 300s takes-over; "
     "one -> INTERNAL; one ~ task 0 (host0:1000) failed ... new incarnation (555)",
     recoverable()},
    {"replacement_in_a_blocked_get_ends_it", 2,
     "old = 0 get k; observer x; x/0 joins 555 300s takes-over; old -> ABORTED; waiting-gets -> 0",
     recoverable()},
    {"replacement_while_leaving_makes_the_leave_wait_for_the_claimant", 2,
     "old = 0 leaves; observer fresh; fresh/0 joins 555 300s takes-over; old -> ABORTED; "
     "one = 1 leaves; one -> waits; fresh leaves; one -> OK",
     config{.leave_together = true, .recoverable = true}},
    {"replacement_of_the_last_missing_task_does_not_release_the_leave", 2,
     "one = 1 leaves; observer fresh; fresh/0 joins 555 300s takes-over; one -> waits; "
     "fresh leaves; one -> OK",
     config{.leave_together = true, .recoverable = true}},
    {"replacement_of_a_suspect_ends_its_calls_and_informs_it_at_resume", 2,
     "old = 0 barrier b; cut 0; observer x; x/0 joins 555; barriers -> 0; resume 0; old -> ABORTED",
     recoverable()},
    {"replacement_by_the_same_session_continues_as_the_new_incarnation", 2,
     "old = 0 barrier b; 0/0 joins 555 300s takes-over -> OK; old -> ABORTED; own = 0 barrier b; "
     "1 barrier b; own -> round 1",
     recoverable()},
    {"a_session_keeps_its_other_tasks_when_one_is_replaced", 2,
     "empty; observer both; both/0 joins 100; both/1 joins 101; observer fresh; "
     "fresh/0 joins 555 300s takes-over; both put k v -> OK; both barrier b 300s t1 -> OK; "
     "both/0 barrier b -> ABORTED",
     recoverable()},
    {"a_replaced_session_can_join_again", 1,
     "observer fresh; fresh/0 joins 555 300s takes-over; 0 put k v -> ABORTED; "
     "0/0 joins 556 300s takes-over; 0 put k v -> OK; fresh put k w overwrite -> ABORTED",
     recoverable()},
    {"a_claimant_replaces_a_probed_holder_whose_connection_is_lost", 2,
     "mute 0; observer x; first = x/0 joins 1; cut 0; observer x2; second = x2/0 joins 2; "
     "first -> ALREADY_EXISTS; second -> OK",
     recoverable()},
    {"replacement_of_a_silent_connected_holder_ends_its_calls", 2,
     "mute 0; old = 0 barrier b; observer x; x/0 joins 555; at 2s; old -> ABORTED; barriers -> 0",
     recoverable()},
    {"a_recoverable_holder_that_lives_is_not_harmed", 2,
     "observer x; asked = x/0 joins 555; pass 200ms; asked -> ABORTED; self 0 -> 100",
     recoverable()},
    {"the_newest_of_several_claimants_replaces_the_holder", 2,
     "mute 0; observer x; first = x/0 joins 1; at 1s; observer x2; second = x2/0 joins 2; at 2s; "
     "first -> ALREADY_EXISTS; second -> OK; self 0 -> 2",
     recoverable()},
    {"a_cancelled_claimant_does_not_replace_the_holder", 2,
     "mute 0; observer x; gone = x/0 joins 555; cancel gone; at 10s; state 0 -> connected; "
     "self 0 -> 100",
     recoverable()},
    {"a_disconnected_claimant_joins_as_suspect", 2,
     "mute 0; observer fresh; at 1s; asked = fresh/0 joins 555; at 2s; cut fresh; at 3s; "
     "self 0 -> 555; state 0 -> suspect; resume fresh; asked -> OK; state 0 -> connected",
     recoverable()},
    {"take_over_needs_recoverable_tasks_on_both_sides", 2,
     "empty; observer x; x/0 joins 100; observer x2; x2/1 joins 101 300s recoverable; observer x3; "
     "holder_is_not = x3/0 joins 555 300s recoverable takes-over; observer x4; claimant_is_not = "
     "x4/1 joins 555 300s takes-over; holder_is_not -> INVALID_ARGUMENT; holder_is_not ~ task 0 "
     "... did not join as a recoverable task; claimant_is_not -> INVALID_ARGUMENT; claimant_is_not "
     "~ only a recoverable task ... task 1; state 0 -> connected; self 1 -> 101"},
    {"take_over_comes_before_claimants_waiting_for_the_probe", 2,
     "mute 0; observer x; patient = x/0 joins 1; observer x2; hasty = x2/0 joins 2 300s "
     "takes-over; patient -> ALREADY_EXISTS; hasty -> OK; at 10s; self 0 -> 2",
     recoverable()},
    {"a_silent_recoverable_holder_is_replaced_by_the_claimant", 2,
     "mute 0; observer fresh fresh:1; asked = fresh/0 joins 555; at 2s-; asked -> waits; at 2s; "
     "asked -> OK; asked ~ joined a running job; state 0 -> connected; self 0 -> 555; "
     "error -> none; fresh barrier b; 1 barrier b; replies -> 2:OK 2:OK 1:OK",
     recoverable()},
    {"take_over_replaces_a_live_recoverable_holder_without_a_probe", 2,
     "observer fresh; fresh/0 joins 555 300s takes-over -> OK; pushes probes 0 -> 0; "
     "self 0 -> 555; error -> none; bye 0; state 0 -> connected",
     recoverable()},
};

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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
