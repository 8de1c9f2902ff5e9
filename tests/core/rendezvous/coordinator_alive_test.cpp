// Alive queries (§12.2, §12.7.1).

#include "tests/core/cluster.hpp"

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

BOOST_FIXTURE_TEST_CASE(get_live_tasks_without_being_a_member_is_refused, job<3>) {
  auto const asked = alive(c, 2, {0, 1});

  BOOST_TEST(c.code(asked) == "INVALID_ARGUMENT");
  expect_words(c.text(asked), {"alive query", "task 2 is not among"});
}

BOOST_FIXTURE_TEST_CASE(get_alive_tasks_succeed_for_a_set_of_one_and_for_all_but_one, job<3>) {
  BOOST_TEST(list(c, alive(c, 1, {1})) == "1=101");
  auto const zero = alive(c, 0, {2, 0});
  BOOST_TEST(c.code(zero) == "waits");
  alive(c, 2, {0, 2});
  BOOST_TEST(list(c, zero) == "0=100 2=102");
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

BOOST_AUTO_TEST_CASE(calling_get_alive_tasks_without_being_a_member_leaves_the_members_alone) {
  cluster c{3};
  auto const zero = alive(c, 0, {0, 1});

  BOOST_TEST(c.code(alive(c, 2, {0, 1})) == "INVALID_ARGUMENT");

  BOOST_TEST(c.code(zero) == "waits");
  alive(c, 1, {0, 1});
  BOOST_TEST(list(c, zero) == "0=100 1=101");
}

BOOST_AUTO_TEST_CASE(
    a_recoverable_task_that_failed_is_not_waited_for_and_not_listed_until_it_is_back) {
  cluster c{3, {.recoverable = true}};
  c.report_error(2, errc::internal, "boom");
  auto const zero = alive(c, 0, {0, 1, 2});
  auto const one = alive(c, 1, {0, 1, 2});
  BOOST_TEST(list(c, zero) == "0=100 1=101");
  BOOST_TEST(list(c, one) == "0=100 1=101");

  int const back = c.observer();
  c.join({back, 2}, 202);

  auto const all = alive(c, 0);
  alive(c, 1);
  BOOST_TEST(c.code(all) == "waits");
  alive(c, back);
  BOOST_TEST(list(c, all) == "0=100 1=101 2=202");
}

BOOST_FIXTURE_TEST_CASE(failed_task_before_calling_get_alive_tasks_fails_the_job, job<3>) {
  c.report_error(2, errc::internal, "boom");

  BOOST_TEST(c.code(alive(c, 0)) == "FAILED_PRECONDITION");
  expect_words(c.text(alive(c, 1)), {"the job has failed", "task 2", "boom"});
}

BOOST_AUTO_TEST_CASE(a_task_that_left_is_not_waited_for_and_not_listed) {
  cluster c{3, loose()};
  c.leave(2);
  auto const zero = alive(c, 0);
  auto const one = alive(c, 1);

  BOOST_TEST(list(c, zero) == "0=100 1=101");
  BOOST_TEST(list(c, one) == "0=100 1=101");
}

BOOST_AUTO_TEST_CASE(a_member_that_leaves_ends_the_wait_for_it_at_once) {
  cluster c{3, loose()};
  auto const zero = alive(c, 0);
  auto const one = alive(c, 1);
  BOOST_TEST(c.code(zero) == "waits");

  c.leave(2);

  BOOST_TEST(list(c, zero) == "0=100 1=101");
  BOOST_TEST(list(c, one) == "0=100 1=101");
}

BOOST_AUTO_TEST_CASE(a_task_that_leaves_while_it_asks_takes_its_call_back) {
  cluster c{3, loose()};
  auto const two = alive(c, 2);
  auto const one = alive(c, 1);
  BOOST_TEST(c.after(c.leave(2)).code(two) == "CANCELLED");
  expect_words(c.text(two), {"task 2", "no longer in the job"});

  auto const zero = alive(c, 0);

  BOOST_TEST(list(c, zero) == "0=100 1=101");
  BOOST_TEST(list(c, one) == "0=100 1=101");
}

BOOST_AUTO_TEST_CASE(a_task_that_never_came_is_not_waited_for_until_it_does) {
  auto c = cluster::without_clients(2, loose());
  c.observer();
  c.observer();
  c.join({0, 0}, 1);
  BOOST_TEST(list(c, alive(c, 0)) == "0=1");
  c.join({1, 1}, 2);

  auto const both = alive(c, 0);

  BOOST_TEST(c.code(both) == "waits");
  alive(c, 1);
  BOOST_TEST(list(c, both) == "0=1 1=2");
}

BOOST_FIXTURE_TEST_CASE(a_suspect_member_is_waited_for_even_if_it_has_called, job<2>) {
  auto const one = alive(c, 1);
  c.lose(1);
  auto const zero = alive(c, 0);
  BOOST_TEST(c.at(1s).code(zero) == "waits");

  BOOST_TEST(list(c.resume(1), zero) == "0=100 1=101");
  BOOST_TEST(list(c, one) == "0=100 1=101");
}

BOOST_AUTO_TEST_CASE(the_failure_of_a_suspect_member_ends_the_query_with_the_jobs_error) {
  cluster c{2};
  alive(c, 1);
  c.lose(1);
  auto const zero = alive(c, 0);
  BOOST_TEST(c.at(2s - 1ns).code(zero) == "waits");

  BOOST_TEST(c.at(2s).code(zero) == "INTERNAL");
  expect_words(c.text(zero),
               {"the job has failed", "the connection of task 1 (host1:1001) was lost"});
}

BOOST_AUTO_TEST_CASE(the_query_of_a_task_that_fails_itself_ends_internal_with_its_own_error) {
  cluster c{2};
  auto const asked = alive(c, 0);

  BOOST_TEST(c.after(c.report_error(0, errc::data_loss, "bad disk")).code(asked) == "INTERNAL");
  expect_words(c.text(asked), {"task 0", "failed: DATA_LOSS: bad disk"});
}

BOOST_FIXTURE_TEST_CASE(different_sets_run_independently, job<3>) {
  auto const all = alive(c, 0);
  auto const some = alive(c, 0, {0, 1});
  auto const own = alive(c, 0, {0});
  BOOST_TEST(list(c, own) == "0=100");
  BOOST_TEST(c.code(some) == "waits");

  alive(c, 1, {1, 0});

  BOOST_TEST(list(c, some) == "0=100 1=101");
  BOOST_TEST(c.code(all) == "waits");
}

BOOST_FIXTURE_TEST_CASE(all_calls_of_one_task_get_the_answer, job<2>) {
  auto const first = alive(c, 0);
  auto const second = alive(c, 0);
  BOOST_TEST(c.code(first) == "waits");

  alive(c, 1);

  BOOST_TEST(list(c, first) == "0=100 1=101");
  BOOST_TEST(list(c, second) == "0=100 1=101");
}

BOOST_FIXTURE_TEST_CASE(the_next_query_begins_anew, job<2>) {
  alive(c, 0);
  alive(c, 1);

  auto const again = alive(c, 0);

  BOOST_TEST(c.code(again) == "waits");
  alive(c, 1);
  BOOST_TEST(list(c, again) == "0=100 1=101");
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

BOOST_FIXTURE_TEST_CASE(a_barrier_says_that_a_missing_task_waits_in_an_alive_query, job<2>) {
  alive(c, 1);
  auto const barrier = c.barrier(0, "b", 1s);
  expect_words(c.at(1s).text(barrier), {"1 (connected", "waits for an alive query"});
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

BOOST_FIXTURE_TEST_CASE(an_observer_or_an_unknown_member_is_refused, job<2>) {
  int const o = c.observer();

  BOOST_TEST(c.code(alive(c, o)) == "FAILED_PRECONDITION");
  auto const unknown = alive(c, 0, {0, 7});
  BOOST_TEST(c.code(unknown) == "INVALID_ARGUMENT");
  expect_words(c.text(unknown), {"alive query: there is no task 7", "tasks 0 to 1"});
}

BOOST_FIXTURE_TEST_CASE(a_stop_aborts_alive_queries, job<2>) {
  auto const asked = alive(c, 0);

  BOOST_TEST(c.stop("maintenance").code(asked) == "ABORTED");
  expect_words(c.text(asked), {"maintenance"});
}

BOOST_AUTO_TEST_CASE(a_restart_cancels_the_call_of_the_old_process) {
  cluster c{2, loose()};
  alive(c, 1);
  auto const other = c.observer();
  c.leave(1);
  c.join({other, 1}, 555);

  auto const zero = alive(c, 0);

  BOOST_TEST(c.code(zero) == "waits");
  alive(c, {other, 1});
  BOOST_TEST(list(c, zero) == "0=100 1=555");
}

BOOST_FIXTURE_TEST_CASE(a_session_that_takes_the_task_over_has_to_ask_again, job<2>) {
  auto const old = alive(c, 1);
  auto const other = c.observer();
  BOOST_TEST(c.after(c.join({other, 1}, 101)).code(old) == "ABORTED");

  auto const zero = alive(c, 0);
  BOOST_TEST(c.code(zero) == "waits");
  alive(c, {other, 1});

  BOOST_TEST(list(c, zero) == "0=100 1=101");
}

BOOST_FIXTURE_TEST_CASE(an_answer_that_was_lost_comes_again_after_a_resume, job<2>) {
  auto const zero = alive(c, 0);
  c[0].deaf = true;
  alive(c, 1);
  BOOST_TEST(c.code(zero) == "waits");
  c[0].deaf = false;

  BOOST_TEST(list(c.blink(0), zero) == "0=100 1=101");
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
