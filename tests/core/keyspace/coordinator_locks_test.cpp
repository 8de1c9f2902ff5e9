// Locks: §9.1.

#include "tests/core/steps.hpp"

namespace coxswain::test {
namespace {

core::why_answer why(cluster& c) { return c.logic().why(t0 + c.now()); }

BOOST_AUTO_TEST_SUITE(coordinator_locks_test)

rows const cases{
    {"a_lock_has_one_owner_and_its_waiters_get_it_in_order", 3,
     "0 lock a -> 1; second = 2 lock a; third = 1 lock /a/; second -> waits; 0 unlock a 1 -> OK; "
     "second -> 2; third -> waits; 2 unlock a 2; third -> 3; 1 unlock a 3; 1 lock b -> 4; "
     "1 lock a -> 5"},
    {"a_lock_is_not_reentrant", 1,
     "0 lock a; again = 0 lock a; again -> waits; 0 unlock a 1; again -> 2"},
    {"a_resume_keeps_locks_and_queue_positions", 3,
     "0 lock a; first = 1 lock a; second = 2 lock a; cut 1; cut 0; resume 0; resume 1; "
     "0 unlock a 1; first -> 2; second -> waits"},
    {"a_lock_with_an_undelivered_reply_is_released", 2,
     "0 lock a; given_up = 1 lock a; cut 1; 0 unlock a 1; 0 try-lock a -> ALREADY_EXISTS; "
     "cancel given_up; resume 1; 0 try-lock a -> 3",
     config{.reconnect_grace = 10s}},
    {"a_cancelled_lock_request_stops_waiting", 3,
     "0 lock a; given_up = 1 lock a; next = 2 lock a; cancel given_up; 0 unlock a 1; next -> 2"},
    {"a_job_error_ends_waiting_requests_and_keeps_owned_locks", 3,
     "0 lock a; waits = 1 lock a; 2 reports broken; waits -> CANCELLED; 1 lock a -> CANCELLED; "
     "1 try-lock a -> ALREADY_EXISTS; 1 lock b -> 2; 0 unlock a 1 -> OK; 1 lock a -> 3"},
    {"unlock_needs_the_owner_and_its_token", 2,
     "0 lock a; 1 unlock a 1 -> PERMISSION_DENIED; 0 unlock a 2 -> FAILED_PRECONDITION; "
     "0 unlock b 1 -> FAILED_PRECONDITION; 0 unlock a 1 -> OK; 0 unlock a 1 -> why",
     because<&reasons::lock_is_free>("a", 1)},
    {"a_lock_survives_suspicion_and_is_released_when_its_session_ends", 2,
     "0 lock a; waits = 1 lock a; cut 0; 1 try-lock a ~ whose connection is lost; pass 10s-; "
     "waits -> waits; pass 1ns; waits -> 2",
     config{.reconnect_grace = 10s, .recoverable = true}},
};

BOOST_FIXTURE_TEST_CASE(try_lock_does_not_wait_and_names_the_owner, job<2>) {
  BOOST_TEST(c.version(c.try_lock(0, "a")) == "1");

  auto const held = c.try_lock(1, "a");
  BOOST_TEST(c.code(held) == "ALREADY_EXISTS");
  BOOST_TEST(c.text(held).starts_with("lock 'a' is held by task 0"));
  BOOST_TEST(c.text(held).ends_with("with token 1"));
}

BOOST_FIXTURE_TEST_CASE(a_lock_times_out_and_is_then_not_taken, job<2>) {
  c.lock(0, "a");
  auto const waits = c.lock(1, "a", 30s);

  BOOST_TEST(c.pass(30s - 1ns).code(waits) == "waits");
  BOOST_TEST(c.look().locks_held == 1u);
  BOOST_TEST(c.look().waiting_locks == 1u);
  BOOST_TEST(c.pass(1ns).code(waits) == "DEADLINE_EXCEEDED");
  BOOST_TEST(c.look().waiting_locks == 0u);
  BOOST_TEST(states(c.text(waits), &core::reasons::not_locked_in_time));
  BOOST_TEST(states(c.text(waits), &core::reasons::lock_is_held));
  c.unlock(0, "a", 1);
  BOOST_TEST(c.version(c.try_lock(0, "a")) == "2");
}

BOOST_FIXTURE_TEST_CASE(observers_can_lock_and_release_when_their_session_ends, job<1>) {
  int const o = c.observer();
  BOOST_TEST(c.version(c.lock(o, "a")) == "1");
  auto const waits = c.lock(0, "a");
  BOOST_TEST(why(c).waits.at(0).missing->missing == "client observer:1");
  BOOST_TEST(why(c).waits.at(0).missing->arrived == 0u);
  BOOST_TEST(c.bye(o).version(waits) == "2");
}

BOOST_AUTO_TEST_CASE(readers_cannot_lock) {
  auto c = cluster::without_clients(1, {.credentials = {{core::role::reader, "r"}}});
  core::hello_args reader{.token = "r"};
  int const r = c.hello(reader);

  BOOST_TEST(c.code(c.lock(r, "a")) == "PERMISSION_DENIED");
  BOOST_TEST(c.code(c.try_lock(r, "a")) == "PERMISSION_DENIED");
  BOOST_TEST(c.code(c.unlock(r, "a", 1)) == "PERMISSION_DENIED");
}

BOOST_FIXTURE_TEST_CASE(why_names_the_owner_and_a_deadlock_is_found, job<2>) {
  c.lock(0, "a");
  c.lock(1, "b");
  c.lock(1, "a");
  c.pass(1s);
  auto const before = why(c);
  BOOST_REQUIRE(before.waits.size() == 1u);
  BOOST_TEST((before.waits[0].what == core::why_answer::kind::lock));
  BOOST_TEST(before.waits[0].name == "a");
  BOOST_TEST(before.waits[0].waiting == "1");
  BOOST_TEST(before.waits[0].missing->missing.starts_with("task 0"));
  BOOST_TEST(before.stuck == "");

  c.lock(0, "b");
  c.pass(1s);

  BOOST_TEST(
      why(c).stuck.find("task 0 waits for lock 'b' for task 1, task 1 waits for lock 'a' for "
                        "task 0") != std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(released_locks_use_no_memory, job<1>) {
  for (int i = 0; i < 20; ++i) c.lock(0, "lock/" + std::to_string(i));
  BOOST_TEST(c.heartbeat(0).logic().memory()->used() > 20u * 100);
  for (std::uint64_t i = 0; i < 20; ++i) c.unlock(0, "lock/" + std::to_string(i), i + 1);
  c.heartbeat(0);
  c[0].answers.clear();

  BOOST_TEST(c.logic().memory()->used() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
