// Whole jobs of recoverable tasks over a faulty network, whose processes die and are replaced: the
// job continues, and all participants of a round see the same round.

#include "coxswain/server/recording/replay.hpp"
#include "tests/sim/seeds.hpp"
#include "tests/sim/world.hpp"

#include <boost/test/unit_test.hpp>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::sim {
namespace {

constexpr std::uint64_t rounds = 200;

core::config recoverable_job(std::uint32_t num_tasks) {
  return {.num_tasks = num_tasks,
          .heartbeat_timeout = 10s,
          .reconnect_grace = 2s,
          .leave_barrier = false,
          .recoverable = true};
}

struct findings {
  std::map<std::uint64_t, std::string> seen;  // by round: the incarnations that took part
  std::vector<std::string> wrong;             // forbidden results
  std::set<std::uint32_t> finished;
  bool somebody_left{};
  std::function<void(task_id)> restart;  // the task's process has ended without finishing
};

// False after a failed call: the process then ends. A process unreachable for longer than the grace
// is replaced.
bool fine(findings& f, process const& p, std::string const& what, core::answer const& a) {
  if (a.outcome.ok()) return true;
  if (a.outcome.code() == errc::unavailable) {
    f.restart(*p.task);
  } else {
    f.wrong.push_back(what + ": " + a.outcome.text());
  }
  return false;
}

std::string joined_text(std::vector<bytes> const& data) {
  std::string text;
  for (bytes const& one : data) text.append(one.view()).append(1, ' ');
  return text;
}

// Until the last round, or until another task has left after it: the outcome of that round may be
// known only to a dead process. So each task leaves alone.
script work(process& p, findings& f, incarnation self) {
  core::answer a = co_await p.join(self);
  if (!fine(f, p, "join", a)) co_return;
  for (std::uint64_t round = 0; round < rounds;) {
    a = co_await p.all_gather("step", std::to_string(self.value));
    if (f.somebody_left && a.outcome.code() == errc::failed_precondition) break;
    if (!fine(f, p, "a round after " + std::to_string(round), a)) co_return;
    auto const& b = std::get<core::barrier_answer>(a.value);
    if (b.round.value <= round) f.wrong.push_back("rounds do not rise");
    round = b.round.value;
    auto const [at, is_first] = f.seen.emplace(round, joined_text(b.data));
    if (!is_first && at->second != joined_text(b.data)) {
      f.wrong.push_back("two rounds have one number");
    }
  }
  f.somebody_left = true;
  a = co_await p.leave();
  if (!fine(f, p, "leave", a)) co_return;
  f.finished.insert(p.task->value);
}

// The processes of each task, one after the other.
class mortal_job {
 public:
  mortal_job(std::uint64_t seed, std::uint32_t num_tasks)
      : w{seed, recoverable_job(num_tasks)}, living_(num_tasks) {
    w.delay_max = between(w.random, 20ms, 100ms);
    f.restart = [this](task_id task) { w.at(w.now + 1s, [this, task] { start(task); }); };
    for (std::uint32_t task = 0; task < num_tasks; ++task) start(task_id{task});
  }

  // One at a time. A message of the dead process still in transit when the next one joins would be
  // a sign of life, so the next one starts later.
  void plan_death(task_id task) {
    last_death_ += 6s + between(w.random, 0ns, 1s);
    w.at(last_death_, [this, task] { w.kill(*living_[task.value]); });
    w.at(last_death_ + between(w.random, 500ms, 5s), [this, task] { start(task); });
  }

  void plan_cut(task_id task) {
    w.at(w.now + between(w.random, 0ns, 20s), [this, task] {
      process& p = *living_[task.value];
      between(w.random, 0, 3) == 0 ? w.cut_silently(p) : w.cut(p);
    });
  }

  world w;
  findings f;

 private:
  // Unless the task has a running process.
  void start(task_id task) {
    process const* const last = living_[task.value];
    if (last && last->alive && !last->work.front().done()) return;
    process& p = w.add(task);
    living_[task.value] = &p;
    p.work.push_back(work(p, f, incarnation{++incarnations_}));
    p.work.front().start();
  }

  std::vector<process*> living_;
  time_point last_death_{w.now};
  std::uint64_t incarnations_{};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(simulated_recovery)

BOOST_AUTO_TEST_CASE(a_recoverable_job_survives_the_death_of_its_processes) {
  for (std::uint64_t const seed : seeds()) {
    BOOST_TEST_CONTEXT("--seed=" << seed) {
      generator shape{seed};
      auto const num_tasks = static_cast<std::uint32_t>(between(shape, 1, 5));
      mortal_job j{seed, num_tasks};
      auto const any = [&] {
        return task_id{static_cast<std::uint32_t>(between(shape, 0, num_tasks - 1))};
      };
      for (auto i = between(shape, 1, 4); i > 0; --i) j.plan_death(any());
      for (auto i = between(shape, 0, 4); i > 0; --i) j.plan_cut(any());

      j.w.pass(40s);
      j.w.run(1h);

      for (std::string const& what : j.f.wrong) BOOST_ERROR(what);
      BOOST_TEST(j.f.finished.size() == num_tasks);
      BOOST_TEST(!j.w.coordinator.error());
      for (auto const& p : j.w.processes) {
        BOOST_TEST(p->completed_twice == 0U);
        if (p->alive) BOOST_TEST(p->waiting() == 0U);
      }
      j.w.finish();
      core::snapshot const left = j.w.coordinator.look(j.w.now);
      BOOST_TEST(left.sessions == 0U);
      BOOST_TEST(left.barriers.empty());
      BOOST_TEST(!j.w.was_stuck());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_recording_ends_when_its_coordinator_is_restarted) {
  std::string recording;
  habits ways;
  ways.has_journal = true;
  ways.record = [&recording](std::string_view bytes) { recording += bytes; };
  world w{7, recoverable_job(1), std::move(ways)};
  w.add(std::nullopt);
  w.add(task_id{0});
  bool is_back = false;
  w.on_crash = [&](duration downtime) { w.at(w.now + downtime, [&] { is_back = true; }); };
  w.pass(1s);
  w.restart_coordinator(10ms);
  w.pass(10s);
  BOOST_TEST_REQUIRE(is_back);

  server::replay again{recording};
  while (again.step()) BOOST_TEST_REQUIRE(again.difference() == "");
  BOOST_TEST(again.is_whole());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::sim
