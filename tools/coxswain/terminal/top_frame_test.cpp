#include "terminal/top_frame.hpp"

#include "terminal/terminal.hpp"

#include "coxswain/base/error.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace coxswain::tools {
namespace {

// Some tasks that all are there.
job_view job_of(std::uint32_t tasks) {
  job_view view;
  view.address = "host:8476";
  view.job.job = "train";
  view.job.version = "0.1.0";
  view.job.uptime = 300s;
  view.job.sessions = tasks;
  view.job.memory_bytes = 2048;
  view.job.memory_bytes_max = 1 << 30;
  view.job.tasks.resize(tasks);
  for (std::uint32_t i = 0; i < tasks; ++i) {
    view.job.tasks[i].id = task_id{i};
    view.job.tasks[i].state = task_state::connected;
  }
  return view;
}

core::why_answer::wait wait_of(std::string name, std::uint32_t arrived, std::uint32_t expected,
                               std::string missing, duration age) {
  core::why_answer::wait w;
  w.name = std::move(name);
  w.age = age;
  w.remaining = 300s - age;
  w.missing.emplace();
  w.missing->round = round_number{7};
  w.missing->arrived = arrived;
  w.missing->expected = expected;
  w.missing->missing = std::move(missing);
  return w;
}

// One of them was killed while the others waited for it.
job_view failed_job() {
  auto view = job_of(200);
  auto& job = view.job;
  job.tasks[137].state = task_state::failed;
  job.tasks[12].suspect = true;
  job.error.emplace();
  job.error->cause = {task_id{137}, {errc::aborted, "killed by signal 9 (Killed)"}};
  job.state.what = core::job_state::kind::failed;
  job.state.headline = "Failed at 03:12:07: task 137 was killed by signal 9 (SIGKILL)";
  job.error->later.push_back({task_id{12}, {errc::unavailable, "no sign of life"}});
  auto step = wait_of("step", 198, 200, "12,137", 12s);
  step.waiting = "0-11,13-136,138-199";
  step.missing->known.resize(1);
  step.missing->known[0].task = task_id{12};
  step.missing->known[0].state = task_state::connected;
  step.missing->known[0].label = "b12:3391";
  step.missing->known[0].waits_for = "key 'k'";
  core::why_answer::wait lock;
  lock.what = core::why_answer::kind::lock;
  lock.name = "l";
  lock.waiting = "3";
  lock.age = 1s;
  lock.stuck = true;
  lock.missing.emplace();
  lock.missing->missing = "task 12";
  view.why.stuck = "deadlock: task 3 is blocked";
  view.why.waits = {step, lock};
  job.tasks[13].label = "b13:3391";
  job.tasks[14].label = "b13:3392";
  job.stragglers = {{task_id{14}, 40, 26ms, 1s, 64}, {task_id{13}, 24, 2ms, 2ms, 64}};
  for (std::uint64_t i = 1; i <= 30; ++i) {
    core::event e;
    e.text = "event " + std::to_string(i);
    view.events.push_back({i, i * 1s, e});
    view.events.back().time = wall_time{}.plus(i * 1s);
  }
  view.events.back().what.level = core::severity::error;
  return view;
}

std::string shown(job_view const& view, screen_size size) {
  std::string all;
  for (auto const& line : top_frame(view, size)) all += line.plain() + "\n";
  return all;
}

BOOST_AUTO_TEST_SUITE(top_frames)

BOOST_AUTO_TEST_CASE(everything_stands_on_a_usual_screen) {
  BOOST_TEST(shown(failed_job(), {80, 24}) ==
             R"(Failed at 03:12:07: task 137 was killed by signal 9 (SIGKILL)
  then task 12: UNAVAILABLE: no sign of life
job 'train' at host:8476   up 5.00 min   coordinator 0.1.0   200 sessions
200 tasks: 199 connected, 1 failed (1 suspect)   2.00 KiB of 1.00 GiB memory  ..
MISSING  2 waits
  deadlock: task 3 is blocked
  barrier 'step' round 7  198/200  waits 12.0 s, times out in 4.80 min: tasks ..
    missing 2: 12,137
    task 12: connected, b12:3391, waits for key 'k'
  lock 'l' STUCK  waits 1.00 s, without limit: tasks 3
    held by task 12
TASKS
  1 failed: 137
  1 suspect: 12
STRAGGLERS  last in the last 64 rounds; lag after the median arrival
  task 14 (b13:3392): 40 times, 26.0 ms on average, 1.00 s at most
  task 13 (b13:3391): 24 times, 2.00 ms on average, 2.00 ms at most
EVENTS
  00:00:25.0 info    event 25
  00:00:26.0 info    event 26
  00:00:27.0 info    event 27
  00:00:28.0 info    event 28
  00:00:29.0 info    event 29
  00:00:30.0 error   event 30
)");
}

BOOST_AUTO_TEST_CASE(on_a_small_screen_the_cause_and_the_missing_stay) {
  BOOST_TEST(shown(failed_job(), {60, 9}) ==
             R"(Failed at 03:12:07: task 137 was killed by signal 9
(SIGKILL)
  then task 12: UNAVAILABLE: no sign of life
job 'train' at host:8476   up 5.00 min   coordinator 0.1.0..
200 tasks: 199 connected, 1 failed (1 suspect)   2.00 KiB ..
MISSING  2 waits
  deadlock: task 3 is blocked
  barrier 'step' round 7  198/200  waits 12.0 s, times out..
    missing 2: 12,137
)");
}

BOOST_AUTO_TEST_CASE(a_job_of_ten_thousand_tasks_still_reads) {
  auto view = job_of(10'000);
  view.job.tasks[7'777].state = task_state::failed;
  view.why.waits.push_back(wait_of("step", 9'999, 10'000, "7777", 1s));
  view.why.waits[0].waiting = "0-7776,7778-9999";

  BOOST_TEST(shown(view, {80, 24}) ==
             R"(job 'train' at host:8476   up 5.00 min   coordinator 0.1.0   10000 sessions
10000 tasks: 9999 connected, 1 failed   2.00 KiB of 1.00 GiB memory   0 keys
MISSING  1 wait
  barrier 'step' round 7  9999/10000  waits 1.00 s, times out in 4.98 min: tas..
    missing 1: 7777
TASKS
  1 failed: 7777
)");
}

BOOST_AUTO_TEST_CASE(no_line_is_wider_than_the_screen_and_none_is_too_many) {
  auto const view = failed_job();
  for (std::size_t lines = 1; lines < 60; ++lines) {
    for (std::size_t columns : {1u, 2u, 7u, 20u, 79u, 80u, 81u, 200u}) {
      auto const frame = top_frame(view, {columns, lines});
      BOOST_TEST(frame.size() <= lines);
      for (auto const& line : frame) BOOST_TEST(line.columns() <= columns);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_headline_is_never_cut) {
  auto view = job_of(2);
  view.job.state.headline = "Waiting for task 5: 199 of 200 have been at barrier 'step' for 14 s";

  auto const text = shown(view, {20, 24});

  BOOST_TEST(
      text.find("Waiting for task 5:\n199 of 200 have been\nat barrier 'step'\nfor 14 s\n") == 0);
}

BOOST_AUTO_TEST_CASE(a_failure_has_its_age_and_its_consequences_are_counted) {
  auto view = failed_job();
  view.job.state.since = wall_time{}.plus(18s);  // the last event was at 30 s
  view.job.uptime = 42s;
  for (auto const task : {0U, 1U, 12U}) view.job.tasks[task].ended_with_job = true;
  view.job.error->later_count = 4;

  BOOST_TEST(shown(view, {80, 24}).find(R"((SIGKILL)
  24.0 s ago; 3 tasks ended with the job: 0-1,12
  and 1 more
job)") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_pace_is_shown_unless_the_headline_has_it) {
  auto view = job_of(2);
  for (std::uint64_t i = 1; i <= 5; ++i) {
    core::snapshot::finished_round r;
    r.number = i;
    r.name = "step";
    r.at = 280s + i * 4s;
    view.job.rounds.push_back(r);
  }

  BOOST_TEST(shown(view, {80, 24}).find("connected   15 steps per minute   2.00") !=
             std::string::npos);
  view.job.state.headline = "Running (15 steps per minute)";
  BOOST_TEST(shown(view, {80, 24}).find("connected   2.00") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_leader_of_a_job_with_standbys_is_named) {
  auto view = job_of(1);
  view.job.leader = {"host:8476", 3, 0, 0, {}};
  BOOST_TEST(shown(view, {80, 24}).find("\nhost:8476 leads, term 3, etcd has all inputs\n") !=
             std::string::npos);
  view.job.leader = {"host:8476", 3, 2, 4'096, 20ms};
  BOOST_TEST(shown(view, {80, 24}).find("etcd lags by 2 entries of 4.00 KiB (20.0 ms)\n") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(who_does_not_answer_is_shown_above_all) {
  auto view = job_of(2);
  view.job.state.headline = "Running";
  view.lost = {"UNAVAILABLE: connection refused", "23:10:12"};

  auto const text = shown(view, {80, 6});

  BOOST_TEST(text.find(R"(No answer since 23:10:12; last known state:
  UNAVAILABLE: connection refused
Running
)") == 0);
}

BOOST_AUTO_TEST_CASE(a_straggler_may_be_a_task_that_is_no_longer_there) {
  auto view = failed_job();
  view.job.tasks.resize(2);

  auto const text = shown(view, {100, 60});

  BOOST_TEST(text.find("task 13: 24 times") != std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(pages_of_different_epochs_may_leave_out_tasks) {
  auto view = job_of(3);
  view.job.tasks.erase(view.job.tasks.begin());
  view.job.tasks[1].state = task_state::failed;
  view.job.tasks[1].label = "b2:77";

  auto const text = shown(view, {100, 60});

  BOOST_TEST(text.find("1 failed: 2 (b2:77)") != std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(a_few_tasks_stand_in_a_table_if_there_is_room) {
  auto view = job_of(2);
  view.job.tasks[0].progress = {8, 1s};
  view.job.tasks[1].progress = {7, 2s};

  BOOST_TEST(shown(view, {80, 16}) ==
             R"(job 'train' at host:8476   up 5.00 min   coordinator 0.1.0   2 sessions
2 tasks: 2 connected   2.00 KiB of 1.00 GiB memory   0 keys
MISSING  no call is waiting
TASKS  steps 7 to 8; furthest behind: 1
task  state      incarnation  heard  process  peer  step   since
   0  connected  -                -  -        -        8  1.00 s
   1  connected  -                -  -        -        7  2.00 s
)");
}

BOOST_AUTO_TEST_CASE(q_quits_and_no_escape_sequence_does) {
  for (auto const* bytes : {"q", "Q", "xq", "\x03"}) BOOST_TEST(has_quit(bytes));
  for (auto const* bytes : {"", "x", "\033[A", "\033[1;5q", "\033Oq"}) BOOST_TEST(!has_quit(bytes));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::tools
