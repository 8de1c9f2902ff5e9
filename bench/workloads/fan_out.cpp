// The workload `fan-out`: many clients wait for a key without a value; one puts it, and all get it.

#include "load/fleet.hpp"

#include <utility>

namespace coxswain::bench {
namespace {

class fan_out_load final : public fleet_load {
 public:
  // The last session of the fleet puts.
  fan_out_load(fleet&& all, std::uint64_t bytes)
      : fleet_load{std::move(all)},
        keys_{1, bytes},
        waiters_{static_cast<std::uint32_t>(all_.sessions() - 1)} {}

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

  // All wait for the key, and the server has read these requests, because a later one was answered.
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

}  // namespace

std::unique_ptr<load> make_fan_out(load_plan const& plan) {
  redis_plan redis;
  redis.subscribers = static_cast<std::uint32_t>(plan.size.connections - 1);
  return std::make_unique<fan_out_load>(fleet_of(plan, redis), plan.get<std::uint64_t>("bytes"));
}

}  // namespace coxswain::bench
