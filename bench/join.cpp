// The workload `join`: a whole job begins at once. All connect, say hello and join, and all are
// told that the job has started; then they are idle, and the server's memory is looked at.

#include "connections.hpp"
#include "job.hpp"
#include "population.hpp"
#include "visits.hpp"
#include "workloads.hpp"

#include <CLI/CLI.hpp>

#include <random>
#include <utility>

namespace coxswain::bench {
namespace {

class join_load final : public load {
 public:
  join_load(address server, std::unique_ptr<peer> speaks, std::size_t sessions, std::uint32_t tasks)
      : peer_{std::move(speaks)},
        wires_{std::move(server), peer_->reader()},
        sessions_{sessions},
        tasks_{tasks} {}

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

  std::unique_ptr<peer> peer_;
  bench::connections wires_;
  std::size_t sessions_;
  std::uint32_t tasks_;
  std::mt19937_64 random_{std::random_device{}()};
};

class join final : public workload {
 public:
  join() = default;
  explicit join(population who) : who_{who} {}

  CLI::App* add_to(CLI::App& program) override {
    auto& cmd = *program.add_subcommand(
        "join",
        "A whole job begins: all connect, say hello and join, until all know that it has started. "
        "Tasks in a second, and the server's memory for each when they are idle");
    who_.add_to(cmd);
    return &cmd;
  }

  void check() const override { who_.check(); }

  vocabulary words() const override {
    vocabulary w;
    w.name = "join";
    w.title = "join of " + who_.text();
    w.steps = "storms";
    w.operation = {"task", "task"};
    w.latencies = {{"first connect to the start of the job", "storm_ns"},
                   {"connect to the first answer", "greeted_ns"}};
    w.has_rate = true;
    return w;
  }

  std::vector<parameter> parameters() const override {
    std::vector<parameter> all;
    who_.add_to(all);
    all.push_back({"tasks_for_memory", who_.smaller().tasks()});
    return all;
  }

  std::uint64_t steps_by_default() const override { return 1; }
  std::size_t connections(side_kind kind) const override { return who_.connections(kind); }
  bool uses_up_servers() const override { return true; }

  std::unique_ptr<workload> smaller() const override {
    return std::make_unique<join>(who_.smaller());
  }

  void configure(core::config& coordinator) const override { coordinator.num_tasks = who_.tasks(); }

  std::unique_ptr<load> make_load(side_kind kind, address server) const override {
    auto const tasks = who_.tasks(kind);
    return std::make_unique<join_load>(std::move(server), make_peer(kind, tasks), connections(kind),
                                       tasks);
  }

 private:
  population who_;
};

}  // namespace

std::unique_ptr<workload> make_join() { return std::make_unique<join>(); }

}  // namespace coxswain::bench
