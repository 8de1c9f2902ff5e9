// The workload `heartbeat`: an idle job that only sends heartbeats, each task in turn.

#include "load/fleet.hpp"
#include "load/job.hpp"

#include <utility>

namespace coxswain::bench {
namespace {

class heartbeat_load final : public fleet_load, public connections::listener {
 public:
  heartbeat_load(fleet&& all, duration period)
      : fleet_load{std::move(all)},
        gap_{period / static_cast<std::int64_t>(all_.sessions())},
        sent_(all_.sessions()) {}

  void connect(std::function<void(std::uint64_t)> const& progress) override {
    fleet_load::connect(progress);
    if (all_.speaks().has_sessions() && all_.speaks().has_hello()) all_.beat();
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

  // All of them at once; awaits their answers, so that they are not counted later.
  void beat() override {
    histogram ignored;
    latency_ = &ignored;
    prepare(all_.sessions());
    for (std::size_t i = 0; i < frames_.size(); ++i) send(i);
    await();
  }

 private:
  // The coordinator answers a heartbeat if it has written nothing else since the last one. So it
  // does not answer the first one after the join, but all later ones.
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
    auto const begun = now();
    for (std::size_t i = 0; i < frames_.size(); ++i) {
      auto const due = begun + gap_ * static_cast<std::int64_t>(i);
      while (now() < due) (void)all_.wires().wait(due, *this);
      send(i);
    }
  }

  void send(std::size_t i) {
    auto const session = frames_.connection(i);
    sent_[session] = now();
    all_.wires().send(session, frames_.slice(i, i + 1));
  }

  void await() { all_.wires().await(waiting_, 0, *this, "heartbeats were not answered"); }

  void arrived(std::size_t connection, received_frame const& frame) override {
    auto const found = all_.speaks().judge(frame);
    if (found != verdict::beat && found != verdict::answer) return;
    if (waiting_ == 0) throw bench_error{"it answered more often than there were heartbeats"};
    --waiting_;
    latency_->add((now() - sent_[connection]).count());
  }

  duration gap_;                  // between two beats of different sessions
  std::vector<time_point> sent_;  // by session: its last beat
  std::size_t next_{};            // the session that beats next
  frame_list frames_;
  std::size_t waiting_{};
  histogram* latency_{};
};

}  // namespace

std::unique_ptr<load> make_heartbeat(load_plan const& plan) {
  duration const period{plan.get<std::int64_t>("period_ns")};
  return std::make_unique<heartbeat_load>(fleet_of(plan), period);
}

}  // namespace coxswain::bench
