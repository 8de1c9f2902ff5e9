#include "terminal/top_frame.hpp"

#include "terminal/lines_shared.hpp"
#include "terminal/terminal.hpp"

#include "coxswain/base/error.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <deque>
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

core::snapshot::barrier barrier_of(std::string name, std::uint32_t arrived, std::uint32_t expected,
                                   std::string missing, duration age) {
  core::snapshot::barrier b;
  b.name = std::move(name);
  b.round = round_number{7};
  b.arrived = arrived;
  b.expected = expected;
  b.missing = std::move(missing);
  b.age = age;
  b.remaining = 300s - age;
  return b;
}

// One of them was killed while the others waited for it.
job_view failed_job() {
  auto view = job_of(200);
  auto& job = view.job;
  job.tasks[137].state = task_state::failed;
  job.tasks[12].suspect = true;
  job.error.emplace();
  job.error->cause = {task_id{137}, {errc::aborted, "killed by signal 9 (Killed)"}};
  job.error->later.push_back({task_id{12}, {errc::unavailable, "no sign of life"}});
  job.barriers.push_back(barrier_of("young", 1, 2, "3", 1ms));
  job.barriers.push_back(barrier_of("step", 198, 200, "12,137", 12s));
  core::why_answer::wait w;
  w.name = "step";
  w.waiting = "0-11,13-136,138-199";
  w.age = 12s;
  w.missing.emplace();
  w.missing->round = round_number{7};
  w.missing->known.resize(1);
  w.missing->known[0].task = task_id{12};
  w.missing->known[0].state = task_state::connected;
  w.missing->known[0].label = "b12:3391";
  w.missing->known[0].waits_for = "key 'k'";
  view.why.waits.push_back(w);
  job.tasks[13].label = "b13:3391";
  job.tasks[14].label = "b13:3392";
  for (std::uint64_t i = 1; i <= 64; ++i) {
    core::snapshot::finished_round r;
    r.number = i;
    r.at = i * 1s;
    r.spread = i * 1ms;
    if (i <= 40) r.last_task = task_id{i % 2 == 0 ? 13U : 14U};
    if (i == 41) r.last_task = task_id{3};
    r.lag = i == 40 ? 1s : 2ms;
    if (i == 64) r.outcome = errc::internal;
    job.rounds.push_back(r);
  }
  for (std::uint64_t i = 1; i <= 30; ++i) {
    core::event e;
    e.text = "event " + std::to_string(i);
    view.events.push_back({i, i * 1s, e});
    view.events.back().time = wall_time{}.plus(i * 1s);
  }
  view.events.back().what.level = core::severity::error;
  return view;
}

view_options with_unicode() {
  view_options how;
  how.has_unicode = true;
  return how;
}

std::string shown(job_view const& view, screen_size size,
                  view_options const& how = with_unicode()) {
  std::string all;
  for (auto const& line : top_frame(view, how, size, true)) all += line.plain() + "\n";
  return all;
}

BOOST_AUTO_TEST_SUITE(top_frames)

BOOST_AUTO_TEST_CASE(everything_stands_on_a_usual_screen) {
  BOOST_TEST(shown(failed_job(), {80, 24}) ==
             R"(job 'train' at host:8476   up 5.00 min   coordinator 0.1.0   200 sessions
200 tasks: 199 connected, 1 failed (1 suspect)   2.00 KiB of 1.00 GiB memory  ..
 THE JOB HAS FAILED: task 137: ABORTED: killed by signal 9 (Killed)
  then task 12: UNAVAILABLE: no sign of life
TASKS  X failed  ? suspect  o connected
  0 oooooooooooo?ooooooooooooooooooooooooooooooooooooooooooooooooooooooooo
 70 oooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooXoo
140 oooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo
  1 failed: 137
  1 suspect: 12
OPEN BARRIERS  2, the oldest first
  step round 7         [#########-] 198/200  waits 12.0 s, fails in 4.80 min
    missing 2: 12,137
  young round 7        [#####-----] 1/2  waits 1.00 ms, fails in 5.00 min
WHO WAITS FOR WHAT  1 wait
  barrier 'step' round 7: tasks 0-11,13-136,138-199 for 12.0 s
    for task 12: connected, b12:3391, waits for key 'k'
WHO COMES LAST  of the last 64 rounds; lag after the median arrival
  b13: 40 times, 26.9 ms on average, 1.00 s at most; tasks 13-14
BARRIER LATENCY  median 32.0 ms, longest 63.0 ms, 1 failed, 64 rounds in 63.0 s
  ▁▂▃▃▄▄▄▅▅▅▅▅▅▅▆▆▆▆▆▆▆▆▆▆▆▆▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇████████████████x
EVENTS
  00:00:30.0 error   event 30
q quit  space pause  k/j older/newer  e severity  ? help
)");
}

BOOST_AUTO_TEST_CASE(on_a_small_screen_the_cause_and_the_missing_stay) {
  BOOST_TEST(shown(failed_job(), {60, 9}) ==
             R"(job 'train' at host:8476   up 5.00 min   coordinator 0.1.0..
200 tasks: 199 connected, 1 failed (1 suspect)   2.00 KiB ..
 THE JOB HAS FAILED: task 137: ABORTED: killed by signal 9
(Killed)
  then task 12: UNAVAILABLE: no sign of life
OPEN BARRIERS  2, the oldest first
  step round 7         [#########-] 198/200  waits 12.0 s,..
    missing 2: 12,137
q quit  space pause  k/j older/newer  e severity  ? help
)");
}

BOOST_AUTO_TEST_CASE(a_job_of_ten_thousand_tasks_still_reads) {
  auto view = job_of(10'000);
  view.job.tasks[7'777].state = task_state::failed;
  view.job.barriers.push_back(barrier_of("step", 9'999, 10'000, "7777", 1s));

  BOOST_TEST(shown(view, {80, 24}) ==
             R"(job 'train' at host:8476   up 5.00 min   coordinator 0.1.0   10000 sessions
10000 tasks: 9999 connected, 1 failed   2.00 KiB of 1.00 GiB memory   0 keys
TASKS  X failed  o connected  each place: the worst of 20 tasks
   0 oooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo
1400 oooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo
2800 oooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo
4200 oooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo
5600 oooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo
7000 ooooooooooooooooooooooooooooooooooooooXooooooooooooooooooooooooooooooo
8400 oooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo
9800 oooooooooo
  1 failed: 7777
OPEN BARRIERS  1, the oldest first
  step round 7         [#########-] 9999/10000  waits 1.00 s, fails in 4.98 min
    missing 1: 7777
WHO WAITS FOR WHAT  nobody waits







q quit  space pause  k/j older/newer  e severity  ? help
)");
}

BOOST_AUTO_TEST_CASE(no_line_is_wider_than_the_screen_and_none_is_too_many) {
  auto const view = failed_job();
  auto how = with_unicode();
  for (std::size_t lines = 1; lines < 60; ++lines) {
    for (std::size_t columns : {1, 2, 7, 20, 79, 80, 81, 200}) {
      for (bool const shows_help : {false, true}) {
        how.shows_help = shows_help;
        auto const frame = top_frame(view, how, {columns, lines}, true);
        BOOST_TEST(frame.size() <= lines);
        for (auto const& line : frame) BOOST_TEST(line.columns() <= columns);
      }
    }
  }
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

BOOST_AUTO_TEST_CASE(who_does_not_answer_is_said_above_all) {
  auto view = job_of(2);
  view.lost = {"UNAVAILABLE: connection refused", 12s};

  auto const text = shown(view, {80, 6});

  BOOST_TEST(text.find("\nNO ANSWER for 12.0 s, what follows is from before; tries again.") ==
             text.find('\n'));
  BOOST_TEST(text.find("connection refused") != text.npos);
}

BOOST_AUTO_TEST_CASE(old_events_come_back_when_it_is_scrolled) {
  auto view = job_of(1'000);
  view.events = failed_job().events;
  auto how = with_unicode();
  how.scrolled = 20;

  auto const text = shown(view, {80, 20}, how);

  BOOST_TEST(text.find("EVENTS  20 later ones below") != text.npos);
  BOOST_TEST(text.find("event 10\n") != text.npos);
  BOOST_TEST(text.find("event 11\n") == text.npos);
}

BOOST_AUTO_TEST_CASE(less_severe_events_are_hidden_if_asked) {
  auto view = job_of(1);
  view.events = failed_job().events;
  auto how = with_unicode();
  how.events_from = core::severity::warning;

  auto const text = shown(view, {80, 20}, how);

  BOOST_TEST(text.find("EVENTS  from warning\n  00:00:30.0 error   event 30\n") != text.npos);
  BOOST_TEST(text.find("event 29") == text.npos);
}

BOOST_AUTO_TEST_CASE(a_line_that_stands_for_several_events_replaces_theirs) {
  std::deque<core::events_answer::entry> kept;
  core::event lost;
  lost.level = core::severity::error;
  lost.text = "lost";
  take_events(kept, {{1, 1s, lost, {}, 1}, {2, 2s, {}, {}, 2}, {3, 3s, lost, {}, 1}});
  core::events_answer::entry many{9'999, 2h, lost, wall_time{}.plus(2h), 1, 9'998, 1s, "0-9", 3};

  take_events(kept, {many});

  BOOST_TEST_REQUIRE(kept.size() == 2u);
  BOOST_TEST(kept[0].number == 2u);
  auto view = job_of(1);
  view.job.uptime = 24h;
  view.events = kept;
  BOOST_TEST(shown(view, {100, 20})
                 .find("  1970-01-01 02:00:00.0 error   lost [9998 like this since "
                       "00:00:01.0, of tasks 0-9 and 3 more]\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(of_each_severity_the_last_events_are_kept) {
  std::deque<core::events_answer::entry> kept;
  core::event cause;
  cause.level = core::severity::error;
  std::vector<core::events_answer::entry> news{{1, 0s, cause}};
  for (std::uint64_t i = 2; i < 1'002; ++i) news.push_back({i, 0s, {}, {}, i});
  take_events(kept, news);

  BOOST_TEST(kept.size() == 501u);
  BOOST_TEST(kept.front().number == 1u);
  BOOST_TEST(kept[1].number == 502u);
}

BOOST_AUTO_TEST_CASE(what_stands_still_and_what_can_be_done_stand_at_the_end) {
  auto how = with_unicode();
  how.is_paused = true;

  auto const text = shown(job_of(1), {80, 24}, how);

  BOOST_TEST(
      text.ends_with("\nPAUSED  q quit  space pause  k/j older/newer  e severity  ? help\n"));
}

BOOST_AUTO_TEST_CASE(relays_stand_in_a_table_if_there_is_room) {
  auto view = job_of(4);
  view.job.relays = {{"b12:77", "10.0.0.2:9", 8, 1, 120s}};

  auto const text = shown(view, {100, 40});

  BOOST_TEST(text.find("relay   peer        clients  paused  connected for\n"
                       "b12:77  10.0.0.2:9        8       1       3.00 min") != std::string::npos,
             text);
  BOOST_TEST(shown(view, {100, 8}).find("relay") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_round_may_name_a_task_that_is_no_longer_there) {
  auto view = failed_job();
  view.job.tasks.resize(2);

  auto const text = shown(view, {100, 60});

  BOOST_TEST(text.find("task 13: 20 times") != std::string::npos, text);
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
TASKS  o connected
0 oo
  steps 7 to 8; furthest behind: 1
OPEN BARRIERS  none
WHO WAITS FOR WHAT  nobody waits
task  state      incarnation  heard  process  peer  step   since
   0  connected  -                -  -        -        8  1.00 s
   1  connected  -                -  -        -        7  2.00 s





q quit  space pause  k/j older/newer  e severity  ? help
)");
}

BOOST_AUTO_TEST_CASE(everybody_gets_the_least_before_anybody_gets_more) {
  using shares = std::vector<std::size_t>;
  std::vector<line_wish> const wishes{{1, 2, 9}, {0, 1, 5}, {2, 3, 3}};

  BOOST_TEST((lines_shared(wishes, 0) == shares{0, 0, 0}));
  BOOST_TEST((lines_shared(wishes, 3) == shares{2, 1, 0}));
  BOOST_TEST((lines_shared(wishes, 5) == shares{2, 3, 0}));
  BOOST_TEST((lines_shared(wishes, 6) == shares{2, 1, 3}));
  BOOST_TEST((lines_shared(wishes, 12) == shares{4, 5, 3}));
  BOOST_TEST((lines_shared(wishes, 99) == shares{9, 5, 3}));
}

BOOST_AUTO_TEST_CASE(keys_are_found_among_bytes_that_mean_nothing) {
  using keys = std::vector<key>;

  BOOST_TEST((keys_in("q") == keys{key::quit}));
  BOOST_TEST((keys_in("\033[A\033[Bx\033[5~?") ==
              keys{key::older, key::newer, key::page_older, key::help}));
  BOOST_TEST((keys_in("\033[1;5q\033[200~ \033") == keys{key::pause}));
  BOOST_TEST((keys_in("\033Oq\033[") == keys{}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::tools
