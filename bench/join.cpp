// The workload `join`: a whole job begins at once. All connect, say hello and join, and all are
// told that the job has started; then they are idle, and the server's memory is looked at.

#include "bench_error.hpp"
#include "connections.hpp"
#include "job.hpp"
#include "text.hpp"
#include "visits.hpp"
#include "workloads.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <random>
#include <utility>

namespace coxswain::bench {
namespace {

struct join_options {
  std::uint32_t tasks{};
  std::uint32_t sessions{};  // zero: one for each task
};

class join_load final : public load {
 public:
  join_load(address server, std::unique_ptr<peer> speaks, std::size_t sessions, std::uint32_t tasks)
      : wires_{std::move(server)}, peer_{std::move(speaks)}, sessions_{sessions}, tasks_{tasks} {}

  void connect(std::function<void(std::uint64_t)> const& /*progress*/) override {}

  // One storm, whatever the number: the job can start only once.
  tally measure(std::uint64_t /*steps*/) override {
    visits storm{wires_, *peer_, sessions_};
    peer_->expect({join_answer()});
    std::uint32_t task = 0;
    for (std::size_t session = 0; session < sessions_; ++session) {
      storm.begin();
      greet(storm);
      auto const end = static_cast<std::uint32_t>((session + 1) * tasks_ / sessions_);
      for (; task < end; ++task) {
        storm.ask(task_id{task}, core::join_args{incarnation{random_()}});
      }
      storm.end_step();
    }
    tally found;
    auto took = storm.run(found);
    found.operations = tasks_;
    found.latencies.resize(1);
    found.latencies[0].add(found.elapsed.count());
    found.latencies.push_back(std::move(took.greeted));
    return found;
  }

  // The server ends with its only sample.
  void beat() override {}
  duration beat_period() const noexcept override { return {}; }
  void finish() override {}

 private:
  void greet(visits& storm) const {
    if (!peer_->has_sessions()) return;
    storm.ask(std::nullopt, hello());
    storm.end_step();
  }

  bench::connections wires_;
  std::unique_ptr<peer> peer_;
  std::size_t sessions_;
  std::uint32_t tasks_;
  std::mt19937_64 random_{std::random_device{}()};
};

class join final : public workload {
 public:
  join() = default;
  explicit join(join_options given) : given_{given} {}

  CLI::App* add_to(CLI::App& program) override {
    auto& cmd = *program.add_subcommand(
        "join",
        "A whole job begins: all connect, say hello and join, until all know that it has started. "
        "Tasks in a second, and the server's memory for each when they are idle");
    cmd.add_option("--tasks", given_.tasks, "Simulated tasks")
        ->required()
        ->check(CLI::Range(2U, 1'000'000U));
    cmd.add_option(
           "--sessions", given_.sessions,
           "Connections of the coordinator's load, each with as many of the tasks (default: "
           "one for each task)")
        ->check(CLI::Range(1U, 1'000'000U));
    return &cmd;
  }

  void check() const override {
    if (given_.sessions > given_.tasks) {
      throw bench_error{fmt::format("{} --sessions are more than {} --tasks: each needs a task",
                                    given_.sessions, given_.tasks),
                        exit_code::usage};
    }
  }

  vocabulary words() const override {
    vocabulary w;
    w.name = "join";
    w.title = fmt::format("join of {} tasks", grouped(given_.tasks));
    if (sessions() != given_.tasks) w.title += fmt::format(" in {} sessions", grouped(sessions()));
    w.steps = "storms";
    w.operation = {"task", "task"};
    w.latencies = {{"first connect to the start of the job", "storm_ns"},
                   {"connect to the first answer", "greeted_ns"}};
    w.has_rate = true;
    return w;
  }

  std::vector<parameter> parameters() const override {
    return {{"tasks", given_.tasks}, {"sessions", sessions()}, {"tasks_for_memory", fewer()}};
  }

  std::uint64_t steps_by_default() const override { return 1; }
  std::size_t connections(side_kind kind) const override {
    return kind == side_kind::coxswain ? sessions() : given_.tasks;
  }
  bool uses_up_servers() const override { return true; }

  std::unique_ptr<workload> smaller() const override {
    auto less = given_;
    less.tasks = fewer();
    if (less.sessions > 0) less.sessions = std::max(1U, less.sessions / 5);
    return std::make_unique<join>(less);
  }

  void configure(core::config& coordinator) const override { coordinator.num_tasks = given_.tasks; }

  std::unique_ptr<load> make_load(side_kind kind, address server) const override {
    return std::make_unique<join_load>(std::move(server), make_peer(kind, given_.tasks),
                                       connections(kind), given_.tasks);
  }

 private:
  std::size_t sessions() const { return given_.sessions > 0 ? given_.sessions : given_.tasks; }
  std::uint32_t fewer() const { return std::max(1U, given_.tasks / 5); }

  join_options given_;
};

}  // namespace

std::unique_ptr<workload> make_join() { return std::make_unique<join>(); }

}  // namespace coxswain::bench
