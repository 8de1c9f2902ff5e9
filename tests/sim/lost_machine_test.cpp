// The coordinator's machine is lost without a word, and another one continues the job: whatever the
// times of the job are, its sessions resume in time, directly and through relays.

#include "tests/sim/seeds.hpp"
#include "tests/sim/world.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::sim {
namespace {

constexpr std::string_view coordinator_address = "simulated:1";

duration any_time(generator& r, duration shortest, duration longest) {
  duration most = shortest;
  while (most < longest && between(r, 0, 3) != 0) most *= 2;
  return between(r, shortest, std::min(2 * most, longest));
}

core::config any_job(generator& r) {
  core::config c;
  c.num_tasks = static_cast<std::uint32_t>(between(r, 1, 5));
  c.heartbeat_timeout = any_time(r, 1s, 5min);
  c.reconnect_grace = between(r, 0, 3) == 0 ? 0s : any_time(r, 10ms, 1min);
  c.relay_grace = any_time(r, 10ms, 1min);
  c.restart_grace = std::max(any_time(r, 1s, 1min), duration{c.reconnect_grace});
  c.coordinator_return = 10min;
  return c;
}

habits with_journal() {
  habits ways;
  ways.has_journal = true;
  return ways;
}

struct lost_machine {
  lost_machine(std::uint64_t seed, core::config given) : w{seed, std::move(given), with_journal()} {
    w.delay_max = between(w.random, 1ms, 20ms);
    w.add(std::nullopt);  // misses nothing
    auto const relays = between(w.random, 0, 2);
    for (std::uint64_t i = 0; i < relays; ++i) w.add_relay("unix:relay-" + std::to_string(i));
    for (std::uint32_t task = 0; task < w.options.core.num_tasks; ++task) {
      process& busy = w.add(task_id{task}, std::nullopt, std::nullopt, any_addresses());
      busy.work.push_back(work(busy, *this));
      busy.work.back().start();
    }
    process& idle = w.add(std::nullopt, std::nullopt, std::nullopt, any_addresses());
    idle.work.push_back(wait(idle, *this));
    idle.work.back().start();
    w.on_crash = [this](duration downtime) { back = w.now + downtime; };
  }

  [[nodiscard]] std::vector<std::string> any_addresses() {
    std::vector<std::string> all;
    for (auto const& one : w.relays) {
      if (between(w.random, 0, 1) == 0) all.push_back(one->address);
    }
    if (all.empty() || between(w.random, 0, 1) == 0) all.emplace_back(coordinator_address);
    return all;
  }

  void check(std::string const& what, core::answer const& a) {
    if (!a.outcome.ok()) wrong.push_back(what + ": " + a.outcome.text());
  }

  static script work(process& p, lost_machine& in) {
    core::answer a = co_await p.join(incarnation{p.number});
    in.check("join", a);
    while (a.outcome.ok()) {
      a = co_await p.barrier("step", 1h);
      in.check("barrier", a);
    }
  }

  static script wait(process& p, lost_machine& in) {
    core::answer const a = co_await p.get("end", 1h);
    in.check("get", a);
  }

  [[nodiscard]] bool have_resumed() const {
    return std::all_of(w.processes.begin(), w.processes.end(),
                       [](auto const& p) { return p->logic.up() && p->logic.reconnects() > 0; });
  }

  world w;
  std::optional<time_point> back;
  std::vector<std::string> wrong;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(lost_machines)

BOOST_AUTO_TEST_CASE(all_sessions_resume_in_time_after_the_coordinators_machine_was_lost) {
  for (std::uint64_t const seed : seeds()) {
    BOOST_TEST_CONTEXT("--seed=" << seed) {
      generator r{seed};
      auto const options = any_job(r);
      lost_machine j{seed, options};
      j.w.pass(between(r, 1s, 2 * duration{options.restart_grace}));
      j.w.lose_coordinator(between(r, 1ms, 8s));
      j.w.run(1min, [&] { return j.back.has_value(); });
      BOOST_TEST_REQUIRE(j.back.has_value());

      j.w.run(1h, [&] { return j.have_resumed(); });
      BOOST_TEST((j.w.now < *j.back + options.restart_grace));

      j.w.pass(options.restart_grace);
      for (std::string const& what : j.wrong) BOOST_ERROR(what);
      BOOST_TEST(!j.w.coordinator.error());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::sim
