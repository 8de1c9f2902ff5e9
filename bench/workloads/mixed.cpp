// The workload `mixed`: a job's day. All join and tell each other their devices; barriers, keys and
// heartbeats; all leave.

#include "load/crowd.hpp"
#include "load/job.hpp"
#include "servers/machine.hpp"
#include "workloads/workloads.hpp"

#include "coxswain/core/model/topology.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::bench {
namespace {

// Between so many barriers all show that they live.
constexpr std::uint32_t barriers_per_beat = 10;

constexpr std::uint64_t value_bytes = 64;

enum part : std::size_t { join_part, topologies, barriers, keys, heartbeats, leave_part, parts };

struct mixed_options {
  population who{};
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
  return {{}, core::build_topology(std::move(all)).value()};
}

class mixed_load final : public load {
 public:
  mixed_load(crowd&& all, mixed_options given)
      : given_{given}, all_{std::move(all)}, keys_{all_.tasks(), value_bytes} {
    all_.pretend_sessions();
  }

  void is_served_by(pid_t server) override { server_ = server; }

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
      args.mine = topology_of(task, given_.devices);
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

  // Each puts its own key, and when all have, reads its neighbour's.
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

  mixed_options given_;
  crowd all_;
  key_set keys_;
  std::optional<pid_t> server_;
  std::uint64_t puts_{};
};

void add_mixed(CLI::App& to, mixed_options& o) {
  o.who.add_to(to);
  add_number(to, "--barriers", o.barriers, 1, 100'000,
             "Barriers in a day, each followed by a put and a get of each task");
  add_number(to, "--devices", o.devices, 0, 64,
             "Devices of each task, of which all tell all; 0: no topologies");
}

void check_mixed(mixed_options const& o, extent ours, extent others) {
  constexpr double sent_max = 16.0 * 1024 * 1024 * 1024;
  auto const tasks = static_cast<double>(std::max(ours.tasks, others.tasks));
  auto const sent = tasks * tasks * (30.0 + 40.0 * o.devices);
  if (o.devices == 0 || sent <= sent_max) return;
  refuse(
      "{} who tell each other their topologies are sent about {}, but 16 GiB is the limit: fewer "
      "--tasks, or --devices 0",
      counted(ours.tasks, "task"), bytes_text(sent));
}

plan plan_mixed(mixed_options const& o) {
  plan p;
  p.words.name = "mixed";
  p.words.title =
      fmt::format("a day of {} with {}", o.who.describe(p), counted(o.barriers, "barrier"));
  check_mixed(o, p.ours, p.others);
  p.words.steps = "days";
  p.words.operation = {"task and day", "task"};
  p.words.latencies = {{"whole day", "day_ns"}, {"last arrival to last release", "release_ns"}};
  p.words.parts = {{"connect, hello, join", "join"}, {"topologies", "topologies"},
                   {"barriers", "barriers"},         {"puts and gets", "keys"},
                   {"heartbeats", "heartbeats"},     {"leave, bye", "leave"}};
  p.words.counts_peak = true;
  auto const fewer = o.who.smaller();
  p.parameters.insert(
      p.parameters.end(),
      {{"barriers", o.barriers}, {"devices", o.devices}, {"tasks_for_memory", fewer.tasks}});
  p.floor_answers_together = p.others.tasks;
  // With as many requests in all, since a coordinator keeps the last ones.
  p.smaller = [o, fewer] {
    auto longer = o;
    longer.who = fewer;
    longer.barriers =
        static_cast<std::uint32_t>(std::uint64_t{o.barriers} * o.who.tasks / fewer.tasks);
    return plan_mixed(longer);
  };
  p.make_load = [o](side_kind kind, address server, extent size) {
    return std::make_unique<mixed_load>(crowd_of(kind, std::move(server), size), o);
  };
  p.joins_first = false;
  return p;
}

}  // namespace

workload make_mixed() {
  auto w = described<mixed_options>(
      "mixed",
      "A job's day: all join, exchange topologies, meet at barriers, put and get keys, show that "
      "they live, and leave. The time and the server's CPU of each part, and memory per task",
      add_mixed, plan_mixed);
  w.uses_up_servers = true;
  return w;
}

}  // namespace coxswain::bench
