// The workload `fan-out`: many wait for a key that has no value; one puts it, and all get it.

#include "load/crowd.hpp"
#include "workloads/workloads.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::bench {
namespace {

struct fan_out_options {
  std::uint32_t waiters{1'024};
  std::uint64_t bytes{64};
};

class fan_out_load final : public crowd_load {
 public:
  // The last session of the crowd puts.
  fan_out_load(crowd&& all, fan_out_options const& given)
      : crowd_load{std::move(all)}, keys_{1, given.bytes}, waiters_{given.waiters} {}

  tally measure(std::uint64_t steps) override {
    tally found;
    found.latencies.resize(2);
    for (std::uint64_t step = 0; step < steps; ++step) round(found);
    found.operations = steps * waiters_;
    return found;
  }

 private:
  enum model : std::size_t { got, stored, removed, counted };

  void round(tally& found) {
    auto const version = 2 * round_++ + 1;
    all_.speaks().expect({keys_.get_answer(version), keys_.put_answer(version),
                          core::answer{{}, core::removed_answer{1}},
                          core::answer{{}, core::count_answer{0}}});
    stopwatch const watch;
    auto const begun = wait();
    all_.ask(waiters_, std::nullopt, keys_.put(0), stored);
    auto const t = all_.run("the value");
    watch.stop(found);
    found.latencies[0].add((t.answered - t.last_sent).count());
    found.latencies[1].add((t.answered - begun).count());

    core::remove_args remove;
    remove.key = keys_.name(0);
    all_.ask(waiters_, std::nullopt, std::move(remove), removed, true);
    all_.run("the end of its removal");
  }

  // All wait for the key, and the server has read that: what it is asked after all else is
  // answered.
  time_point wait() {
    for (std::uint32_t i = 0; i < waiters_; ++i) all_.ask(i, std::nullopt, keys_.get(0), got);
    auto const begun = now();
    all_.send();
    all_.ask(waiters_, std::nullopt, core::count_keys_args{keys_.directory()}, counted, true);
    all_.send();
    all_.await("the number of keys", waiters_);
    return begun;
  }

  key_set keys_;
  std::uint32_t waiters_;
  std::uint64_t round_{};
};

void add_fan_out(CLI::App& to, fan_out_options& o) {
  add_number(to, "--waiters", o.waiters, 1, 1'000'000,
             "Connections that wait, each with its own session");
  add_number(to, "--bytes", o.bytes, 0, std::uint64_t{16} << 20,
             "The size of the value, up to 16 MiB");
}

plan plan_fan_out(fan_out_options const& o) {
  plan p;
  p.words.name = "fan-out";
  p.words.title =
      fmt::format("fan-out of {} to {}", bytes_text(o.bytes), counted(o.waiters, "waiter"));
  p.words.steps = "rounds";
  p.words.operation = {"waiter and round", "waiter"};
  p.words.latencies = {{"put to last value", "value_ns"}, {"first get to last value", "round_ns"}};
  p.parameters = {{"waiters", o.waiters}, {"bytes", o.bytes}};
  // About 512 MiB in a sample.
  constexpr std::uint64_t sent_max = std::uint64_t{512} * 1024 * 1024;
  auto const of_a_round = std::max<std::uint64_t>(o.bytes * o.waiters, 1);
  p.steps = std::clamp<std::uint64_t>(
      std::min<std::uint64_t>(20'480 / o.waiters, sent_max / of_a_round), 2, 50);
  p.ours = p.others = {std::size_t{o.waiters} + 1, 0};
  p.job.num_tasks = 1;
  p.floor_answers_together = p.ours.connections;
  p.make_load = [o](side_kind kind, address server, extent size) {
    rival_plan rival;
    rival.subscribers = o.waiters;
    return std::make_unique<fan_out_load>(crowd_of(kind, std::move(server), size, rival), o);
  };
  return p;
}

}  // namespace

workload make_fan_out() {
  return described<fan_out_options>(
      "fan-out",
      "Many wait for a key, one puts it: the time until the last one has the value, and the "
      "server's CPU and memory",
      add_fan_out, plan_fan_out, {side_kind::redis, side_kind::etcd});
}

}  // namespace coxswain::bench
