// Locks: §9.1.

#include "tests/core/cluster.hpp"

#include "coxswain/core/model/reasons.hpp"

namespace coxswain::test {
namespace {

core::why_answer why(cluster& c) { return c.logic().why(t0 + c.now()); }

BOOST_AUTO_TEST_SUITE(coordinator_locks_test)

BOOST_FIXTURE_TEST_CASE(a_lock_has_one_owner_and_its_waiters_get_it_in_order, job<3>) {
  BOOST_TEST(c.version(c.lock(0, "a")) == "1");
  auto const second = c.lock(2, "a");
  auto const third = c.lock(1, "/a/");
  BOOST_TEST(c.code(second) == "waits");

  BOOST_TEST(c.code(c.unlock(0, "a", 1)) == "OK");
  BOOST_TEST(c.version(second) == "2");
  BOOST_TEST(c.code(third) == "waits");
  c.unlock(2, "a", 2);
  BOOST_TEST(c.version(third) == "3");
  c.unlock(1, "a", 3);

  BOOST_TEST(c.version(c.lock(1, "b")) == "4");
  BOOST_TEST(c.version(c.lock(1, "a")) == "5");
}

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

BOOST_FIXTURE_TEST_CASE(unlock_needs_the_owner_and_its_token, job<2>) {
  c.lock(0, "a");

  BOOST_TEST(c.code(c.unlock(1, "a", 1)) == "PERMISSION_DENIED");
  BOOST_TEST(c.code(c.unlock(0, "a", 2)) == "FAILED_PRECONDITION");
  BOOST_TEST(c.code(c.unlock(0, "b", 1)) == "FAILED_PRECONDITION");
  BOOST_TEST(c.code(c.unlock(0, "a", 1)) == "OK");
  auto const late = c.unlock(0, "a", 1);
  BOOST_TEST(c.code(late) == "FAILED_PRECONDITION");
  BOOST_TEST(c.text(late) == core::text_of<&core::reasons::lock_is_free>("a", 1));
}

BOOST_FIXTURE_TEST_CASE(a_lock_is_not_reentrant, job<1>) {
  c.lock(0, "a");
  auto const again = c.lock(0, "a");
  BOOST_TEST(c.code(again) == "waits");

  c.unlock(0, "a", 1);

  BOOST_TEST(c.version(again) == "2");
}

BOOST_AUTO_TEST_CASE(a_lock_survives_suspicion_and_is_released_when_its_session_ends) {
  cluster c{2, {.reconnect_grace = 10s, .recoverable = true}};
  c.lock(0, "a");
  auto const waits = c.lock(1, "a");
  c.lose(0);
  BOOST_TEST(c.text(c.try_lock(1, "a")).find("whose connection is lost") != std::string::npos);

  BOOST_TEST(c.pass(10s - 1ns).code(waits) == "waits");
  BOOST_TEST(c.pass(1ns).version(waits) == "2");
}

BOOST_FIXTURE_TEST_CASE(a_resume_keeps_locks_and_queue_positions, job<3>) {
  c.lock(0, "a");
  auto const first = c.lock(1, "a");
  auto const second = c.lock(2, "a");
  c.lose(1).lose(0).resume(0);
  c.resume(1);

  c.unlock(0, "a", 1);

  BOOST_TEST(c.version(first) == "2");
  BOOST_TEST(c.code(second) == "waits");
}

BOOST_AUTO_TEST_CASE(a_lock_with_an_undelivered_reply_is_released) {
  cluster c{2, {.reconnect_grace = 10s}};
  c.lock(0, "a");
  auto const given_up = c.lock(1, "a");
  c.lose(1);
  c.unlock(0, "a", 1);
  BOOST_TEST(c.code(c.try_lock(0, "a")) == "ALREADY_EXISTS");
  c.cancel(given_up).resume(1);

  BOOST_TEST(c.version(c.try_lock(0, "a")) == "3");
}

BOOST_FIXTURE_TEST_CASE(a_cancelled_lock_request_stops_waiting, job<3>) {
  c.lock(0, "a");
  auto const given_up = c.lock(1, "a");
  auto const next = c.lock(2, "a");
  c.cancel(given_up);

  c.unlock(0, "a", 1);

  BOOST_TEST(c.version(next) == "2");
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

BOOST_FIXTURE_TEST_CASE(a_job_error_ends_waiting_requests_and_keeps_owned_locks, job<3>) {
  c.lock(0, "a");
  auto const waits = c.lock(1, "a");
  BOOST_TEST(c.after(c.report_error(2, errc::internal, "broken")).code(waits) == "CANCELLED");
  BOOST_TEST(c.code(c.lock(1, "a")) == "CANCELLED");
  BOOST_TEST(c.code(c.try_lock(1, "a")) == "ALREADY_EXISTS");
  BOOST_TEST(c.version(c.lock(1, "b")) == "2");
  BOOST_TEST(c.code(c.unlock(0, "a", 1)) == "OK");
  BOOST_TEST(c.version(c.lock(1, "a")) == "3");
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
