// The workload `fan-out`: many wait for a key that has no value; one puts it, and all get it.

#include "bench_error.hpp"
#include "crowd.hpp"
#include "key_set.hpp"
#include "stopwatch.hpp"
#include "text.hpp"
#include "workloads.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace coxswain::bench {
namespace {

constexpr std::uint64_t value_bytes_max = std::uint64_t{16} * 1024 * 1024;

class fan_out_load final : public load {
 public:
  fan_out_load(address server, std::unique_ptr<peer> speaks, std::uint32_t waiters,
               std::uint64_t value_bytes)
      : keys_{1, value_bytes},
        waiters_{waiters},
        all_{std::move(server), std::move(speaks), std::size_t{waiters} + 1, 0} {}

  void connect(std::function<void(std::uint64_t)> const& progress) override {
    all_.connect(progress);
  }

  tally measure(std::uint64_t steps) override {
    tally found;
    found.latencies.resize(2);
    for (std::uint64_t step = 0; step < steps; ++step) round(found);
    found.operations = steps * waiters_;
    return found;
  }

  void beat() override { all_.beat(); }
  duration beat_period() const noexcept override { return all_.beat_period(); }
  void finish() override { all_.leave(); }

 private:
  enum model : std::size_t { got, stored, removed, counted };

  void round(tally& found) {
    auto const version = 2 * round_ + 1;
    core::answer one_removed;
    one_removed.value = core::removed_answer{1};
    core::answer none_counted;
    none_counted.value = core::count_answer{0};
    all_.speaks().expect({keys_.get_answer(version), keys_.put_answer(version),
                          std::move(one_removed), std::move(none_counted)});
    ++round_;

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
    core::get_args get;
    get.key = keys_.name(0);
    for (std::uint32_t i = 0; i < waiters_; ++i) all_.ask(i, std::nullopt, get, got);
    auto const begun = std::chrono::steady_clock::now();
    all_.send();
    core::count_keys_args count;
    count.directory = keys_.directory();
    all_.ask(waiters_, std::nullopt, std::move(count), counted, true);
    all_.send();
    all_.await("the number of keys", waiters_);
    return begun;
  }

  key_set keys_;
  std::uint32_t waiters_;
  crowd all_;  // the last session puts
  std::uint64_t round_{};
};

class fan_out final : public workload {
 public:
  CLI::App* add_to(CLI::App& program) override {
    auto& cmd = *program.add_subcommand(
        "fan-out",
        "Many wait for a key, one puts it: the time until the last one has the value, and the "
        "server's CPU and memory");
    cmd.add_option("--waiters", waiters_, "Connections that wait, each with its own session")
        ->check(CLI::Range(1U, 1'000'000U))
        ->capture_default_str();
    cmd.add_option("--bytes", bytes_, "The size of the value, up to 16 MiB")
        ->check(CLI::Range(std::uint64_t{0}, value_bytes_max))
        ->capture_default_str();
    return &cmd;
  }

  vocabulary words() const override {
    vocabulary w;
    w.name = "fan-out";
    w.title = fmt::format("fan-out of {} to {}", bytes_text(static_cast<double>(bytes_)),
                          counted(waiters_, "waiter"));
    w.steps = "rounds";
    w.operation = {"waiter and round", "waiter"};
    w.latencies = {{"put to last value", "value_ns"}, {"first get to last value", "round_ns"}};
    return w;
  }

  std::vector<parameter> parameters() const override {
    return {{"waiters", waiters_}, {"bytes", bytes_}};
  }

  // About 512 MiB in a sample.
  std::uint64_t steps_by_default() const override {
    constexpr std::uint64_t sent_max = std::uint64_t{512} * 1024 * 1024;
    auto const of_a_round = std::max<std::uint64_t>(bytes_ * waiters_, 1);
    return std::clamp<std::uint64_t>(
        std::min<std::uint64_t>(20'480 / waiters_, sent_max / of_a_round), 2, 50);
  }

  std::vector<side_kind> rivals() const override { return {side_kind::redis, side_kind::etcd}; }
  std::size_t connections(side_kind) const override { return std::size_t{waiters_} + 1; }
  void configure(core::config& coordinator) const override { coordinator.num_tasks = 1; }
  std::size_t floor_answers_together() const override { return std::size_t{waiters_} + 1; }

  std::unique_ptr<load> make_load(side_kind kind, address server) const override {
    rival_plan redis;
    redis.subscribers = waiters_;
    return std::make_unique<fan_out_load>(std::move(server), make_peer(kind, 0, redis), waiters_,
                                          bytes_);
  }

 private:
  std::uint32_t waiters_{1'024};
  std::uint64_t bytes_{64};
};

}  // namespace

std::unique_ptr<workload> make_fan_out() { return std::make_unique<fan_out>(); }

}  // namespace coxswain::bench
