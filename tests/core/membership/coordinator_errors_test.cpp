// Job errors: §5.1, and §5.2.1 to 3.34.

#include "tests/core/cluster.hpp"

namespace coxswain::test {
namespace {

BOOST_AUTO_TEST_SUITE(coordinator_errors_test)

BOOST_AUTO_TEST_CASE(reported_error_can_propagate_through_error_polling_is_pushed_to_all) {
  cluster c{3};
  int const o = c.observer();
  BOOST_TEST(c.code(c.report_error(1, errc::internal, "boom")) == "OK");
  for (int const who : {0, 1, 2, o}) {
    auto const errors = c.pushed<job_error>(who);
    BOOST_TEST_REQUIRE(errors.size() == 1u);
    BOOST_TEST(errors[0].cause.task->value == 1u);
    BOOST_TEST(errors[0].cause.why.text() == "INTERNAL: boom");
    BOOST_TEST(errors[0].later.empty());
  }
  BOOST_TEST(c.state_of(1) == "failed");
  BOOST_TEST(c.look().tasks[1].error.text() == "INTERNAL: boom");
}

// §5.2.5: only the task that caused the error has failed.
BOOST_AUTO_TEST_CASE(unrecoverable_task_propagates_error_and_only_it_has_failed) {
  cluster c{3};
  BOOST_TEST(c.after(c.report_error(0, errc::data_loss, "bad disk")).state_of(0) == "failed");
  BOOST_TEST(c.state_of(1) == "connected");
  BOOST_TEST(c.pushed<job_error>(1)[0].cause.why.code() == errc::data_loss);
}

BOOST_AUTO_TEST_CASE(heartbeat_timeout_error_can_propagate_through_error_polling_is_pushed) {
  cluster c{2};
  c[0].beats = false;
  BOOST_TEST(c.at(100s).pushed<job_error>(1)[0].cause.why.code() == errc::unavailable);
}

BOOST_AUTO_TEST_CASE(the_first_failure_is_the_cause_and_later_ones_are_listed_with_it_in_order) {
  cluster c{4};
  c.report_error(2, errc::internal, "first");
  c.report_error(0, errc::unavailable, "second");
  BOOST_TEST(c.bye(1, true).task_ended(3, {errc::aborted, "third"}).error() ==
             "task 2: INTERNAL: first; task 0: UNAVAILABLE: second; task 3: ABORTED: third");
  BOOST_TEST(c.pushed<job_error>(2).size() == 3u);
}

BOOST_AUTO_TEST_CASE(
    pending_barrier_and_leave_fail_internal_with_the_cause_and_gets_are_cancelled) {
  cluster c{4};
  auto const barrier = c.barrier(0, "b");
  auto const leave = c.leave(1);
  auto const get = c.get(2, "k");
  int const o = c.observer();
  auto const observed = c.get(o, "k");

  c.report_error(3, errc::internal, "boom");

  BOOST_TEST(c.code(barrier) == "INTERNAL");
  BOOST_TEST(c.code(leave) == "INTERNAL");
  BOOST_TEST(c.code(get) == "CANCELLED");
  BOOST_TEST(c.code(observed) == "CANCELLED");
  for (auto const& one : {barrier, leave, get, observed}) {
    expect_words(c.text(one), {"the job has failed: task 3 (host3:1003) failed: INTERNAL: boom"});
  }
}

BOOST_FIXTURE_TEST_CASE(later_barriers_and_leaves_fail_failed_precondition_with_the_cause, job<2>) {
  c.report_error(1, errc::internal, "boom");

  auto const barrier = c.barrier(0, "b");
  auto const report = c.report_error(1, errc::internal, "again");
  auto const leave = c.leave(0);

  for (auto const& one : {barrier, leave, report}) {
    BOOST_TEST(c.code(one) == "FAILED_PRECONDITION");
    expect_words(c.text(one), {"task 1 (host1:1001) failed: INTERNAL: boom"});
  }
}

BOOST_FIXTURE_TEST_CASE(keys_and_status_work_after_a_job_error, job<2>) {
  c.put(0, "before", "1");
  c.report_error(1, errc::internal, "boom");

  BOOST_TEST(c.value(c.get(0, "before")) == "1");
  BOOST_TEST(c.code(c.put(0, "after", "2")) == "OK");
  BOOST_TEST(c.value(c.try_get(0, "after")) == "2");
  BOOST_TEST(c.code(c.increment(0, "n", 1)) == "OK");
  BOOST_TEST(c.body<core::listing_answer>(c.list(0, ""))->entries.size() == 3u);
  auto const status = c.inspect(0);
  BOOST_TEST((*c.body<boxed<core::snapshot>>(status))->error->cause.task->value == 1u);
  BOOST_TEST(c.code(c.remove_tree(0, "", true)) == "OK");
}

BOOST_FIXTURE_TEST_CASE(a_failed_task_can_still_use_keys, job<2>) {
  c.report_error(0, errc::internal, "boom");

  BOOST_TEST(c.code(c.put(0, "post-mortem", "stack")) == "OK");
}

BOOST_FIXTURE_TEST_CASE(a_get_that_would_wait_after_a_job_error_is_cancelled_at_once, job<2>) {
  c.report_error(1, errc::internal, "boom");

  auto const hopeless = c.get(0, "k");

  BOOST_TEST(c.code(hopeless) == "CANCELLED");
  expect_words(c.text(hopeless), {"the job has failed"});
}

BOOST_FIXTURE_TEST_CASE(sessions_that_connect_or_resume_later_get_the_job_error, job<2>) {
  c.lose(0);
  c.report_error(1, errc::internal, "boom");

  int const late = c.observer();
  BOOST_TEST(c.pushed<job_error>(late).size() == 1u);
  BOOST_TEST(c.resume(0).pushed<job_error>(0).size() == 1u);
}

BOOST_AUTO_TEST_CASE(do_not_allow_poll_for_error_if_not_in_cluster_observers_get_it) {
  cluster c{1};
  int const o = c.observer();
  c.report_error(0, errc::internal, "boom");

  BOOST_TEST(c.pushed<job_error>(o).size() == 1u);
}

BOOST_FIXTURE_TEST_CASE(an_error_must_not_be_ok, job<1>) {
  BOOST_TEST(c.code(c.report_error(0, errc::ok, "fine")) == "INVALID_ARGUMENT");
  BOOST_TEST(c.error() == "none");
}

BOOST_FIXTURE_TEST_CASE(report_error_is_for_tasks_that_have_joined_row_3_32, empty_job<2>) {
  int const o = c.observer();

  BOOST_TEST(c.code(c.report_error(o, errc::internal, "x")) == "FAILED_PRECONDITION");
  BOOST_TEST(c.code(c.report_error({o, 0}, errc::internal, "x")) == "FAILED_PRECONDITION");
  BOOST_TEST(c.code(c.report_error({o, 9}, errc::internal, "x")) == "INVALID_ARGUMENT");
  BOOST_TEST(c.error() == "none");
}

BOOST_FIXTURE_TEST_CASE(a_report_sent_again_after_a_resume_is_one_failure, job<2>) {
  c[0].deaf = true;
  auto const report = c.report_error(0, errc::internal, "boom");
  c[0].deaf = false;

  BOOST_TEST(c.blink(0).code(report) == "OK");
  BOOST_TEST(c.error() == "task 0: INTERNAL: boom");
}

BOOST_FIXTURE_TEST_CASE(the_end_of_a_failed_tasks_session_is_no_second_failure, job<2>) {
  c.report_error(0, errc::internal, "boom");
  BOOST_TEST(c.pass(200s).goodbye(0) == "none");

  BOOST_TEST(c.bye(0, true).error() == "task 0: INTERNAL: boom");
}

BOOST_FIXTURE_TEST_CASE(after_a_job_error_the_job_is_over_when_the_last_task_ends, job<3>) {
  c.report_error(0, errc::internal, "boom");
  BOOST_TEST(!c.logic().done());
  c.leave(1);
  BOOST_TEST(!c.logic().done());

  BOOST_TEST(c.bye(2, true).logic().done());
}

BOOST_FIXTURE_TEST_CASE(failures_after_the_64th_later_one_are_not_reported, job<70>) {
  for (int i = 1; i < 70; ++i) c.report_error(i, errc::internal, "boom " + std::to_string(i));

  auto const errors = c.pushed<job_error>(0);

  BOOST_TEST(errors.size() == 65u);
  BOOST_TEST(errors.back().later.size() == 64u);
  BOOST_TEST(errors.back().later.back().why.message() == "boom 65");
  BOOST_TEST(c.look().error->later.size() == 64u);
  BOOST_TEST(c.look().error->later_count == 68u);
}

// §16.1: everything is bounded. A push to all sessions is stored once and referenced by all.
BOOST_FIXTURE_TEST_CASE(a_long_error_text_is_cut_between_characters, job<2>) {
  std::string text;
  while (text.size() < 1'000'000) text += "\xe2\x82\xac";
  c.report_error(0, errc::internal, text);

  auto const errors = c.pushed<job_error>(1);
  BOOST_TEST_REQUIRE(errors.size() == 1u);
  std::string const& kept = errors[0].cause.why.message();
  BOOST_TEST(kept.size() <= 16u * 1024u);
  BOOST_TEST(kept.size() > 4000u);
  BOOST_TEST(kept.starts_with("\xe2\x82\xac\xe2\x82\xac"));

  BOOST_TEST(c.text(c.barrier(1, "b")).size() <= 1024u);
  auto const leave = c.leave(1);
  BOOST_TEST(c.text(leave).size() <= 1024u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
