// The workload `churn`: connections come and go. Each says hello, joins, leaves, says goodbye and
// is closed, and another takes its place.

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

class churn_load final : public load {
 public:
  churn_load(address server, std::unique_ptr<peer> speaks, std::uint32_t slots)
      : peer_{std::move(speaks)}, wires_{std::move(server), peer_->reader()}, slots_{slots} {}

  void connect(std::function<void(std::uint64_t)> const& /*progress*/) override {}

  tally measure(std::uint64_t steps) override {
    constexpr std::uint64_t prepared_max = 100'000;
    tally found;
    found.latencies.resize(2);
    found.operations = steps;
    peer_->expect({core::answer{}, join_answer(), hello_answer(slots_)});
    visits coming{wires_, *peer_, slots_};
    while (steps > 0) {
      auto const now = std::min(steps, prepared_max);
      for (std::uint64_t i = 0; i < now; ++i) {
        prepare(coming, task_id{static_cast<std::uint32_t>(i % slots_)});
      }
      auto const took = coming.run(found);
      found.latencies[0].add(took.finished);
      found.latencies[1].add(took.greeted);
      steps -= now;
    }
    return found;
  }

  // Between samples nobody is connected.
  void beat() override {}
  duration beat_period() const noexcept override { return {}; }
  void finish() override {}

 private:
  void prepare(visits& coming, task_id task) {
    coming.begin();
    coming.ask(std::nullopt, hello(), 2);
    coming.end_step();
    coming.ask(task, core::join_args{incarnation{random_()}}, 1);
    coming.end_step();
    coming.ask(task, core::leave_args{}, 0);
    coming.end_step();
    if (peer_->has_sessions())
      coming.say_and_close(core::bye_args{});
    else
      coming.close();
  }

  std::unique_ptr<peer> peer_;
  bench::connections wires_;
  std::uint32_t slots_;
  std::mt19937_64 random_{std::random_device{}()};
};

class churn final : public workload {
 public:
  CLI::App* add_to(CLI::App& program) override {
    auto& cmd = *program.add_subcommand(
        "churn",
        "Connections come and go: each says hello, joins, leaves and is closed, and another takes "
        "its place. Visits in a second, and how long one takes");
    cmd.add_option("--connections", slots_, "Connections at any time, each of another task")
        ->check(CLI::Range(1U, 100'000U))
        ->capture_default_str();
    return &cmd;
  }

  vocabulary words() const override {
    vocabulary w;
    w.name = "churn";
    w.title = fmt::format("churn of {}", counted(slots_, "connection"));
    w.steps = "visits";
    w.operation = {"visit", "visit"};
    w.latencies = {{"connect to having left", "visit_ns"},
                   {"connect to the first answer", "greeted_ns"}};
    w.has_rate = true;
    return w;
  }

  std::vector<parameter> parameters() const override { return {{"connections", slots_}}; }
  std::uint64_t steps_by_default() const override {
    return std::max<std::uint64_t>(2'000, 2 * std::uint64_t{slots_});
  }
  std::size_t connections(side_kind) const override { return slots_; }
  bool connects_in_samples() const override { return true; }

  // Each task comes and goes alone.
  void configure(core::config& coordinator) const override {
    coordinator.num_tasks = slots_;
    coordinator.join_barrier = false;
    coordinator.leave_barrier = false;
  }

  std::unique_ptr<load> make_load(side_kind kind, address server) const override {
    return std::make_unique<churn_load>(std::move(server), make_peer(kind, slots_), slots_);
  }

 private:
  std::uint32_t slots_{16};
};

}  // namespace

std::unique_ptr<workload> make_churn() { return std::make_unique<churn>(); }

}  // namespace coxswain::bench
