// The workload `mixed`: a typical job. All join and exchange their devices; barriers, keys and
// heartbeats; all leave.

#include "load/crowd.hpp"
#include "load/job.hpp"

#include "coxswain/core/model/topology.hpp"

#include <utility>

namespace coxswain::bench {
namespace {

// After this many barriers all send a heartbeat.
constexpr std::uint32_t barriers_per_beat = 10;

constexpr std::uint64_t value_bytes = 64;

enum part : std::size_t { join_part, topologies, barriers, keys, heartbeats, leave_part, parts };

duration cpu_time_of(pid_t process) {
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0) {
    throw bench_error{fmt::format("the CPU time of process {} cannot be read", process)};
  }
  return of_timespec(used);
}

core::local_topology topology_of(task_id task, std::uint32_t devices) {
  core::local_topology t;
  t.boot_id = fmt::format("machine-{:07}", task.value);
  for (std::uint32_t i = 0; i < devices; ++i) {
    core::device d;
    d.ordinal = static_cast<std::int32_t>(i);
    d.name = "device";
    d.vendor = "vendor";
    d.core_count = 132;
    d.memory_bytes = std::uint64_t{80} << 30;
    t.devices.push_back(std::move(d));
  }
  return t;
}

core::answer whole_topology(std::uint32_t tasks, std::uint32_t devices) {
  std::vector<core::local_topology> all;
  for (std::uint32_t task = 0; task < tasks; ++task) {
    all.push_back(topology_of(task_id{task}, devices));
  }
  return {{}, core::build_topology(std::move(all)).value()};
}

class mixed_load final : public load {
 public:
  explicit mixed_load(load_plan const& plan)
      : barriers_{plan.get<std::uint32_t>("barriers")},
        devices_{plan.get<std::uint32_t>("devices")},
        all_{crowd_of(plan)},
        keys_{all_.tasks(), value_bytes},
        server_{plan.server_pid} {
    all_.pretend_sessions();
  }

  // One job, whatever the number, because it can start only once.
  tally measure(std::uint64_t /*steps*/) override {
    tally found;
    found.operations = all_.tasks();
    found.latencies.resize(2);
    found.parts.resize(parts);
    auto const whole = devices_ > 0 ? whole_topology(all_.tasks(), devices_) : core::answer{};
    stopwatch const watch;
    take(found, join_part, [this] { join(); });
    if (devices_ > 0) take(found, topologies, [&] { exchange(whole); });
    for (std::uint32_t i = 1; i <= barriers_; ++i) {
      take(found, barriers, [&] { meet(i, found.latencies[1]); });
      take(found, keys, [this] { use_keys(); });
      if (i % barriers_per_beat == 0) take(found, heartbeats, [this] { all_.beat_and_await(); });
    }
    take(found, leave_part, [this] { all_.leave(); });
    watch.stop(found);
    found.latencies[0].add(found.elapsed.count());
    return found;
  }

 private:
  enum key_answer : std::size_t { stored, got };

  template <class Work>
  void take(tally& found, part which, Work const& work) {
    auto const cpu_before = server_ ? cpu_time_of(*server_) : duration{};
    auto const begun = now();
    work();
    auto& p = found.parts[which];
    p.elapsed += now() - begun;
    if (server_) p.server_cpu += cpu_time_of(*server_) - cpu_before;
  }

  void join() {
    all_.connect([](std::uint64_t) {});
    all_.join();
  }

  void exchange(core::answer const& whole) {
    all_.speaks().expect({whole});
    all_.ask_all([this](task_id task) {
      core::exchange_topology_args args;
      args.platform = "gpu";
      args.mine = topology_of(task, devices_);
      return args;
    });
    all_.run("the topology of all");
  }

  void meet(std::uint32_t round, histogram& release_time) {
    all_.speaks().expect({core::answer{{}, core::barrier_answer{round_number{round}, {}}}});
    all_.ask_all([](task_id) {
      core::barrier_args arrival;
      arrival.name = "step";
      return arrival;
    });
    auto const t = all_.run("the release");
    release_time.add((t.answered - t.last_sent).count());
  }

  // Each puts its own key, and after all have, reads its neighbor's.
  void use_keys() {
    puts_ += all_.tasks();
    all_.speaks().expect({keys_.put_answer(puts_), keys_.get_answer(puts_)});
    for (std::uint32_t task = 0; task < all_.tasks(); ++task) {
      all_.ask(all_.session_of(task), std::nullopt, keys_.put(task), stored, true);
    }
    all_.run("the end of its put");
    for (std::uint32_t task = 0; task < all_.tasks(); ++task) {
      all_.ask(all_.session_of(task), std::nullopt, keys_.get((task + 1) % all_.tasks()), got,
               true);
    }
    all_.run("its neighbour's value");
  }

  std::uint32_t barriers_;
  std::uint32_t devices_;  // of each task, exchanged among all; 0: no topologies
  crowd all_;
  key_set keys_;
  std::optional<pid_t> server_;
  std::uint64_t puts_{};
};

}  // namespace

std::unique_ptr<load> make_mixed(load_plan const& plan) {
  return std::make_unique<mixed_load>(plan);
}

}  // namespace coxswain::bench
