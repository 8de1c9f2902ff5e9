#include "coxswain/client/process_table.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace coxswain::test {
namespace {

struct shown {
  std::uint32_t task;
  std::uint64_t self;
  task_state state{task_state::connected};
};

core::tasks_answer snapshot(std::uint64_t version, std::vector<shown> const& tasks) {
  core::tasks_answer made;
  made.version = version;
  for (auto const& one : tasks) {
    auto& t = made.tasks.emplace_back();
    t.id = task_id{one.task};
    t.self = incarnation{one.self};
    t.state = one.state;
  }
  return made;
}

// "0=100 1=101"
std::string text(std::vector<process> const& processes) {
  std::string all;
  for (auto const& p : processes) {
    all += (all.empty() ? "" : " ") + std::to_string(p.task.value) + '=' +
           std::to_string(p.incarnation.value);
  }
  return all;
}

process member(std::uint32_t task, std::uint64_t self) {
  return {task_id{task}, incarnation{self}};
}

// Two connected tasks.
class fixture {
 protected:
  fixture() { table.update(snapshot(1, {{0, 100}, {1, 101}})); }

  process_table table;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(process_table_test, fixture)

BOOST_AUTO_TEST_CASE(the_first_snapshot_loses_no_process) {
  process_table fresh;

  BOOST_TEST(text(fresh.update(snapshot(5, {{0, 100}, {1, 101, task_state::failed}}))) == "");
  BOOST_TEST(fresh.tasks().version == 5u);
}

BOOST_AUTO_TEST_CASE(a_process_missing_from_a_snapshot_is_lost) {
  BOOST_TEST(text(table.update(snapshot(2, {{0, 100}, {2, 102}}))) == "1=101");

  process const gone = member(1, 101);
  BOOST_TEST(table.check_current({&gone, 1}).message() ==
             "task 1 with incarnation 101 is no longer there: the job has no such task");
}

BOOST_AUTO_TEST_CASE(a_disconnected_process_is_lost_once) {
  BOOST_TEST(text(table.update(snapshot(2, {{0, 100}, {1, 101, task_state::failed}}))) == "1=101");
  BOOST_TEST(text(table.update(snapshot(3, {{0, 100}, {1, 101, task_state::failed}}))) == "");
  BOOST_TEST(text(table.update(snapshot(4, {{0, 100, task_state::left}, {1, 102}}))) == "0=100");
}

BOOST_AUTO_TEST_CASE(a_new_incarnation_loses_the_old_one) {
  BOOST_TEST(text(table.update(snapshot(2, {{0, 100}, {1, 202}}))) == "1=101");
}

BOOST_AUTO_TEST_CASE(a_suspect_task_is_not_lost) {
  auto suspects = snapshot(2, {{0, 100}, {1, 101}});
  suspects.tasks[1].suspect = true;

  BOOST_TEST(text(table.update(std::move(suspects))) == "");
}

BOOST_AUTO_TEST_CASE(a_joining_task_is_not_lost) {
  table.update(snapshot(2, {{0, 100}, {1, 101, task_state::joining}}));

  BOOST_TEST(text(table.update(snapshot(3, {{0, 100}, {1, 101, task_state::failed}}))) == "");
}

BOOST_AUTO_TEST_CASE(an_older_snapshot_is_ignored) {
  table.update(snapshot(3, {{1, 101}, {0, 100}}));
  BOOST_TEST(table.tasks().tasks[0].id == task_id{0});

  BOOST_TEST(text(table.update(snapshot(2, {{0, 1}, {1, 1}}))) == "");

  BOOST_TEST(table.tasks().version == 3u);
}

BOOST_AUTO_TEST_CASE(a_repeated_snapshot_keeps_marked_failures) {
  table.mark_failed(task_id{1}, {errc::internal, "boom"}).value();

  BOOST_TEST(text(table.update(snapshot(1, {{0, 100}, {1, 101}}))) == "");

  process const marked = member(1, 101);
  BOOST_TEST(table.check_current({&marked, 1}).code() == errc::failed_precondition);
  BOOST_TEST(text(table.update(snapshot(2, {{0, 100}, {1, 101, task_state::failed}}))) == "");
}

BOOST_AUTO_TEST_CASE(members_are_current_while_they_are_connected_in_their_incarnation) {
  process const both[] = {member(0, 100), member(1, 101)};
  BOOST_TEST(table.check_current(both).ok());
  BOOST_TEST(table.check_current({}).ok());

  table.update(snapshot(2, {{0, 100}, {1, 101, task_state::left}}));

  auto const why = table.check_current(both);
  BOOST_TEST(why.code() == errc::failed_precondition);
  BOOST_TEST(why.message() == "task 1 with incarnation 101 is no longer there: the task is left");
}

BOOST_AUTO_TEST_CASE(an_unknown_member_or_incarnation_is_stale) {
  process const unknown[] = {member(9, 100)};
  process const another[] = {member(0, 99)};

  BOOST_TEST(table.check_current(unknown).code() == errc::failed_precondition);
  BOOST_TEST(table.check_current(another).code() == errc::failed_precondition);
  BOOST_TEST(table.check_current(another).message() ==
             "task 0 with incarnation 99 is no longer there: the task has incarnation 100");
}

BOOST_AUTO_TEST_CASE(without_a_snapshot_nothing_is_stale) {
  process const any[] = {member(9, 9)};

  BOOST_TEST(process_table{}.check_current(any).ok());
}

BOOST_AUTO_TEST_CASE(empty_task_state_is_no_op_for_a_task_that_is_marked_as_failed) {
  process_table fresh;

  auto const lost = fresh.mark_failed(task_id{0}, {errc::internal, "boom"});

  BOOST_TEST(text(lost.value()) == "");
  BOOST_TEST(fresh.tasks().tasks.empty());
}

BOOST_AUTO_TEST_CASE(unknown_task_returns_not_found_when_it_is_marked_as_failed) {
  auto const lost = table.mark_failed(task_id{99}, {errc::internal, "boom"});

  BOOST_TEST(lost.error().code() == errc::not_found);
  BOOST_TEST(lost.error().message() == "there is no task 99 among 2");
}

BOOST_AUTO_TEST_CASE(a_task_marked_as_failed_is_lost_and_not_lost_again_by_the_coordinator) {
  auto const lost = table.mark_failed(task_id{1}, {errc::internal, "boom"});
  BOOST_TEST(text(lost.value()) == "1=101");
  BOOST_TEST(text(table.mark_failed(task_id{1}, {errc::internal, "again"}).value()) == "");

  BOOST_TEST(text(table.update(snapshot(2, {{0, 100}, {1, 101, task_state::failed}}))) == "");
}

// The runtime's part of aborts_acquired_gpu_clique_on_task_failure: it ends its work with lost
// processes, and checks before it starts again.
BOOST_AUTO_TEST_CASE(aborts_acquired_gpu_clique_on_task_failure_as_a_stale_member) {
  process const clique[] = {member(0, 100), member(1, 101)};
  BOOST_TEST(table.check_current(clique).ok());

  auto const lost = table.mark_failed(task_id{1}, {errc::internal, "boom"}).value();

  BOOST_TEST((lost == std::vector{clique[1]}));
  auto const why = table.check_current(clique);
  BOOST_TEST(why.code() == errc::failed_precondition);
  BOOST_TEST(why.message() ==
             "task 1 with incarnation 101 is no longer there: the task is failed, INTERNAL: boom");
}

BOOST_AUTO_TEST_CASE(marking_with_ok_is_refused) {
  BOOST_TEST(table.mark_failed(task_id{0}, {}).error().code() == errc::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
