// The workload `check`: the same barriers by simulated tasks and by real client processes, whose
// requests must be the same to the byte.

#include "bench_error.hpp"
#include "census.hpp"
#include "crowd.hpp"
#include "real_clients.hpp"
#include "rounds.hpp"
#include "text.hpp"
#include "workloads.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace coxswain::bench {
namespace {

constexpr char const* simulated = "simulated";
constexpr char const* processes = "processes";

std::string count_text(census const& of, std::string const& request) {
  auto const at = of.by_request().find(request);
  if (at == of.by_request().end()) return "0";
  return fmt::format("{} ({})", grouped(at->second.frames), grouped(at->second.bytes));
}

std::uint64_t requests_in(census const& of) {
  std::uint64_t sum = 0;
  for (auto const& [what, counted] : of.by_request()) {
    if (what != "heartbeat") sum += counted.frames;
  }
  return sum;
}

std::string side_by_side(census const& one, census const& other) {
  auto const line = [](std::string_view what, std::string_view b, std::string_view a) {
    return fmt::format("{:<26}{:>21}{:>21}\n", what, b, a);
  };
  auto text = line("what the servers were told", processes, simulated);
  text += line("  connections", grouped(other.connections()), grouped(one.connections()));
  std::set<std::string> all;
  for (auto const& [what, _] : one.by_request()) all.insert(what);
  for (auto const& [what, _] : other.by_request()) all.insert(what);
  for (auto const& what : all) {
    text += line("  " + what, count_text(other, what), count_text(one, what));
  }
  return text + line("  requests taken in a turn",
                     fmt::format("{:.2f}", other.requests_in_a_turn()),
                     fmt::format("{:.2f}", one.requests_in_a_turn()));
}

class check_workload final : public workload {
 public:
  CLI::App* add_to(CLI::App& program) override {
    auto& cmd = *program.add_subcommand(
        "check",
        "Whether the simulated tasks are like real ones: the same barriers by them and by as many "
        "client processes. Fails if their requests are not the same to the byte");
    cmd.add_option("--tasks", tasks_, "Tasks, and client processes")
        ->check(CLI::Range(1U, 1'000U))
        ->capture_default_str();
    cmd.add_option("--arrivals", arrivals_,
                   "When the simulated tasks arrive: together, ordered, or jittered:6ms, at random "
                   "moments within so long a time, as those of the processes do")
        ->capture_default_str();
    return &cmd;
  }

  void check() const override { (void)arrivals::parse(arrivals_); }

  vocabulary words() const override {
    vocabulary w;
    w.name = "check";
    w.title = "barrier over " + counted(tasks_, "simulated task") + " and as many client processes";
    w.steps = "rounds";
    w.operation = {"task and barrier", "task"};
    w.latencies = {{"last arrival to last release", "release_ns"}, {"whole round", "round_ns"}};
    w.measured = simulated;
    return w;
  }

  std::vector<parameter> parameters() const override { return {{"tasks", tasks_}}; }
  std::uint64_t steps_by_default() const override {
    return std::clamp<std::uint64_t>(5'000 / tasks_, 5, 50);
  }
  // Those of the load are sockets to its children, or to the server.
  std::size_t connections(side_kind) const override { return tasks_; }
  void configure(core::config& coordinator) const override { coordinator.num_tasks = tasks_; }
  std::optional<side_kind> always_beside() const override { return side_kind::processes; }
  std::optional<std::size_t> record_bytes_max() const override { return std::size_t{1} << 30; }

  finding compare(std::string_view ours, std::string_view others) const override {
    census const one{ours};
    census const other{others};
    auto const where = census::difference(one, simulated, other, processes);
    finding found;
    found.is_good = !where;
    found.text = side_by_side(one, other);
    found.text += where ? "DIFFERENT: " + *where + ".\n"
                        : "The requests of each task are the same to the byte, but for its label "
                          "and its incarnation.\n";
    found.figures = {{"requests_differ", where ? std::uint64_t{1} : 0},
                     {"requests_of_simulated", requests_in(one)},
                     {"requests_of_processes", requests_in(other)}};
    return found;
  }

  std::unique_ptr<load> make_load(side_kind kind, address server) const override {
    if (kind == side_kind::processes) {
      return std::make_unique<real_clients>(server.text(), tasks_);
    }
    round_shape shape;
    return std::make_unique<rounds_load>(
        crowd{std::move(server), make_peer(kind, tasks_), tasks_, tasks_}, std::move(shape),
        arrivals::parse(arrivals_));
  }

 private:
  std::uint32_t tasks_{100};
  std::string arrivals_{"together"};
};

}  // namespace

std::unique_ptr<workload> make_check() { return std::make_unique<check_workload>(); }

}  // namespace coxswain::bench
