// The workload `failure`: one process of a job is killed, and all others are told.

#include "bench_error.hpp"
#include "child_process.hpp"
#include "connections.hpp"
#include "crowd.hpp"
#include "job.hpp"
#include "rounds.hpp"
#include "stopwatch.hpp"
#include "text.hpp"
#include "workloads.hpp"

#include "coxswain/wire/codec.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <memory>
#include <utility>
#include <variant>

namespace coxswain::bench {
namespace {

constexpr auto silence_max = 60s;

// The last task, alone in its process, until it is killed.
void live_and_wait(address server, std::uint32_t tasks, channel& control) {
  crowd victim{std::move(server), make_coxswain_peer(tasks), 1, 0};
  victim.connect([](std::uint64_t) {});
  victim.speaks().expect({join_answer()});
  victim.ask(0, task_id{tasks - 1}, core::join_args{incarnation{1}});
  victim.run("the end of the join");
  (void)control.receive();
}

class failure_load final : public load, public connections::listener {
 public:
  failure_load(address const& server, std::uint32_t tasks)
      : victim_{std::make_unique<child_process>(
            "the victim", std::nullopt,
            [=](channel& control) { live_and_wait(server, tasks, control); })},
        survivors_{server, make_coxswain_peer(tasks), tasks - 1, tasks - 1} {}

  void connect(std::function<void(std::uint64_t)> const& progress) override {
    survivors_.connect(progress);
    survivors_.join();
  }

  // One failure, whatever the number: the job has then failed.
  tally measure(std::uint64_t /*steps*/) override {
    tally found;
    found.latencies.resize(1);
    found.operations = survivors_.tasks();
    ignorant_ = survivors_.tasks();
    auto const begun = std::chrono::steady_clock::now();
    stopwatch const watch;
    victim_.reset();
    while (ignorant_ > 0) {
      auto const now = std::chrono::steady_clock::now();
      if (survivors_.wires().wait(now + silence_max, *this)) continue;
      throw bench_error{fmt::format("{} of {} survivors were not told, and nothing came for {} s",
                                    ignorant_, survivors_.tasks(),
                                    std::chrono::seconds{silence_max}.count())};
    }
    watch.stop(found);
    found.latencies[0].add((std::chrono::steady_clock::now() - begun).count());
    return found;
  }

  // The server ends with its only sample.
  void beat() override {}
  duration beat_period() const noexcept override { return {}; }
  void finish() override {}

 private:
  void arrived(std::size_t, received_frame const& frame) override {
    auto const message = wire::decode_server(frame.beginning);
    if (!message) throw bench_error{"it sent nonsense: " + message.error().text()};
    if (std::holds_alternative<job_error>(message->what.value)) --ignorant_;
  }

  std::unique_ptr<child_process> victim_;
  crowd survivors_;
  std::uint32_t ignorant_{};
};

class failure final : public workload {
 public:
  CLI::App* add_to(CLI::App& program) override {
    auto& cmd = *program.add_subcommand(
        "failure",
        "One process of a job is killed: the time until the last survivor has been told. With "
        "--floor beside the release of a barrier");
    cmd.add_option("--tasks", tasks_, "Tasks, one of which is the process that is killed")
        ->required()
        ->check(CLI::Range(2U, 1'000'000U));
    cmd.add_option("--reconnect-grace", grace_s_,
                   "Seconds that the coordinator spares a task whose connection is lost")
        ->check(CLI::Range(0.0, 50.0))
        ->capture_default_str();
    return &cmd;
  }

  vocabulary words() const override {
    vocabulary w;
    w.name = "failure";
    w.title = fmt::format("failure of one of {}, {} s of grace", counted(tasks_, "task"), grace_s_);
    w.steps = "failures";
    w.operation = {"survivor", "survivor"};
    w.latencies = {{"kill to last survivor told", "told_ns"}};
    return w;
  }

  std::vector<parameter> parameters() const override {
    return {{"tasks", tasks_}, {"reconnect_grace_ns", static_cast<std::uint64_t>(grace().count())}};
  }

  std::uint64_t steps_by_default() const override { return 1; }
  std::size_t connections(side_kind) const override { return tasks_; }
  std::uint32_t tasks(side_kind) const override { return tasks_; }
  bool uses_up_servers() const override { return true; }
  bool ends_in_failure() const override { return true; }

  void configure(core::config& coordinator) const override {
    coordinator.num_tasks = tasks_;
    coordinator.reconnect_grace = grace();
  }
  std::size_t floor_answers_together() const override { return tasks_; }

  // The floor's figure is the release of a plain barrier: so long it takes to tell all something.
  std::unique_ptr<load> make_load(side_kind kind, address server) const override {
    if (kind == side_kind::coxswain) return std::make_unique<failure_load>(server, tasks_);
    return std::make_unique<rounds_load>(
        crowd{std::move(server), make_peer(kind, tasks_), tasks_, tasks_}, round_shape{},
        arrivals{});
  }

 private:
  duration grace() const {
    return std::chrono::duration_cast<duration>(std::chrono::duration<double>{grace_s_});
  }

  std::uint32_t tasks_{};
  double grace_s_{};
};

}  // namespace

std::unique_ptr<workload> make_failure() { return std::make_unique<failure>(); }

}  // namespace coxswain::bench
