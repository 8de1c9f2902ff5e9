// Alive queries (§12.2, §12.7.1).

#include "tests/core/steps.hpp"

namespace coxswain::test {
namespace {

call alive(cluster& c, caller who, std::vector<std::uint32_t> among = {}, duration timeout = 300s) {
  core::alive_args args;
  for (auto const task : among) args.tasks.push_back(task_id{task});
  args.timeout = timeout;
  return c.send(who, std::move(args), timeout);
}

// "0=100 1=101", or the code.
std::string list(cluster const& c, call of) {
  auto const* const a = c.body<core::alive_answer>(of);
  if (!a) return c.code(of);
  std::string all;
  for (auto const& t : a->tasks) {
    all +=
        (all.empty() ? "" : " ") + std::to_string(t.id.value) + '=' + std::to_string(t.self.value);
  }
  return all;
}

// Tasks join and leave without barriers.
core::config loose() { return core::config{.join_barrier = false, .leave_barrier = false}; }

BOOST_AUTO_TEST_SUITE(coordinator_alive_test)

rows const cases{
    {"get_live_tasks_without_being_a_member_is_refused", 3,
     "asked = 2 who-is-there 300s t0 t1; asked -> INVALID_ARGUMENT; "
     "asked ~ alive query ... task 2 is not among"},
    {"get_alive_tasks_succeed_for_a_set_of_one_and_for_all_but_one", 3,
     "1 who-is-there 300s t1 -> OK alive: t1=101; zero = 0 who-is-there 300s t2 t0; zero -> waits; "
     "2 who-is-there 300s t0 t2; zero -> OK alive: t0=100 t2=102"},
    {"calling_get_alive_tasks_without_being_a_member_leaves_the_members_alone", 3,
     "zero = 0 who-is-there 300s t0 t1; 2 who-is-there 300s t0 t1 -> INVALID_ARGUMENT; "
     "zero -> waits; 1 who-is-there 300s t0 t1; zero -> OK alive: t0=100 t1=101"},
    {"a_recoverable_task_that_failed_is_not_waited_for_and_not_listed_until_it_is_back", 3,
     "2 reports boom; zero = 0 who-is-there 300s t0 t1 t2; one = 1 who-is-there 300s t0 t1 t2; "
     "zero -> OK alive: t0=100 t1=101; one -> OK alive: t0=100 t1=101; observer back; "
     "back/2 joins 202; all = 0 who-is-there; 1 who-is-there; all -> waits; back who-is-there; "
     "all -> OK alive: t0=100 t1=101 t2=202",
     config{.recoverable = true}},
    {"failed_task_before_calling_get_alive_tasks_fails_the_job", 3,
     "2 reports boom; 0 who-is-there -> FAILED_PRECONDITION; "
     "1 who-is-there ~ the job has failed ... task 2 ... boom"},
    {"a_task_that_left_is_not_waited_for_and_not_listed", 3,
     "2 leaves; zero = 0 who-is-there; one = 1 who-is-there; zero -> OK alive: t0=100 t1=101; "
     "one -> OK alive: t0=100 t1=101",
     loose()},
    {"a_member_that_leaves_ends_the_wait_for_it_at_once", 3,
     "zero = 0 who-is-there; one = 1 who-is-there; zero -> waits; 2 leaves; "
     "zero -> OK alive: t0=100 t1=101; one -> OK alive: t0=100 t1=101",
     loose()},
    {"a_task_that_leaves_while_it_asks_takes_its_call_back", 3,
     "two = 2 who-is-there; one = 1 who-is-there; 2 leaves; two -> CANCELLED; two ~ task 2 ... no "
     "longer in the job; 0 who-is-there -> OK alive: t0=100 t1=101; one -> OK alive: t0=100 t1=101",
     loose()},
    {"a_task_that_never_came_is_not_waited_for_until_it_does", 2,
     "empty; observer x; observer x2; 0/0 joins 1; 0 who-is-there -> OK alive: t0=1; 1/1 joins 2; "
     "both = 0 who-is-there; both -> waits; 1 who-is-there; both -> OK alive: t0=1 t1=2",
     loose()},
    {"a_suspect_member_is_waited_for_even_if_it_has_called", 2,
     "one = 1 who-is-there; cut 1; zero = 0 who-is-there; at 1s; zero -> waits; resume 1; "
     "zero -> OK alive: t0=100 t1=101; one -> OK alive: t0=100 t1=101"},
    {"the_failure_of_a_suspect_member_ends_the_query_with_the_jobs_error", 2,
     "1 who-is-there; cut 1; zero = 0 who-is-there; at 2s-; zero -> waits; at 2s; zero -> "
     "INTERNAL; zero ~ the job has failed ... the connection of task 1 (host1:1001) was lost"},
    {"different_sets_run_independently", 3,
     "all = 0 who-is-there; some = 0 who-is-there 300s t0 t1; "
     "0 who-is-there 300s t0 -> OK alive: t0=100; some -> waits; 1 who-is-there 300s t1 t0; "
     "some -> OK alive: t0=100 t1=101; all -> waits"},
    {"all_calls_of_one_task_get_the_answer", 2,
     "first = 0 who-is-there; second = 0 who-is-there; first -> waits; 1 who-is-there; "
     "first -> OK alive: t0=100 t1=101; second -> OK alive: t0=100 t1=101"},
    {"the_next_query_begins_anew", 2,
     "0 who-is-there; 1 who-is-there; again = 0 who-is-there; again -> waits; 1 who-is-there; "
     "again -> OK alive: t0=100 t1=101"},
    {"a_barrier_says_that_a_missing_task_waits_in_an_alive_query", 2,
     "1 who-is-there; barrier = 0 barrier b 1s; at 1s; "
     "barrier ~ 1 (connected ... waits for an alive query"},
    {"an_observer_or_an_unknown_member_is_refused", 2,
     "observer o; o who-is-there -> FAILED_PRECONDITION; unknown = 0 who-is-there 300s t0 t7; "
     "unknown -> INVALID_ARGUMENT; unknown ~ alive query: there is no task 7 ... tasks 0 to 1"},
    {"a_stop_aborts_alive_queries", 2,
     "asked = 0 who-is-there; stop maintenance; asked -> ABORTED; asked ~ maintenance"},
    {"a_restart_cancels_the_call_of_the_old_process", 2,
     "1 who-is-there; observer other; 1 leaves; other/1 joins 555; zero = 0 who-is-there; "
     "zero -> waits; other/1 who-is-there; zero -> OK alive: t0=100 t1=555",
     loose()},
    {"a_session_that_takes_the_task_over_has_to_ask_again", 2,
     "old = 1 who-is-there; observer other; other/1 joins 101; old -> ABORTED; "
     "zero = 0 who-is-there; zero -> waits; other/1 who-is-there; zero -> OK alive: t0=100 t1=101"},
    {"an_answer_that_was_lost_comes_again_after_a_resume", 2,
     "zero = 0 who-is-there; deaf 0; 1 who-is-there; zero -> waits; hears 0; blink 0; "
     "zero -> OK alive: t0=100 t1=101"},
    {"the_query_of_a_task_that_fails_itself_ends_internal_with_its_own_error", 2,
     "asked = 0 who-is-there; 0 reports 'bad disk' DATA_LOSS; asked -> INTERNAL; "
     "asked ~ task 0 ... failed: DATA_LOSS: bad disk"},
};

BOOST_FIXTURE_TEST_CASE(get_live_tasks_succeeds_when_all_members_have_called, job<3>) {
  auto const zero = alive(c, 0);
  auto const two = alive(c, 2, {0, 1, 2});
  BOOST_TEST(c.replies() == "");

  auto const one = alive(c, 1, {2, 1, 0, 1});

  BOOST_TEST(list(c, zero) == "0=100 1=101 2=102");
  BOOST_TEST(list(c, one) == list(c, zero));
  BOOST_TEST(list(c, two) == list(c, zero));
  BOOST_TEST(c.replies() == "0:OK 1:OK 2:OK");
  BOOST_TEST((c.answer_to(zero) == c.answer_to(two)));  // so that it is encoded once
}

BOOST_AUTO_TEST_CASE(successful_get_alive_tasks_may_follow_each_other_with_the_same_set) {
  cluster c{2};
  for (int i = 0; i < 3; ++i) {
    auto const zero = alive(c, 0);
    BOOST_TEST(c.code(zero) == "waits");
    BOOST_TEST(list(c, alive(c, 1)) == "0=100 1=101");
    BOOST_TEST(list(c, zero) == "0=100 1=101");
  }
}

BOOST_FIXTURE_TEST_CASE(a_query_times_out_for_its_caller_only_and_says_who_is_missing, job<3>) {
  c.barrier(2, "elsewhere");
  auto const first = alive(c, 0, {}, 30s);
  c.at(10s);
  auto const second = alive(c, 1, {}, 30s);
  BOOST_TEST(c.at(30s - 1ns).code(first) == "waits");

  BOOST_TEST(c.at(30s).code(first) == "DEADLINE_EXCEEDED");
  expect_words(c.text(first), {"Alive query timed out after 30 s", "1 of 3 tasks is missing",
                               "2 (connected", "host2:1002", "barrier 'elsewhere'"});
  auto const* const f = c.body<barrier_failure>(first);
  BOOST_TEST_REQUIRE(f != nullptr);
  BOOST_TEST(f->missing == "2");
  BOOST_TEST(f->arrived == 2u);
  BOOST_TEST(c.code(second) == "waits");
  BOOST_TEST(c.at(40s).code(second) == "DEADLINE_EXCEEDED");
  expect_words(c.text(second), {"2 of 3 tasks are missing", "0 (", "2 ("});
}

BOOST_FIXTURE_TEST_CASE(a_cancelled_query_leaves_nothing, job<2>) {
  c.heartbeat(0);
  auto const before = c.look().memory_bytes;
  BOOST_TEST(c.cancel(alive(c, 0, {0, 1})).look().memory_bytes == before);
  auto const one = alive(c, 1, {0, 1});
  BOOST_TEST(c.code(one) == "waits");
  alive(c, 0, {0, 1});
  BOOST_TEST(list(c, one) == "0=100 1=101");
}

BOOST_AUTO_TEST_CASE(a_large_job_asks_in_any_order) {
  constexpr int n = 2'000;
  cluster c{n};
  std::vector<call> calls;
  for (int i = 0; i < n; ++i) calls.push_back(alive(c, i * 7 % n));

  BOOST_TEST(c.body<core::alive_answer>(calls.front())->tasks.size() == std::size_t{n});
  BOOST_TEST((c.answer_to(calls.front()) == c.answer_to(calls.back())));
}

BOOST_AUTO_TEST_CASE(an_alive_query_without_room_for_its_members_is_refused) {
  auto c = cluster::without_clients(4096, {.join_barrier = false, .memory_bytes_max = 16'000});
  c.join({c.observer(), 0}, 100);

  auto const refused = alive(c, 0);

  BOOST_TEST(c.code(refused) == "RESOURCE_EXHAUSTED");
  expect_words(c.text(refused), {"an alive query among 4096 tasks", "memory_bytes_max is 16000"});
  BOOST_TEST(list(c, alive(c, 0, {0})) == "0=100");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
