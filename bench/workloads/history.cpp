// The workload `history`: a job that accumulates history, and then runs an ordinary load.

#include "load/crowd.hpp"
#include "load/stream.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace coxswain::bench {
namespace {

class history_load final : public crowd_load {
 public:
  explicit history_load(load_plan const& plan)
      : crowd_load{crowd_of(plan)},
        few_{plan.get<std::uint32_t>("keys_at_first"), plan.get<std::uint64_t>("bytes")},
        many_{plan.get<std::uint32_t>("keys"), plan.get<std::uint64_t>("bytes")} {}

  void connect(std::function<void(std::uint64_t)> const& progress) override {
    crowd_load::connect(progress);
    few_.store(all_);
  }

  // "barriers": of all tasks, each with its own id; "first_gets": of the initial keys; "gets" of
  // any existing key, and "puts" over them; "use_ids": barriers of one task each, with their own
  // ids; "store_keys": all missing keys.
  void turn_to(std::string_view act) override { act_ = act; }

  tally measure(std::uint64_t steps) override {
    tally found;
    found.latencies.resize(1);
    if (act_ == "barriers") {
      run_barriers(steps, found);
    } else if (act_ == "use_ids") {
      use(steps);
    } else if (act_ == "store_keys") {
      many_.store(all_);
      there_ = &many_;
    } else {
      run_requests(steps, found);
    }
    return found;
  }

 private:
  core::barrier_args next_barrier() {
    core::barrier_args arrival;
    arrival.name = fmt::format("step-{:09}", ++used_);
    return arrival;
  }

  // The first round of each id.
  void expect_release() {
    all_.speaks().expect({core::answer{{}, core::barrier_answer{round_number{1}, {}}}});
  }

  void run_barriers(std::uint64_t rounds, tally& found) {
    expect_release();
    for (std::uint64_t round = 0; round < rounds; ++round) {
      auto const arrival = next_barrier();
      all_.ask_all([&arrival](task_id) { return arrival; });
      stopwatch const watch;
      auto const t = all_.run("the release");
      watch.stop(found);
      found.latencies[0].add((t.answered - t.last_sent).count());
    }
    found.operations = rounds * all_.tasks();
  }

  void run_requests(std::uint64_t requests, tally& found) {
    auto const version = std::uint64_t{many_.size()} + used_;
    all_.speaks().expect({many_.put_answer(version), many_.get_answer(version)});
    auto const& keys = act_ == "first_gets" ? few_ : *there_;
    std::uniform_int_distribution<std::uint32_t> any{0, keys.size() - 1};
    stream lines{all_.wires(), 1};
    auto const next = [&]() -> stream::question {
      auto const key = any(random_);
      if (act_ == "puts") return {keys.put(key), 0};
      return {keys.get(key), 1};
    };
    lines.run(requests, next, found);
  }

  void use(std::uint64_t ids) {
    constexpr std::uint64_t at_once = 8;  // for each task
    expect_release();
    for (std::uint64_t used = 0; used < ids;) {
      auto const end = std::min(ids, used + at_once * all_.tasks());
      for (auto const first = used; used < end; ++used) {
        auto const task =
            task_id{static_cast<std::uint32_t>((used - first) * all_.tasks() / (end - first))};
        auto arrival = next_barrier();
        arrival.participants = {task};
        all_.ask(all_.session_of(task.value), task, std::move(arrival));
      }
      all_.run("the release of its own barrier");
    }
  }

  key_set few_;
  key_set many_;
  key_set const* there_{&few_};
  std::string act_;
  std::uint64_t used_{};  // ids of barriers
  std::mt19937 random_{1};
};

}  // namespace

std::unique_ptr<load> make_history(load_plan const& plan) {
  return std::make_unique<history_load>(plan);
}

}  // namespace coxswain::bench
