// The workload `barrier`: all tasks arrive, all are released, again and again.

#include "arrivals.hpp"
#include "bench_error.hpp"
#include "crowd.hpp"
#include "stopwatch.hpp"
#include "text.hpp"
#include "workloads.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <utility>

namespace coxswain::bench {
namespace {

struct barrier_options {
  std::uint32_t tasks{};
  std::uint32_t sessions{};     // zero: one for each task
  std::uint32_t floor_tasks{};  // zero: as many
  std::string arrivals{"together"};
};

class barrier_load final : public load {
 public:
  barrier_load(address server, std::unique_ptr<peer> speaks, std::size_t sessions,
               std::uint32_t tasks, arrivals how)
      : all_{std::move(server), std::move(speaks), sessions, tasks}, how_{how} {}

  void connect(std::function<void(std::uint64_t)> const& progress) override {
    all_.connect(progress);
    all_.join();
  }

  tally measure(std::uint64_t steps) override {
    tally found;
    found.latencies.resize(2);
    for (std::uint64_t step = 0; step < steps; ++step) round(found);
    found.operations = steps * all_.tasks();
    return found;
  }

  void beat() override { all_.beat(); }
  duration beat_period() const noexcept override { return all_.beat_period(); }
  void finish() override { all_.leave(); }

 private:
  void round(tally& found) {
    core::answer release;
    release.value.emplace<core::barrier_answer>().round = round_number{++round_};
    all_.speaks().expect({std::move(release)});
    core::barrier_args arrival;
    arrival.name = "step";
    all_.ask_all([&arrival](task_id) { return arrival; });

    stopwatch const watch;
    auto const t = all_.run("the release", how_);
    watch.stop(found);
    found.latencies[0].add((t.answered - t.last_sent).count());
    found.latencies[1].add((t.answered - t.first_sent).count());
  }

  crowd all_;
  arrivals how_;
  std::uint64_t round_{};
};

class barrier final : public workload {
 public:
  CLI::App* add_to(CLI::App& program) override {
    auto& cmd = *program.add_subcommand(
        "barrier",
        "All tasks arrive, all are released: the time from the last arrival sent to the last "
        "release received, and the server's CPU");
    cmd.add_option("--tasks", given_.tasks, "Simulated tasks")
        ->required()
        ->check(CLI::Range(1U, 1'000'000U));
    cmd.add_option(
           "--sessions", given_.sessions,
           "Connections of the coordinator's load, each with as many of the tasks (default: "
           "one for each task)")
        ->check(CLI::Range(1U, 1'000'000U));
    cmd.add_option("--floor-tasks", given_.floor_tasks,
                   "Tasks, and connections, of the floor's load (default: as many as --tasks)")
        ->check(CLI::Range(1U, 1'000'000U));
    cmd.add_option(
           "--arrivals", given_.arrivals,
           "together: as fast as can be, those of one session with one write; ordered: one "
           "write for each task, in order; jittered:5ms: one write for each task at a random "
           "moment within so long a time")
        ->capture_default_str();
    return &cmd;
  }

  void check() const override {
    (void)arrivals::parse(given_.arrivals);
    if (given_.sessions > given_.tasks) {
      throw bench_error{fmt::format("{} --sessions are more than {} --tasks: each needs a task",
                                    given_.sessions, given_.tasks),
                        exit_code::usage};
    }
  }

  vocabulary words() const override {
    vocabulary w;
    w.name = "barrier";
    w.title = fmt::format("barrier over {} tasks", grouped(given_.tasks));
    if (sessions() != given_.tasks) w.title += fmt::format(" in {} sessions", grouped(sessions()));
    if (floor_tasks() != given_.tasks) {
      w.title += fmt::format(" (the floor: {})", grouped(floor_tasks()));
    }
    w.steps = "rounds";
    w.operation = {"task and barrier", "task"};
    w.latencies = {{"last arrival to last release", "release_ns"}, {"whole round", "round_ns"}};
    return w;
  }

  std::vector<parameter> parameters() const override {
    return {{"tasks", given_.tasks}, {"sessions", sessions()}, {"floor_tasks", floor_tasks()}};
  }

  std::uint64_t steps_by_default() const override {
    return std::clamp<std::uint64_t>(20'480 / given_.tasks, 5, 50);
  }

  std::size_t connections(side_kind kind) const override {
    return kind == side_kind::coxswain ? sessions() : floor_tasks();
  }

  void configure(core::config& coordinator) const override { coordinator.num_tasks = given_.tasks; }
  std::size_t floor_answers_together() const override { return floor_tasks(); }

  std::unique_ptr<load> make_load(side_kind kind, address server) const override {
    auto const tasks = kind == side_kind::coxswain ? given_.tasks : floor_tasks();
    return std::make_unique<barrier_load>(std::move(server), make_peer(kind, given_.tasks),
                                          connections(kind), tasks,
                                          arrivals::parse(given_.arrivals));
  }

 private:
  std::size_t sessions() const { return given_.sessions > 0 ? given_.sessions : given_.tasks; }
  std::uint32_t floor_tasks() const {
    return given_.floor_tasks > 0 ? given_.floor_tasks : given_.tasks;
  }

  barrier_options given_;
};

}  // namespace

std::unique_ptr<workload> make_barrier() { return std::make_unique<barrier>(); }

}  // namespace coxswain::bench
