// Sessions that supervise the process of a task, and report how it ends (§1.3.10).

#include "tests/core/cluster.hpp"

#include "coxswain/core/access/credential.hpp"

namespace coxswain::test {
namespace {

// What `coxswain task --jax` opens for its task.
int supervisor(cluster& c, std::uint32_t task) {
  int const made = c.hello({.label = "coxswain task", .supervises = task_id{task}});
  BOOST_TEST_REQUIRE(c[made].hello.has_value());
  return made;
}

call reports(cluster& c, int who, status how) {
  return c.send(who, core::report_error_args{std::move(how)});
}

status const killed{errc::aborted, "killed by signal 9 (SIGKILL)"};
status const good{};

// Three tasks, of which client 0 supervises task 2, which client 3 has joined.
struct supervised_job {
  supervised_job() : c{cluster::without_clients(3)} {
    supervisor(c, 2);
    for (std::uint32_t task = 0; task < 3; ++task) c.join({c.observer(), task}, 100 + task);
    c.replies();
    c.log();
  }
  cluster c;
};

BOOST_AUTO_TEST_SUITE(coordinator_supervision_test)

BOOST_FIXTURE_TEST_CASE(others_learn_at_once_how_a_supervised_process_was_killed, supervised_job) {
  c.lose(3);
  BOOST_TEST(c.state_of(2) == "suspect");
  BOOST_TEST(c.code(reports(c, 0, killed)) == "OK");
  BOOST_TEST(c.error() == "task 2: ABORTED: killed by signal 9 (SIGKILL)");
}

BOOST_FIXTURE_TEST_CASE(the_report_need_not_wait_for_the_connection, supervised_job) {
  BOOST_TEST(c.code(reports(c, 0, killed)) == "OK");
  expect_words(c.goodbye(3), {"the process has ended"});
  BOOST_TEST(c.error() == "task 2: ABORTED: killed by signal 9 (SIGKILL)");
}

BOOST_FIXTURE_TEST_CASE(a_supervised_process_that_ends_well_has_finished_its_task, supervised_job) {
  c.lose(3);
  BOOST_TEST(c.code(reports(c, 0, good)) == "OK");
  BOOST_TEST(c.state_of(2) == "left");
  BOOST_TEST(c.error() == "none");
}

BOOST_FIXTURE_TEST_CASE(a_report_after_the_task_has_left_changes_nothing, supervised_job) {
  c.leave(3, 0s);
  BOOST_TEST(c.code(reports(c, 0, killed)) == "OK");
  BOOST_TEST(c.error() == "none");
}

// The relay sees that the process has ended, but not how.
BOOST_FIXTURE_TEST_CASE(a_relays_word_waits_for_that_of_the_supervisor, supervised_job) {
  c.lose(3, core::loss::exited);
  BOOST_TEST(c.error() == "none");
  reports(c, 0, killed);
  BOOST_TEST(c.error() == "task 2: ABORTED: killed by signal 9 (SIGKILL)");
}

BOOST_FIXTURE_TEST_CASE(a_client_destroyed_in_a_supervised_process_is_not_yet_its_end,
                        supervised_job) {
  c.bye(3, true);
  BOOST_TEST(c.state_of(2) == "suspect");
  reports(c, 0, good);
  BOOST_TEST(c.state_of(2) == "left");
  BOOST_TEST(c.error() == "none");
}

BOOST_FIXTURE_TEST_CASE(without_its_supervisor_a_task_is_like_any_other, supervised_job) {
  c.bye(0);
  c.lose(3, core::loss::exited);
  expect_words(c.error(), {"task 2", "UNAVAILABLE", "ended without leaving"});
}

BOOST_FIXTURE_TEST_CASE(a_process_that_never_joined_is_not_found, empty_job<2>) {
  int const s = supervisor(c, 1);
  auto const report = reports(c, s, good);
  BOOST_TEST(c.code(report) == "NOT_FOUND");
  BOOST_TEST(c.text(report) == "the process of task 1 has never joined");
}

BOOST_FIXTURE_TEST_CASE(a_process_that_ends_while_it_joins_is_forgotten, empty_job<2>) {
  int const s = supervisor(c, 1);
  auto const join = c.join({c.observer(), 1}, 101);
  BOOST_TEST(c.code(reports(c, s, killed)) == "OK");
  BOOST_TEST(c.code(join) == "ABORTED");
  BOOST_TEST(c.state_of(1) == "never connected");
}

// A report can be late: the session resumed, and the next process has joined meanwhile.
BOOST_AUTO_TEST_CASE(a_former_supervisor_says_nothing_about_the_next_process) {
  auto c = cluster::without_clients(2, {.join_barrier = false, .recoverable = true});
  int const former = supervisor(c, 1);
  int const first = c.observer();
  c.join({first, 1}, 101);
  c.lose(first, core::loss::closed);
  supervisor(c, 1);
  c.join({c.observer(), 1}, 102);
  BOOST_TEST(c.state_of(1) == "connected");

  BOOST_TEST(c.code(reports(c, former, killed)) == "OK");
  BOOST_TEST(c.state_of(1) == "connected");
}

BOOST_AUTO_TEST_CASE(a_jax_program_at_an_address_is_where_its_supervisor_is) {
  cluster c{cluster::without_clients(4)};
  for (std::uint32_t task = 0; task < 3; ++task) supervisor(c, task);
  auto const label_of = [&](std::uint32_t task, std::string label, std::string peer) {
    int const process = c.hello({.label = std::move(label)}, std::move(peer));
    c.join({process, task}, 100 + task, 300s, {.is_jax = true});
    return c.look().tasks[task].label;
  };

  BOOST_TEST(label_of(0, "jax 0.10, 10.0.0.7:5", "10.0.0.7:5") == "jax 0.10, coxswain task");
  BOOST_TEST(label_of(1, "jax 0.10, 10.0.0.7:5", "10.0.0.7:5 via relay, 10.0.0.8:1") ==
             "jax 0.10, coxswain task");
  BOOST_TEST(label_of(2, "jax 0.10, b12:3391", "unix: process 3391 of user 0") ==
             "jax 0.10, b12:3391");
  BOOST_TEST(label_of(3, "jax 0.10, 10.0.0.7:8", "10.0.0.7:8") == "jax 0.10, 10.0.0.7:8");
}

BOOST_AUTO_TEST_CASE(a_program_that_is_not_jax_keeps_its_label_beside_a_supervisor) {
  cluster c{cluster::without_clients(1)};
  supervisor(c, 0);
  c.join({c.hello({.label = "b12, 10.0.0.7:5"}, "10.0.0.7:5"), 0}, 100);
  BOOST_TEST(c.look().tasks[0].label == "b12, 10.0.0.7:5");
}

BOOST_AUTO_TEST_CASE(only_a_worker_supervises_and_only_a_task_of_the_job) {
  auto options =
      core::config{.credentials = {{core::role::reader, "look"}, {core::role::worker, "pull"}}};
  auto c = cluster::without_clients(2, options);
  int const reader = c.hello({.token = "look", .supervises = task_id{1}});
  expect_words(c.goodbye(reader), {"PERMISSION_DENIED", "role 'worker'"});
  int const astray = c.hello({.token = "pull", .supervises = task_id{2}});
  expect_words(c.goodbye(astray), {"INVALID_ARGUMENT", "there is no task 2"});
}

BOOST_FIXTURE_TEST_CASE(supervision_survives_a_snapshot, supervised_job) {
  c.reload();
  c.lose(3, core::loss::exited);
  BOOST_TEST(c.error() == "none");
  reports(c, 0, killed);
  BOOST_TEST(c.error() == "task 2: ABORTED: killed by signal 9 (SIGKILL)");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
