// The workloads `barrier`: all tasks arrive, all are released, again and again; and `barrier-data`:
// each task brings bytes, and all get the bytes of all, or what a reduction makes of them.

#include "workloads/rounds.hpp"

#include "workloads/workloads.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace coxswain::bench {
namespace {

constexpr std::uint64_t operand_bytes = sizeof(std::int64_t);

struct round_options {
  population who{};
  std::string arrivals{"together"};
  redis_barrier redis{redis_barrier::script};
  std::uint64_t bytes{64};
  bool reduces{};
};

void add_common(CLI::App& to, round_options& o) {
  o.who.add_to(to);
  to.add_option("--arrivals", o.arrivals,
                "together: as fast as can be, those of one session with one write; ordered: one "
                "write for each task, in order; jittered:5ms: one write for each task at a random "
                "moment within so long a time")
      ->capture_default_str();
}

// What is the same with and without data. `shape` is given the number of tasks.
plan plan_rounds(round_options const& o, std::function<round_shape(std::uint32_t)> shape) {
  plan p;
  auto const who = o.who.describe(p);
  p.words = rounds_words("barrier", "barrier over " + who);
  p.floor_answers_together = p.others.tasks;
  p.make_load = [o, shape = std::move(shape), how = arrivals::parse(o.arrivals)](
                    side_kind kind, address server, extent size) {
    auto round = shape(size.tasks);
    rival_plan rival;
    rival.tasks = size.tasks;
    rival.subscribers = size.tasks;
    rival.barrier = o.redis;
    rival.gathered_bytes = round.arrival.gather ? round.arrival.data.size() : 0;
    rival.sums = round.arrival.reduce != core::reduction::none;
    return std::make_unique<rounds_load>(crowd_of(kind, std::move(server), size, rival),
                                         std::move(round), how);
  };
  return p;
}

plan plan_barrier(round_options const& o) {
  auto p = plan_rounds(o, [](std::uint32_t /*tasks*/) { return round_shape{}; });
  p.steps = std::clamp<std::uint64_t>(20'480 / p.ours.tasks, 5, 50);
  return p;
}

round_shape shape_with_data(round_options const& o, std::uint32_t tasks) {
  round_shape s;
  s.arrival.data = std::string(o.reduces ? operand_bytes : o.bytes, o.reduces ? '\0' : 'd');
  s.arrival.gather = !o.reduces;
  s.arrival.reduce = o.reduces ? core::reduction::sum_int64 : core::reduction::none;
  s.release.data.assign(o.reduces ? 1 : tasks, bytes{s.arrival.data});
  return s;
}

plan plan_barrier_data(round_options const& o) {
  auto p = plan_rounds(o, [o](std::uint32_t tasks) { return shape_with_data(o, tasks); });
  auto const who = p.words.title.substr(p.words.title.find("over ") + 5);
  auto const tasks = std::uint64_t{p.ours.tasks};
  auto const gathered = o.bytes * std::max(p.ours.tasks, p.others.tasks);
  if (auto const gathered_max = p.job.gather_bytes_max; !o.reduces && gathered > gathered_max) {
    refuse("{} tasks with {} --bytes bring {}, but a coordinator gathers {} at most",
           grouped(tasks), o.bytes, bytes_text(gathered), bytes_text(gathered_max));
  }
  p.words.name = "barrier-data";
  p.words.title = o.reduces
                      ? "sum of an integer of each of " + who
                      : fmt::format("all-gather of {} from each of {}", bytes_text(o.bytes), who);
  p.parameters.push_back({"bytes", o.reduces ? operand_bytes : o.bytes});
  p.parameters.push_back({"reduces", o.reduces ? std::uint64_t{1} : 0});
  // About 256 MiB of answers in a sample.
  constexpr std::uint64_t sent_max = std::uint64_t{256} * 1024 * 1024;
  auto const of_a_round = o.reduces ? operand_bytes * tasks : o.bytes * tasks * tasks;
  p.steps = std::clamp<std::uint64_t>(std::min(20'480 / tasks, sent_max / of_a_round), 3, 50);
  return p;
}

}  // namespace

rounds_load::rounds_load(crowd&& all, round_shape shape, arrivals how)
    : crowd_load{std::move(all)}, shape_{std::move(shape)}, how_{how} {
  shape_.arrival.name = "step";
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
  all_.speaks().expect({core::answer{{}, shape_.release}});
  all_.ask_all([this](task_id) { return shape_.arrival; });

  stopwatch const watch;
  auto const t = all_.run("the release", how_);
  watch.stop(found);
  found.latencies[0].add((t.answered - t.last_sent).count());
  found.latencies[1].add((t.answered - t.first_sent).count());
}

vocabulary rounds_words(std::string name, std::string title) {
  vocabulary w;
  w.name = std::move(name);
  w.title = std::move(title);
  w.steps = "rounds";
  w.operation = {"task and barrier", "task"};
  w.latencies = {{"last arrival to last release", "release_ns"}, {"whole round", "round_ns"}};
  return w;
}

plan barrier_over(population const& who) {
  round_options o;
  o.who = who;
  return plan_barrier(o);
}

workload make_barrier() {
  auto const add = [](CLI::App& to, round_options& o) {
    add_common(to, o);
    to.add_option("--redis-barrier", o.redis,
                  "With --vs redis: script: a function counts, and publishes when all are there; "
                  "count: the client that counted the last one publishes; list: all wait for an "
                  "element of a list")
        ->transform(CLI::CheckedTransformer{
            std::map<std::string, redis_barrier>{{"script", redis_barrier::script},
                                                 {"count", redis_barrier::count},
                                                 {"list", redis_barrier::list}}})
        ->default_str("script");
  };
  return described<round_options>(
      "barrier",
      "All tasks arrive, all are released: the time from the last arrival sent to the last "
      "release received, and the server's CPU",
      add, plan_barrier, {side_kind::redis, side_kind::etcd});
}

workload make_barrier_data() {
  auto const add = [](CLI::App& to, round_options& o) {
    add_common(to, o);
    auto* const bytes =
        add_number(to, "--bytes", o.bytes, 1, std::uint64_t{64} << 20, "What each task brings");
    to.add_flag("--reduce", o.reduces,
                "Instead of all bytes, each gets the sum of one 64-bit integer of each")
        ->excludes(bytes);
  };
  return described<round_options>(
      "barrier-data",
      "Barriers to which each task brings bytes, and gets those of all (all-gather), or what a "
      "reduction makes of them",
      add, plan_barrier_data, {side_kind::redis});
}

}  // namespace coxswain::bench
