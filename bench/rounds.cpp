#include "rounds.hpp"

#include "stopwatch.hpp"

#include <CLI/CLI.hpp>

#include <utility>

namespace coxswain::bench {

rounds_load::rounds_load(crowd&& all, round_shape shape, arrivals how)
    : all_{std::move(all)}, shape_{std::move(shape)}, how_{how} {
  shape_.arrival.name = "step";
}

void rounds_load::connect(std::function<void(std::uint64_t)> const& progress) {
  all_.connect(progress);
  all_.join();
}

tally rounds_load::measure(std::uint64_t steps) {
  tally found;
  found.latencies.resize(2);
  for (std::uint64_t step = 0; step < steps; ++step) round(found);
  found.operations = steps * all_.tasks();
  return found;
}

void rounds_load::round(tally& found) {
  shape_.release.round = round_number{++round_};
  core::answer release;
  release.value = shape_.release;
  all_.speaks().expect({std::move(release)});
  all_.ask_all([this](task_id) { return shape_.arrival; });

  stopwatch const watch;
  auto const t = all_.run("the release", how_);
  watch.stop(found);
  found.latencies[0].add((t.answered - t.last_sent).count());
  found.latencies[1].add((t.answered - t.first_sent).count());
}

void rounds::add_options(CLI::App& command) {
  who_.add_to(command);
  command
      .add_option(
          "--arrivals", arrivals_,
          "together: as fast as can be, those of one session with one write; ordered: one "
          "write for each task, in order; jittered:5ms: one write for each task at a random "
          "moment within so long a time")
      ->capture_default_str();
}

void rounds::check() const {
  who_.check();
  (void)arrivals::parse(arrivals_);
}

vocabulary rounds::words() const {
  vocabulary w;
  w.steps = "rounds";
  w.operation = {"task and barrier", "task"};
  w.latencies = {{"last arrival to last release", "release_ns"}, {"whole round", "round_ns"}};
  return w;
}

std::vector<parameter> rounds::parameters() const {
  std::vector<parameter> all;
  who_.add_to(all);
  return all;
}

std::size_t rounds::connections(side_kind kind) const { return who_.connections(kind); }

std::uint32_t rounds::tasks(side_kind kind) const { return who_.tasks(kind); }

void rounds::configure(core::config& coordinator) const { coordinator.num_tasks = who_.tasks(); }

std::size_t rounds::floor_answers_together() const { return who_.floor_tasks(); }

rival_plan rounds::rival(std::uint32_t tasks, core::barrier_args const& arrival) const {
  rival_plan plan;
  plan.tasks = tasks;
  plan.subscribers = tasks;
  plan.barrier = redis_barrier_;
  plan.gathered_bytes = arrival.gather ? arrival.data.size() : 0;
  plan.sums = arrival.reduce != core::reduction::none;
  return plan;
}

std::unique_ptr<load> rounds::make_load(side_kind kind, address server) const {
  auto const tasks = who_.tasks(kind);
  auto round = shape(tasks);
  auto speaks = make_peer(kind, tasks, rival(tasks, round.arrival));
  return std::make_unique<rounds_load>(
      crowd{std::move(server), std::move(speaks), who_.connections(kind), tasks}, std::move(round),
      arrivals::parse(arrivals_));
}

}  // namespace coxswain::bench
