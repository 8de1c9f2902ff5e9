// The workload `dir-get`: a directory with all its values is read, again and again.

#include "bench_error.hpp"
#include "crowd.hpp"
#include "key_set.hpp"
#include "stream.hpp"
#include "text.hpp"
#include "workloads.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <utility>

namespace coxswain::bench {
namespace {

constexpr std::uint64_t listing_bytes_max = std::uint64_t{256} * 1024 * 1024;

struct dir_get_options {
  std::uint32_t keys{100};
  std::uint64_t bytes{64};
  std::uint32_t connections{1};
  std::uint32_t outstanding{1};
};

class dir_get_load final : public load {
 public:
  dir_get_load(address server, std::unique_ptr<peer> speaks, dir_get_options given)
      : keys_{given.keys, given.bytes},
        outstanding_{given.outstanding},
        all_{std::move(server), std::move(speaks), given.connections, 0} {}

  void connect(std::function<void(std::uint64_t)> const& progress) override {
    all_.connect(progress);
    keys_.store(all_);
  }

  tally measure(std::uint64_t steps) override {
    tally found;
    found.latencies.resize(1);
    all_.speaks().expect({keys_.list_answer()});
    stream lines{all_.wires(), all_.speaks(), outstanding_};
    auto const list = [this] {
      core::list_args everything;
      everything.directory = keys_.directory();
      return stream::question{std::move(everything), 0};
    };
    lines.run(steps, list, found);
    return found;
  }

  void beat() override { all_.beat(); }
  duration beat_period() const noexcept override { return all_.beat_period(); }
  void finish() override {
    keys_.remove(all_);
    all_.leave();
  }

 private:
  key_set keys_;
  std::size_t outstanding_;
  crowd all_;
};

class dir_get final : public workload {
 public:
  CLI::App* add_to(CLI::App& program) override {
    auto& cmd = *program.add_subcommand(
        "dir-get",
        "A directory is read with all its values, each answer followed by the next "
        "request");
    cmd.add_option("--keys", given_.keys, "Keys of the directory")
        ->check(CLI::Range(1U, key_set::keys_max))
        ->capture_default_str();
    cmd.add_option("--bytes", given_.bytes, "The size of each value")
        ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{64} * 1024 * 1024))
        ->capture_default_str();
    cmd.add_option("--connections", given_.connections, "Connections, each with its own session")
        ->check(CLI::Range(1U, 1'000'000U))
        ->capture_default_str();
    cmd.add_option("--outstanding", given_.outstanding,
                   "Requests without an answer on each of them")
        ->check(CLI::Range(1U, 4'000U))
        ->capture_default_str();
    return &cmd;
  }

  void check() const override {
    if (listing_bytes() <= listing_bytes_max) return;
    throw bench_error{fmt::format("a listing would have {}, but {} is the limit: fewer --keys or "
                                  "--bytes",
                                  bytes_text(static_cast<double>(listing_bytes())),
                                  bytes_text(static_cast<double>(listing_bytes_max))),
                      exit_code::usage};
  }

  vocabulary words() const override {
    vocabulary w;
    w.name = "dir-get";
    w.title =
        fmt::format("directory of {} of {}, {} with {} outstanding", counted(given_.keys, "key"),
                    bytes_text(static_cast<double>(given_.bytes)),
                    counted(given_.connections, "connection"), grouped(given_.outstanding));
    w.steps = "operations";
    w.operation = {"operation", "operation"};
    w.latencies = {{"request to answer", "latency_ns"}};
    w.has_rate = true;
    return w;
  }

  std::vector<parameter> parameters() const override {
    return {{"keys", given_.keys},
            {"bytes", given_.bytes},
            {"connections", given_.connections},
            {"outstanding", given_.outstanding}};
  }

  std::uint64_t steps_by_default() const override {
    return std::clamp<std::uint64_t>(
        listing_bytes_max / std::max<std::uint64_t>(listing_bytes(), 1), 10, 10'000);
  }

  std::vector<side_kind> rivals() const override { return {side_kind::redis, side_kind::etcd}; }

  std::size_t connections(side_kind) const override { return given_.connections; }
  void configure(core::config& coordinator) const override { coordinator.num_tasks = 1; }

  std::unique_ptr<load> make_load(side_kind kind, address server) const override {
    rival_plan plan;
    plan.lists = true;
    return std::make_unique<dir_get_load>(std::move(server), make_peer(kind, 0, plan), given_);
  }

 private:
  std::uint64_t listing_bytes() const {
    constexpr std::uint64_t key_bytes = 24;
    return given_.keys * (given_.bytes + key_bytes);
  }

  dir_get_options given_;
};

}  // namespace

std::unique_ptr<workload> make_dir_get() { return std::make_unique<dir_get>(); }

}  // namespace coxswain::bench
