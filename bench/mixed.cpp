// The workload `mixed`: a job's day. All join and tell each other their devices; barriers, keys and
// heartbeats; all leave.

#include "bench_error.hpp"
#include "crowd.hpp"
#include "job.hpp"
#include "key_set.hpp"
#include "machine.hpp"
#include "population.hpp"
#include "stopwatch.hpp"
#include "text.hpp"
#include "workloads.hpp"

#include "coxswain/core/topology.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace coxswain::bench {
namespace {

// Between so many barriers all show that they live.
constexpr std::uint32_t barriers_per_beat = 10;

constexpr std::uint64_t value_bytes = 64;

enum part : std::size_t { join_part, topologies, barriers, keys, heartbeats, leave_part, parts };

struct mixed_options {
  std::uint32_t barriers{100};
  std::uint32_t devices{1};
};

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
  core::answer whole;
  whole.value = core::build_topology(std::move(all)).value();
  return whole;
}

class mixed_load final : public load {
 public:
  mixed_load(crowd&& all, mixed_options given)
      : given_{given}, all_{std::move(all)}, keys_{all_.tasks(), value_bytes} {
    all_.pretend_sessions();
  }

  void is_served_by(pid_t server) override { server_ = server; }
  void connect(std::function<void(std::uint64_t)> const& /*progress*/) override {}

  // One day, whatever the number: the job can start only once.
  tally measure(std::uint64_t /*steps*/) override {
    tally found;
    found.operations = all_.tasks();
    found.latencies.resize(2);
    found.parts.resize(parts);
    auto const whole =
        given_.devices > 0 ? whole_topology(all_.tasks(), given_.devices) : core::answer{};
    stopwatch const watch;
    take(found, join_part, [this] { join(); });
    if (given_.devices > 0) take(found, topologies, [&] { exchange(whole); });
    for (std::uint32_t i = 1; i <= given_.barriers; ++i) {
      take(found, barriers, [&] { meet(i, found.latencies[1]); });
      take(found, keys, [this] { use_keys(); });
      if (i % barriers_per_beat == 0) take(found, heartbeats, [this] { all_.beat_and_await(); });
    }
    take(found, leave_part, [this] { all_.leave(); });
    watch.stop(found);
    found.latencies[0].add(found.elapsed.count());
    return found;
  }

  // The server ends with its only sample.
  void beat() override {}
  duration beat_period() const noexcept override { return {}; }
  void finish() override {}

 private:
  enum key_answer : std::size_t { stored, got };

  template <class Work>
  void take(tally& found, part which, Work const& work) {
    auto const cpu_before = server_ ? cpu_time_of(*server_) : duration{};
    auto const begun = std::chrono::steady_clock::now();
    work();
    auto& p = found.parts[which];
    p.elapsed += std::chrono::steady_clock::now() - begun;
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
      args.mine = topology_of(task, given_.devices);
      return args;
    });
    all_.run("the topology of all");
  }

  void meet(std::uint32_t round, histogram& release_time) {
    core::barrier_answer release;
    release.round = round_number{round};
    core::answer whole;
    whole.value = std::move(release);
    all_.speaks().expect({std::move(whole)});
    all_.ask_all([](task_id) {
      core::barrier_args arrival;
      arrival.name = "step";
      return arrival;
    });
    auto const t = all_.run("the release");
    release_time.add((t.answered - t.last_sent).count());
  }

  // Each puts its own key, and when all have, reads its neighbour's.
  void use_keys() {
    puts_ += all_.tasks();
    all_.speaks().expect({keys_.put_answer(puts_), keys_.get_answer(puts_)});
    for (std::uint32_t task = 0; task < all_.tasks(); ++task) {
      all_.ask(all_.session_of(task), std::nullopt, keys_.put(task), stored, true);
    }
    all_.run("the end of its put");
    for (std::uint32_t task = 0; task < all_.tasks(); ++task) {
      core::get_args get;
      get.key = keys_.name((task + 1) % all_.tasks());
      all_.ask(all_.session_of(task), std::nullopt, std::move(get), got, true);
    }
    all_.run("its neighbour's value");
  }

  mixed_options given_;
  crowd all_;
  key_set keys_;
  std::optional<pid_t> server_;
  std::uint64_t puts_{};
};

class mixed final : public workload {
 public:
  mixed() = default;
  mixed(population who, mixed_options given) : who_{who}, given_{given} {}

  CLI::App* add_to(CLI::App& program) override {
    auto& cmd = *program.add_subcommand(
        "mixed",
        "A job's day: all join, exchange topologies, meet at barriers, put and get keys, show that "
        "they live, and leave. The time and the server's CPU of each part, and memory per task");
    who_.add_to(cmd);
    cmd.add_option("--barriers", given_.barriers,
                   "Barriers in a day, each followed by a put and a get of each task")
        ->check(CLI::Range(1U, 100'000U))
        ->capture_default_str();
    cmd.add_option("--devices", given_.devices,
                   "Devices of each task, of which all tell all; 0: no topologies")
        ->check(CLI::Range(0U, 64U))
        ->capture_default_str();
    return &cmd;
  }

  void check() const override {
    who_.check();
    constexpr double sent_max = 16.0 * 1024 * 1024 * 1024;
    auto const tasks = static_cast<double>(std::max(who_.tasks(), who_.floor_tasks()));
    auto const sent = tasks * tasks * (30.0 + 40.0 * given_.devices);
    if (given_.devices == 0 || sent <= sent_max) return;
    throw bench_error{
        fmt::format("{} who tell each other their topologies are sent about {}, but 16 GiB is the "
                    "limit: fewer --tasks, or --devices 0",
                    counted(who_.tasks(), "task"), bytes_text(sent)),
        exit_code::usage};
  }

  vocabulary words() const override {
    vocabulary w;
    w.name = "mixed";
    w.title = fmt::format("a day of {} with {}", who_.text(), counted(given_.barriers, "barrier"));
    w.steps = "days";
    w.operation = {"task and day", "task"};
    w.latencies = {{"whole day", "day_ns"}, {"last arrival to last release", "release_ns"}};
    w.parts = {{"connect, hello, join", "join"}, {"topologies", "topologies"},
               {"barriers", "barriers"},         {"puts and gets", "keys"},
               {"heartbeats", "heartbeats"},     {"leave, bye", "leave"}};
    w.counts_peak = true;
    return w;
  }

  std::vector<parameter> parameters() const override {
    std::vector<parameter> all;
    who_.add_to(all);
    all.push_back({"barriers", given_.barriers});
    all.push_back({"devices", given_.devices});
    all.push_back({"tasks_for_memory", who_.smaller().tasks()});
    return all;
  }

  std::uint64_t steps_by_default() const override { return 1; }
  std::size_t connections(side_kind kind) const override { return who_.connections(kind); }
  bool uses_up_servers() const override { return true; }
  // With as many requests in all, since a coordinator keeps the last ones.
  std::unique_ptr<workload> smaller() const override {
    auto longer = given_;
    longer.barriers = static_cast<std::uint32_t>(std::uint64_t{given_.barriers} * who_.tasks() /
                                                 who_.smaller().tasks());
    return std::make_unique<mixed>(who_.smaller(), longer);
  }

  void configure(core::config& coordinator) const override { coordinator.num_tasks = who_.tasks(); }
  std::size_t floor_answers_together() const override { return who_.floor_tasks(); }

  std::unique_ptr<load> make_load(side_kind kind, address server) const override {
    auto const tasks = who_.tasks(kind);
    return std::make_unique<mixed_load>(
        crowd{std::move(server), make_peer(kind, tasks), who_.connections(kind), tasks}, given_);
  }

 private:
  population who_;
  mixed_options given_;
};

}  // namespace

std::unique_ptr<workload> make_mixed() { return std::make_unique<mixed>(); }

}  // namespace coxswain::bench
