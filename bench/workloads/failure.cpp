// The workload `failure`: one process of a job is killed, and all others are told.

#include "load/crowd.hpp"
#include "servers/process.hpp"
#include "workloads/rounds.hpp"
#include "workloads/workloads.hpp"

#include "coxswain/wire/codec.hpp"

#include <memory>
#include <utility>
#include <variant>

namespace coxswain::bench {
namespace {

struct failure_options {
  std::uint32_t tasks{};
  double grace_s{};
};

// The last task, alone in its process, until it is killed.
void live_and_wait(address server, std::uint32_t tasks, channel& control) {
  crowd victim{std::move(server), make_coxswain_peer(tasks), {1, 0}};
  victim.connect([](std::uint64_t) {});
  victim.speaks().expect({join_answer()});
  victim.ask(0, task_id{tasks - 1}, core::join_args{incarnation{1}});
  victim.run("the end of the join");
  (void)control.receive();
}

class failure_load final : public crowd_load, public connections::listener {
 public:
  failure_load(address const& server, std::uint32_t tasks)
      : crowd_load{crowd{server, make_coxswain_peer(tasks), {tasks - 1, tasks - 1}}},
        victim_{std::make_unique<child_process>("the victim", std::nullopt, [=](channel& control) {
          live_and_wait(server, tasks, control);
        })} {}

  // One failure, whatever the number: the job has then failed.
  tally measure(std::uint64_t /*steps*/) override {
    tally found;
    found.latencies.resize(1);
    found.operations = all_.tasks();
    ignorant_ = all_.tasks();
    auto const begun = now();
    stopwatch const watch;
    victim_.reset();
    all_.wires().await(ignorant_, 0, *this, "survivors were not told");
    watch.stop(found);
    found.latencies[0].add((now() - begun).count());
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
  std::size_t ignorant_{};
};

void add_failure(CLI::App& to, failure_options& o) {
  to.add_option("--tasks", o.tasks, "Tasks, one of which is the process that is killed")
      ->required()
      ->check(CLI::Range(2U, 1'000'000U));
  add_number(to, "--reconnect-grace", o.grace_s, 0.0, 50.0,
             "Seconds that the coordinator spares a task whose connection is lost");
}

plan plan_failure(failure_options const& o) {
  plan p;
  p.words.name = "failure";
  p.words.title =
      fmt::format("failure of one of {}, {} s of grace", counted(o.tasks, "task"), o.grace_s);
  p.words.steps = "failures";
  p.words.operation = {"survivor", "survivor"};
  p.words.latencies = {{"kill to last survivor told", "told_ns"}};
  p.job.num_tasks = o.tasks;
  p.job.reconnect_grace = of_seconds(o.grace_s);
  p.parameters = {
      {"tasks", o.tasks},
      {"reconnect_grace_ns", static_cast<std::uint64_t>(p.job.reconnect_grace.count())}};
  p.ours = p.others = {o.tasks, o.tasks};
  p.ends_in_failure = true;
  p.floor_answers_together = o.tasks;
  // The floor's figure is the release of a plain barrier: so long it takes to tell all something.
  p.make_load = [](side_kind kind, address server, extent size) -> std::unique_ptr<load> {
    if (kind == side_kind::coxswain) return std::make_unique<failure_load>(server, size.tasks);
    return std::make_unique<rounds_load>(crowd_of(kind, std::move(server), size), round_shape{},
                                         arrivals{});
  };
  return p;
}

}  // namespace

workload make_failure() {
  auto w = described<failure_options>(
      "failure",
      "One process of a job is killed: the time until the last survivor has been told. With "
      "--floor beside the release of a barrier",
      add_failure, plan_failure);
  w.uses_up_servers = true;
  return w;
}

}  // namespace coxswain::bench
