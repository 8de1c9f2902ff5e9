// The workload `barrier`: all tasks arrive and are released, repeatedly. Each task may contribute
// bytes, and all get the bytes of all, or the result of a reduction.

#include "load/fleet.hpp"

#include "coxswain/core/config.hpp"

#include <utility>

namespace coxswain::bench {
namespace {

// The arrival requests of all tasks, and their answers.
struct round_shape {
  core::barrier_args arrival{};
  core::barrier_answer release{};  // except the round number
};

round_shape shape_of(load_plan const& plan) {
  auto const bytes_each = plan.get<std::size_t>("bytes");
  bool const reduces = plan.get<bool>("reduces");
  if (bytes_each == 0) return {};
  auto const gathered_max = core::config{}.gather_bytes_max;
  if (!reduces && bytes_each * plan.size.tasks > gathered_max) {
    refuse("{} tasks with {} --bytes bring {} bytes, but a coordinator gathers {} at most",
           plan.size.tasks, bytes_each, bytes_each * plan.size.tasks, gathered_max);
  }
  round_shape s;
  s.arrival.data = std::string(bytes_each, reduces ? '\0' : 'd');
  s.arrival.gather = !reduces;
  s.arrival.reduce = reduces ? core::reduction::sum_int64 : core::reduction::none;
  s.release.data.assign(reduces ? 1 : plan.size.tasks, bytes{s.arrival.data});
  return s;
}

class rounds_load final : public fleet_load {
 public:
  rounds_load(fleet&& all, round_shape shape)
      : fleet_load{std::move(all)}, shape_{std::move(shape)} {
    shape_.arrival.name = "step";
  }

  // Its latencies: from the last arrival to the last release, and the whole round.
  tally measure(std::uint64_t steps) override {
    tally found;
    found.latencies.resize(2);
    for (std::uint64_t step = 0; step < steps; ++step) round(found);
    found.operations = steps * all_.tasks();
    return found;
  }

 private:
  void round(tally& found) {
    shape_.release.round = round_number{++round_};
    all_.speaks().expect({core::answer{{}, shape_.release}});
    all_.ask_all([this](task_id) { return shape_.arrival; });

    stopwatch const watch;
    auto const t = all_.run("the release");
    watch.stop(found);
    found.latencies[0].add((t.answered - t.last_sent).count());
    found.latencies[1].add((t.answered - t.first_sent).count());
  }

  round_shape shape_;
  std::uint64_t round_{};
};

}  // namespace

std::unique_ptr<load> make_barrier(load_plan const& plan) {
  auto round = shape_of(plan);
  redis_plan const redis{.tasks = plan.size.tasks,
                         .subscribers = plan.size.tasks,
                         .gathered_bytes = round.arrival.gather ? round.arrival.data.size() : 0,
                         .sums = round.arrival.reduce != core::reduction::none};
  return std::make_unique<rounds_load>(fleet_of(plan, redis), std::move(round));
}

}  // namespace coxswain::bench
