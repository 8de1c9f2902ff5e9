// Job errors: §5.1, and §5.2.1 to 3.34.

#include "tests/core/steps.hpp"

namespace coxswain::test {
namespace {

BOOST_AUTO_TEST_SUITE(coordinator_errors_test)

rows const cases{
    {"a_failed_task_can_still_use_keys", 2, "0 reports boom; 0 put post-mortem stack -> OK"},
    {"a_get_that_would_wait_after_a_job_error_is_cancelled_at_once", 2,
     "1 reports boom; hopeless = 0 get k; hopeless -> CANCELLED; hopeless ~ the job has failed"},
    {"an_error_must_not_be_ok", 1, "0 reports fine OK -> INVALID_ARGUMENT; error -> none"},
    {"report_error_is_for_tasks_that_have_joined_row_3_32", 2,
     "empty; observer o; o reports x -> FAILED_PRECONDITION; o/0 reports x -> FAILED_PRECONDITION; "
     "o/9 reports x -> INVALID_ARGUMENT; error -> none"},
    {"a_report_sent_again_after_a_resume_is_one_failure", 2,
     "deaf 0; report = 0 reports boom; hears 0; blink 0; report -> OK; "
     "error -> task 0: INTERNAL: boom"},
    {"the_end_of_a_failed_tasks_session_is_no_second_failure", 2,
     "0 reports boom; pass 200s; goodbye 0 -> none; abandon 0; error -> task 0: INTERNAL: boom"},
    {"after_a_job_error_the_job_is_over_when_the_last_task_ends", 3,
     "0 reports boom; done -> no; 1 leaves; done -> no; abandon 2; done -> yes"},
    // §5.2.5: only the task that caused the error has failed.
    {"unrecoverable_task_propagates_error_and_only_it_has_failed", 3,
     "0 reports 'bad disk' DATA_LOSS; state 0 -> failed; state 1 -> connected; pushed 1 ~ "
     "DATA_LOSS"},
    {"heartbeat_timeout_error_can_propagate_through_error_polling_is_pushed", 2,
     "mute 0; at 100s; pushed 1 ~ UNAVAILABLE"},
    {"sessions_that_connect_or_resume_later_get_the_job_error", 2,
     "cut 0; 1 reports boom; observer late; pushes errors late -> 1; resume 0; pushes errors 0 -> "
     "1"},
    // §5.1.8: a reason that repeats the job's error is not told again.
    {"a_failure_after_the_jobs_is_a_consequence", 3,
     "0 reports boom; log ~ task 0 (host0:1000) failed: INTERNAL: boom; "
     "1 reports 'it saw: the job has failed: task 0 (host0:1000) failed: INTERNAL: boom'; "
     "log ~ task 1 (host1:1001) ended with the job; ended 2 signal 9; "
     "log ~ task 2 (host2:1002) ended with the job: ABORTED: signal 9; state 2 -> failed"},
    {"do_not_allow_poll_for_error_if_not_in_cluster_observers_get_it", 1,
     "observer o; 0 reports boom; pushes errors o -> 1"},
};

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

BOOST_AUTO_TEST_CASE(consequences_are_one_event_and_told_from_their_cause) {
  cluster c{200};
  c.report_error(17, errc::internal, "boom");
  std::string const why = c.text(c.barrier(0, "b"));
  for (int task = 0; task < 200; ++task) {
    if (task != 17) c.report_error(task, errc::unknown, why);
  }

  core::watch_events_args const all{0, core::severity::info, without_limit};
  auto const asked = c.send(c.observer(), all, without_limit);
  std::vector<core::events_answer::entry> ended;
  for (auto const& entry : c.body<core::events_answer>(asked)->entries) {
    if (entry.what.kind == core::event_kind::ended_with_job) ended.push_back(entry);
  }
  BOOST_TEST_REQUIRE(ended.size() == 1u);
  BOOST_TEST(ended[0].count == 199u);
  BOOST_TEST(ended[0].tasks == "0-16,18-199");
  BOOST_TEST(ended[0].what.text == "task 199 (host199:1199) ended with the job");
  BOOST_TEST((ended[0].what.level == core::severity::info));
  for (auto const& task : c.look().tasks) {
    BOOST_TEST(task.ended_with_job == (task.id.value != 17));
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
