// The workload `heartbeat`: a job that does nothing but show that it lives, each task in its turn.

#include "bench_error.hpp"
#include "connections.hpp"
#include "crowd.hpp"
#include "frame_list.hpp"
#include "population.hpp"
#include "stopwatch.hpp"
#include "text.hpp"
#include "workloads.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace coxswain::bench {
namespace {

constexpr auto silence_max = 60s;

class heartbeat_load final : public load, public connections::listener {
 public:
  heartbeat_load(crowd&& all, duration period)
      : all_{std::move(all)},
        gap_{period / static_cast<std::int64_t>(all_.sessions())},
        sent_(all_.sessions()) {}

  void connect(std::function<void(std::uint64_t)> const& progress) override {
    all_.connect(progress);
    all_.join();
    if (all_.speaks().has_sessions()) all_.beat();
  }

  tally measure(std::uint64_t steps) override {
    tally found;
    found.latencies.resize(1);
    found.operations = steps;
    latency_ = &found.latencies[0];
    prepare(steps);
    stopwatch const watch;
    send_paced();
    await();
    watch.stop(found);
    return found;
  }

  // All of them at once; their answers are awaited, so that they are not counted later.
  void beat() override {
    histogram ignored;
    latency_ = &ignored;
    prepare(all_.sessions());
    for (std::size_t i = 0; i < frames_.size(); ++i) send(i);
    await();
  }
  duration beat_period() const noexcept override { return all_.beat_period(); }
  void finish() override { all_.leave(); }

 private:
  // The coordinator answers a heartbeat if it has written nothing else since the one before. So it
  // does not answer the first one after the join, but all that follow.
  void prepare(std::uint64_t beats) {
    all_.speaks().expect({core::answer{}});
    frames_.clear();
    for (std::uint64_t i = 0; i < beats; ++i, next_ = (next_ + 1) % all_.sessions()) {
      all_.speaks().ask(frames_.open(), {next_, std::nullopt}, std::monostate{});
      frames_.close(next_);
    }
    waiting_ = beats;
  }

  void send_paced() {
    auto const begun = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < frames_.size(); ++i) {
      auto const due = begun + gap_ * static_cast<std::int64_t>(i);
      while (std::chrono::steady_clock::now() < due) (void)all_.wires().wait(due, *this);
      send(i);
    }
  }

  void send(std::size_t i) {
    auto const session = frames_.connection(i);
    sent_[session] = std::chrono::steady_clock::now();
    all_.wires().send(session, frames_.slice(i, i + 1));
  }

  void await() {
    while (waiting_ > 0) {
      if (all_.wires().wait(std::chrono::steady_clock::now() + silence_max, *this)) continue;
      throw bench_error{fmt::format("{} heartbeats were not answered, and nothing came for {} s",
                                    waiting_, std::chrono::seconds{silence_max}.count())};
    }
  }

  void arrived(std::size_t connection, received_frame const& frame) override {
    auto const found = all_.speaks().judge(frame);
    if (found != verdict::beat && found != verdict::answer) return;
    if (waiting_ == 0) throw bench_error{"it answered more often than there were heartbeats"};
    --waiting_;
    latency_->add((std::chrono::steady_clock::now() - sent_[connection]).count());
  }

  crowd all_;
  duration gap_;                  // between two beats of different sessions
  std::vector<time_point> sent_;  // by session: its last beat
  std::size_t next_{};            // the session that beats next
  frame_list frames_;
  std::uint64_t waiting_{};
  histogram* latency_{};
};

class heartbeat final : public workload {
 public:
  CLI::App* add_to(CLI::App& program) override {
    auto& cmd = *program.add_subcommand(
        "heartbeat",
        "A job that is idle: the sessions' heartbeats, one after another at an even pace, and the "
        "server's CPU for them");
    who_.add_to(cmd);
    cmd.add_option("--period", period_s_, "Seconds between two heartbeats of a session")
        ->check(CLI::Range(0.001, 100.0))
        ->capture_default_str();
    return &cmd;
  }

  void check() const override { who_.check(); }

  vocabulary words() const override {
    vocabulary w;
    w.name = "heartbeat";
    w.title = fmt::format("heartbeats of {} every {} s", who_.text(), period_s_);
    w.steps = "heartbeats";
    w.operation = {"heartbeat", "heartbeat"};
    w.latencies = {{"heartbeat to its answer", "latency_ns"}};
    return w;
  }

  std::vector<parameter> parameters() const override {
    std::vector<parameter> all;
    who_.add_to(all);
    all.push_back({"period_ns", static_cast<std::uint64_t>(period().count())});
    return all;
  }

  // Those of a second.
  std::uint64_t steps_by_default() const override {
    return std::max<std::uint64_t>(10, static_cast<std::uint64_t>(who_.sessions() / period_s_));
  }

  std::vector<side_kind> rivals() const override { return {side_kind::redis}; }
  std::size_t connections(side_kind kind) const override { return who_.connections(kind); }
  std::uint32_t tasks(side_kind kind) const override { return who_.tasks(kind); }
  void configure(core::config& coordinator) const override { coordinator.num_tasks = who_.tasks(); }

  std::unique_ptr<load> make_load(side_kind kind, address server) const override {
    auto const tasks = who_.tasks(kind);
    return std::make_unique<heartbeat_load>(
        crowd{std::move(server), make_peer(kind, tasks), who_.connections(kind), tasks}, period());
  }

 private:
  duration period() const {
    return std::chrono::duration_cast<duration>(std::chrono::duration<double>{period_s_});
  }

  population who_;
  double period_s_{10};
};

}  // namespace

std::unique_ptr<workload> make_heartbeat() { return std::make_unique<heartbeat>(); }

}  // namespace coxswain::bench
