// The end of a job on request: a stop, and a drain (§1.9).

#include "tests/core/steps.hpp"

namespace coxswain::test {
namespace {

config mild() { return config{.recoverable = true}; }

config of_two() {
  config options;
  options.elastic = true;
  options.min_tasks = 2;
  options.last_call = 2s;
  options.min_wait = 5s;
  return options;
}

BOOST_AUTO_TEST_SUITE(coordinator_end_test)

rows const cases{
    {"a_stop_ends_all_calls_with_who_stopped_the_job_and_why", 2,
     "observer op root@vm; all = 0 barrier all; got = 1 get k; op stops upgrade -> OK; "
     "all -> ABORTED; got -> CANCELLED; all ~ the job was stopped: by root@vm: upgrade; "
     "got ~ the job was stopped: by root@vm: upgrade; "
     "goodbye 0 -> UNAVAILABLE: the job was stopped: by root@vm: upgrade; "
     "goodbye op ~ the job was stopped: by root@vm: upgrade; log ~ stopping: by root@vm: upgrade"},
    {"a_stop_without_a_reason_names_who_stopped_the_job", 1,
     "0 stops; goodbye 0 -> UNAVAILABLE: the job was stopped: by task 0 (host0:1000)"},
    {"a_job_that_has_failed_can_be_stopped", 2,
     "0 reports boom; observer op; op stops -> OK; goodbye 1 ~ the job was stopped"},
    {"a_drain_refuses_those_that_come_later_and_says_what_to_do", 2,
     "at 5s; observer op root@vm; op drains upgrade -> OK; at 7s; observer x; late = x/0 joins 9; "
     "late -> why; late ~ since 00:00:05.0, by root@vm: upgrade ... for the next job",
     because<&reasons::job_is_draining>()},
    {"a_drain_is_logged_with_its_reason", 1,
     "log; observer op root@vm; op drains upgrade; log ~ draining, by root@vm: upgrade: nobody may "
     "join any more, and the job ends when all tasks have left"},
    {"a_second_drain_changes_nothing", 1,
     "observer op root@vm; op drains; log; 0 drains again -> OK; log ->; headline ~ by root@vm"},
    {"a_job_that_drains_is_done_when_the_last_has_left", 3,
     "observer op; op drains; done -> no; 0 leaves 0s; 1 leaves 0s; done -> no; 2 leaves 0s -> OK; "
     "done -> yes; error -> none"},
    {"a_job_that_drains_is_done_when_all_leave_together", 2,
     "observer op; op drains; one = 0 leaves; one -> waits; 1 leaves; one -> OK; done -> yes"},
    {"a_job_in_which_nobody_is_is_done_at_once", 2, "empty; observer op; op drains; done -> yes"},
    {"those_that_wait_for_others_to_join_are_refused", 3,
     "empty; observer x; join = x/0 joins 1; observer op; op drains; join -> why; done -> yes",
     because<&reasons::job_is_draining>()},
    {"tasks_go_on_in_a_job_that_drains", 2,
     "observer op; op drains; one = 0 barrier b; 1 barrier b; one -> OK; 0 put k v -> OK"},
    {"a_session_resumes_in_a_job_that_drains", 2,
     "observer op; op drains; cut 0; resume 0; state 0 -> connected; 0 put k v -> OK"},
    {"the_same_process_may_join_again", 2,
     "observer op; op drains; cut 0; observer x; x/0 joins 100 -> OK; state 0 -> connected"},
    {"another_process_of_a_live_task_is_refused_at_once", 2,
     "observer op; op drains; observer x; late = x/0 joins 9; late -> FAILED_PRECONDITION; "
     "pushes probes 0 -> 0"},
    {"a_claimant_that_waits_is_refused", 2,
     "observer x; late = x/0 joins 9; late -> waits; observer op; op drains; late -> why; "
     "state 0 -> connected",
     because<&reasons::job_is_draining>()},
    {"the_death_of_the_last_task_ends_a_job_that_drains", 1,
     "observer op; op drains; ended 0 ABORTED killed; done -> yes; error ~ killed"},
    {"a_stop_follows_a_drain", 1,
     "observer op; op drains; op stops late -> OK; goodbye 0 ~ : late"},
};

rows const of_recoverable{
    {"a_task_that_has_failed_does_not_return", 2,
     "ended 1 ABORTED killed; observer op; op drains; observer x; x/1 joins 9 -> "
     "FAILED_PRECONDITION; 0/1 resets 101 -> FAILED_PRECONDITION; done -> no; 0 leaves; done -> "
     "yes",
     mild()},
    {"a_round_that_waits_for_the_next_process_of_a_task_fails", 3,
     "ended 2 ABORTED killed; one = 0 barrier b; one -> waits; observer op; op drains; "
     "one -> INTERNAL; one ~ Barrier 'b' round 1 failed: task 2 ... failed",
     mild()},
    {"a_round_fails_when_a_task_fails_later", 3,
     "observer op; op drains; one = 0 barrier b; ended 2 ABORTED killed; one -> INTERNAL", mild()},
    {"a_round_that_cannot_pass_does_not_open", 3,
     "observer op; op drains; ended 2 ABORTED killed; one = 0 barrier b; one -> INTERNAL; "
     "one ~ cannot be reached; 0 barrier c 300s t0 t1; 1 barrier c 300s t0 t1 -> OK",
     mild()},
    {"a_task_that_left_to_return_has_left", 2,
     "1 leaves returning; state 1 -> returning; one = 0 barrier b; one -> waits; observer op; "
     "op drains; state 1 -> left; one -> FAILED_PRECONDITION; 0 leaves; "
     "done -> yes",
     mild()},
    {"no_task_leaves_to_return", 2,
     "observer op; op drains; 1 leaves returning -> OK; state 1 -> left; 0 leaves; done -> yes",
     mild()},
    {"spares_that_wait_are_refused", 1,
     "empty; enrolled 1 1; s0 -> waits; observer op; op drains; s0 -> why; spares -> 0",
     config{.recoverable = true, .spares = 1, .last_call = 0s},
     because<&reasons::job_is_draining>()},
    {"without_a_join_barrier_others_do_not_come", 3,
     "empty; observer x; x/0 joins 1; observer op; op drains; one = x barrier b; one -> INTERNAL; "
     "one ~ task 1 has not joined, and cannot while the job drains; x leaves -> OK; done -> yes",
     config{.join_barrier = false}},
};

rows const of_elastic{
    {"processes_that_wait_for_an_epoch_are_refused", 4,
     "empty; epoch 3; late = new late; late -> waits; observer op; op drains; late -> why; "
     "headline ~ 3 tasks are still in it",
     of_two(), because<&reasons::job_is_draining>()},
    {"processes_that_come_later_are_refused", 4,
     "empty; epoch 3; observer op; op drains; late = new late; late -> FAILED_PRECONDITION",
     of_two()},
    {"epochs_go_on_with_the_members_that_are_left", 3,
     "empty; epoch 3; observer op; op drains; ended 2 ABORTED killed; zero = 0 next-epoch; "
     "one = 1 next-epoch; zero -> 2: 0 of 2 -1; done -> no; 0-1 leaves; done -> yes; error -> none",
     of_two()},
    {"too_few_members_fail_at_once", 2,
     "empty; epoch 2; observer op; op drains; ended 1 ABORTED killed; 0 next-epoch; "
     "error ~ fewer than 2 tasks (min_tasks), and nobody may join while the job drains: 1 of the 2",
     of_two()},
    {"all_members_leave", 2,
     "empty; epoch 2; observer op; op drains; 0-1 leaves; done -> yes; error -> none", of_two()},
};

BOOST_AUTO_TEST_CASE(the_owner_stops_and_drains_on_behalf_of_others) {
  cluster c{2};
  auto const end = [&](core::job_end how) {
    return c.logic().put_in(t0, core::job_ended{{how, "upgrade"}, "127.0.0.1, over HTTP"});
  };
  BOOST_TEST((end(core::job_end::unknown).code() == errc::invalid_argument));
  BOOST_TEST(end(core::job_end::drain).ok());
  BOOST_TEST(c.logic().is_draining());
  c.advance_once();
  expect_words(c.log(), {"draining, by 127.0.0.1, over HTTP: upgrade"});

  BOOST_TEST(end(core::job_end::stop).ok());
  c.advance_once();
  BOOST_TEST(c.goodbye(1) == "UNAVAILABLE: the job was stopped: by 127.0.0.1, over HTTP: upgrade");
}

BOOST_FIXTURE_TEST_CASE(an_end_of_a_newer_version_is_refused, job<1>) {
  auto const asked = c.send(c.observer(), core::end_job_args{core::job_end::unknown, ""});

  BOOST_TEST(c.code(asked) == "INVALID_ARGUMENT");
  BOOST_TEST(!c.logic().is_draining());
  BOOST_TEST(!c.logic().is_stopping());
}

BOOST_FIXTURE_TEST_CASE(a_long_reason_is_cut, job<1>) {
  c.send(c.observer(), core::end_job_args{core::job_end::drain, std::string(100'000, 'x')});

  BOOST_TEST(c.look().state.headline.size() < 1'300u);
}

BOOST_FIXTURE_TEST_CASE(a_restored_job_still_drains, job<2>) {
  c.send(c.observer("root@vm"), core::end_job_args{core::job_end::drain, "upgrade"});
  c.reload();

  auto const late = c.join({c.observer(), 0}, 999);
  BOOST_TEST(c.code(late) == "FAILED_PRECONDITION");
  expect_words(c.look().state.headline, {"Draining since", "by root@vm: upgrade"});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
