// The workload `barrier-data`: barriers to which each task brings bytes. All get the bytes of all,
// or what a reduction makes of them.

#include "bench_error.hpp"
#include "rounds.hpp"
#include "text.hpp"
#include "workloads.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>

namespace coxswain::bench {
namespace {

constexpr std::uint64_t operand_bytes = sizeof(std::int64_t);

class barrier_data final : public rounds {
 public:
  CLI::App* add_to(CLI::App& program) override {
    auto* cmd = program.add_subcommand(
        "barrier-data",
        "Barriers to which each task brings bytes, and gets those of all (all-gather), or what a "
        "reduction makes of them");
    add_options(*cmd);
    auto* bytes = cmd->add_option("--bytes", bytes_, "What each task brings")
                      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{64} * 1024 * 1024))
                      ->capture_default_str();
    cmd->add_flag("--reduce", reduces_,
                  "Instead of all bytes, each gets the sum of one 64-bit integer of each")
        ->excludes(bytes);
    return cmd;
  }

  void check() const override {
    rounds::check();
    auto const gathered = bytes_ * std::max(who().tasks(), who().floor_tasks());
    auto const gathered_max = core::config{}.gather_bytes_max;
    if (reduces_ || gathered <= gathered_max) return;
    throw bench_error{
        fmt::format("{} tasks with {} --bytes bring {}, but a coordinator gathers {} at most",
                    grouped(who().tasks()), bytes_, bytes_text(static_cast<double>(gathered)),
                    bytes_text(static_cast<double>(gathered_max))),
        exit_code::usage};
  }

  vocabulary words() const override {
    auto w = rounds::words();
    w.name = "barrier-data";
    w.title = reduces_ ? fmt::format("sum of an integer of each of {}", who().text())
                       : fmt::format("all-gather of {} from each of {}",
                                     bytes_text(static_cast<double>(bytes_)), who().text());
    return w;
  }

  std::vector<parameter> parameters() const override {
    auto all = rounds::parameters();
    all.push_back({"bytes", reduces_ ? operand_bytes : bytes_});
    all.push_back({"reduces", reduces_ ? std::uint64_t{1} : std::uint64_t{0}});
    return all;
  }

  std::vector<side_kind> rivals() const override { return {side_kind::redis}; }

  // About 256 MiB of answers in a sample.
  std::uint64_t steps_by_default() const override {
    constexpr std::uint64_t sent_max = std::uint64_t{256} * 1024 * 1024;
    auto const tasks = std::uint64_t{who().tasks()};
    auto const of_a_round = reduces_ ? operand_bytes * tasks : bytes_ * tasks * tasks;
    return std::clamp<std::uint64_t>(std::min(20'480 / tasks, sent_max / of_a_round), 3, 50);
  }

 protected:
  round_shape shape(std::uint32_t tasks) const override {
    round_shape s;
    s.arrival.data = std::string(reduces_ ? operand_bytes : bytes_, reduces_ ? '\0' : 'd');
    s.arrival.gather = !reduces_;
    s.arrival.reduce = reduces_ ? core::reduction::sum_int64 : core::reduction::none;
    s.release.data.assign(reduces_ ? 1 : tasks, bytes{s.arrival.data});
    return s;
  }

 private:
  std::uint64_t bytes_{64};
  bool reduces_{};
};

}  // namespace

std::unique_ptr<workload> make_barrier_data() { return std::make_unique<barrier_data>(); }

}  // namespace coxswain::bench
