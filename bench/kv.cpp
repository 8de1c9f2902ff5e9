// The workload `kv`: keys are read and written, one request and its reply at a time on each
// connection, or several.

#include "bench_error.hpp"
#include "crowd.hpp"
#include "key_set.hpp"
#include "stream.hpp"
#include "text.hpp"
#include "workloads.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <utility>

namespace coxswain::bench {
namespace {

// How many of ten operations are puts.
std::uint32_t puts_of_ten(std::string const& operation) {
  if (operation == "get") return 0;
  return operation == "put" ? 10 : 1;
}

struct kv_options {
  std::string operation{"get"};
  std::uint32_t connections{1};
  std::uint32_t outstanding{1};
  std::uint32_t keys{1'000};
  std::uint64_t bytes{64};
};

class kv_load final : public load {
 public:
  kv_load(address server, std::unique_ptr<peer> speaks, kv_options given)
      : given_{std::move(given)},
        keys_{given_.keys, given_.bytes},
        all_{std::move(server), std::move(speaks), given_.connections, 0} {}

  void connect(std::function<void(std::uint64_t)> const& progress) override {
    all_.connect(progress);
    keys_.store(all_);
  }

  tally measure(std::uint64_t steps) override {
    tally found;
    found.latencies.resize(1);
    expect();
    stream lines{all_.wires(), all_.speaks(), given_.outstanding};
    lines.run(
        steps, [this] { return next(); }, found);
    return found;
  }

  void beat() override { all_.beat(); }
  duration beat_period() const noexcept override { return all_.beat_period(); }
  void finish() override {
    keys_.remove(all_);
    all_.leave();
  }

 private:
  // The versions are as large as those of the coordinator's answers.
  void expect() {
    auto const version = std::max<std::uint64_t>(puts_, given_.keys);
    all_.speaks().expect({keys_.put_answer(version), keys_.get_answer(version)});
  }

  stream::question next() {
    auto const key = std::uniform_int_distribution<std::uint32_t>{0, given_.keys - 1}(random_);
    auto const chance = std::uniform_int_distribution<std::uint32_t>{0, 9}(random_);
    if (chance < puts_of_ten(given_.operation)) {
      ++puts_;
      return {keys_.put(key), 0};
    }
    core::get_args get;
    get.key = keys_.name(key);
    return {std::move(get), 1};
  }

  kv_options given_;
  key_set keys_;
  crowd all_;
  std::uint64_t puts_{};
  std::mt19937 random_{1};
};

class kv final : public workload {
 public:
  CLI::App* add_to(CLI::App& program) override {
    auto& cmd = *program.add_subcommand(
        "kv",
        "Keys are read or written, each answer followed by the next request: latency, and "
        "operations in a second");
    cmd.add_option("--operation", given_.operation, "get, put, or mixed: nine gets for one put")
        ->check(CLI::IsMember{{"get", "put", "mixed"}})
        ->capture_default_str();
    cmd.add_option("--connections", given_.connections, "Connections, each with its own session")
        ->check(CLI::Range(1U, 1'000'000U))
        ->capture_default_str();
    cmd.add_option("--outstanding", given_.outstanding,
                   "Requests without an answer on each of them")
        ->check(CLI::Range(1U, 4'000U))
        ->capture_default_str();
    cmd.add_option("--keys", given_.keys, "Different keys, of which each request takes any")
        ->check(CLI::Range(1U, key_set::keys_max))
        ->capture_default_str();
    cmd.add_option("--bytes", given_.bytes, "The size of each value, up to 64 MiB")
        ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{64} * 1024 * 1024))
        ->capture_default_str();
    return &cmd;
  }

  void check() const override {
    constexpr std::uint64_t under_way_max = std::uint64_t{1} << 30;
    auto const under_way = given_.bytes * given_.outstanding * given_.connections;
    auto const stored = given_.bytes * given_.keys;
    if (std::max(under_way, stored) <= under_way_max) return;
    throw bench_error{
        fmt::format(
            "values of {} B make {} under way at once and {} stored, but 1 GiB is the limit "
            "of each: fewer --keys, --connections or --outstanding",
            given_.bytes, bytes_text(static_cast<double>(under_way)),
            bytes_text(static_cast<double>(stored))),
        exit_code::usage};
  }

  vocabulary words() const override {
    vocabulary w;
    w.name = "kv";
    w.title = fmt::format("kv {} of {}, {} with {} outstanding", given_.operation,
                          bytes_text(static_cast<double>(given_.bytes)),
                          counted(given_.connections, "connection"), grouped(given_.outstanding));
    w.steps = "operations";
    w.operation = {"operation", "operation"};
    w.latencies = {{"request to answer", "latency_ns"}};
    w.has_rate = true;
    return w;
  }

  std::vector<parameter> parameters() const override {
    return {{"connections", given_.connections},
            {"outstanding", given_.outstanding},
            {"puts_of_ten", puts_of_ten(given_.operation)},
            {"keys", given_.keys},
            {"bytes", given_.bytes}};
  }

  std::uint64_t steps_by_default() const override {
    bool const is_one = given_.connections == 1 && given_.outstanding == 1;
    constexpr std::uint64_t bytes_max = std::uint64_t{256} * 1024 * 1024;
    return std::clamp<std::uint64_t>(bytes_max / std::max<std::uint64_t>(given_.bytes, 1), 16,
                                     is_one ? 10'000 : 100'000);
  }

  std::vector<side_kind> rivals() const override { return {side_kind::redis, side_kind::etcd}; }
  std::size_t connections(side_kind) const override { return given_.connections; }
  void configure(core::config& coordinator) const override { coordinator.num_tasks = 1; }

  std::unique_ptr<load> make_load(side_kind kind, address server) const override {
    return std::make_unique<kv_load>(std::move(server), make_peer(kind, 0), given_);
  }

 private:
  kv_options given_;
};

}  // namespace

std::unique_ptr<workload> make_kv() { return std::make_unique<kv>(); }

}  // namespace coxswain::bench
