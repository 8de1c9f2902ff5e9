#pragma once
// A kind of work for a server, in one file of its own: what its options are, what server it needs,
// what one sample does on the side of the load, and what its figures are called. Not here: the
// order of samples and the comparison with the floor (experiment), which are the same for all.

#include "address.hpp"
#include "peer.hpp"
#include "tally.hpp"

#include "coxswain/base/time.hpp"
#include "coxswain/core/config.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace CLI {
class App;
}

namespace coxswain::bench {

// `processes`: the coordinator, too, but with real clients.
enum class side_kind { floor, coxswain, second_floor, processes, redis, etcd };

[[nodiscard]] std::string name(side_kind kind);

// The client side of a workload against one server, in a process of its own. All functions throw
// bench_error.
class load {
 public:
  virtual ~load() = default;

  // Everything before the clock runs. `progress` is told how many connections there are.
  virtual void connect(std::function<void(std::uint64_t)> const& progress) = 0;

  virtual tally measure(std::uint64_t steps) = 0;

  // Of a load that can do several things: which of them `measure` does from now on.
  virtual void turn_to(std::uint64_t /*act*/) {}

  // Shows that all live; to be called when the load was idle for `beat_period`, which is zero if
  // the server needs no such thing.
  virtual void beat() = 0;
  [[nodiscard]] virtual duration beat_period() const noexcept = 0;

  // After the last sample: what else it has seen, for workload::conclude; empty: nothing.
  virtual std::string conclude() { return {}; }

  // Leaves the job in order.
  virtual void finish() = 0;

  // The server's process, if it is known; before all else.
  virtual void is_served_by(pid_t /*server*/) {}

  // Further processes that it consists of.
  [[nodiscard]] virtual std::vector<pid_t> processes() const { return {}; }
};

// What the figures of a workload are called, for people and in the JSON.
struct vocabulary {
  struct term {
    std::string text;
    std::string key;
  };
  std::string name;             // "barrier"
  std::string title;            // "barrier over 1,024 tasks"
  std::string steps;            // what a sample consists of: "rounds"
  term operation;               // {"task and barrier", "task"}: CPU time is told for each
  std::vector<term> latencies;  // {"whole round", "round_ns"}; the first is compared
  bool has_rate{};              // operations in a second are worth telling and comparing
  std::vector<term> parts;      // of a sample: {"the join", "join"}
  bool counts_peak{};           // memory per task is that of a sample's peak, not of its end
  std::string measured;         // what our side is called in the table, if not by its kind
};

// What was asked for, for the JSON.
struct parameter {
  std::string key;
  std::uint64_t value{};
};

// What was found besides times.
struct finding {
  std::string text;
  std::vector<parameter> figures;  // for the JSON
  bool is_good{true};
};

class workload {
 public:
  virtual ~workload() = default;

  // Adds its subcommand to the program, and returns it.
  virtual CLI::App* add_to(CLI::App& program) = 0;
  // Looks at what was given. Throws bench_error (usage).
  virtual void check() const {}

  [[nodiscard]] virtual vocabulary words() const = 0;
  [[nodiscard]] virtual std::vector<parameter> parameters() const = 0;
  // So that a sample lasts about half a second to two seconds.
  [[nodiscard]] virtual std::uint64_t steps_by_default() const = 0;
  // How many connections its load opens at once.
  [[nodiscard]] virtual std::size_t connections(side_kind kind) const = 0;

  // How many tasks join when its load connects, and stay; zero if they do not, or there are none.
  [[nodiscard]] virtual std::uint32_t tasks(side_kind /*kind*/) const { return 0; }

  // Whether each sample needs new servers and loads.
  [[nodiscard]] virtual bool uses_up_servers() const { return false; }
  // Whether its load connects during samples, and not only before.
  [[nodiscard]] virtual bool connects_in_samples() const { return uses_up_servers(); }
  // The same work with fewer tasks, if memory for each task is to be measured by comparing both;
  // else none.
  [[nodiscard]] virtual std::unique_ptr<workload> smaller() const { return nullptr; }

  // Whether there is something that the floor could do as well.
  [[nodiscard]] virtual bool has_floor() const { return true; }
  // The servers of others that can do this work.
  [[nodiscard]] virtual std::vector<side_kind> rivals() const { return {}; }

  // What it is compared with in any case; none: with what the user asks for, or nothing.
  [[nodiscard]] virtual std::optional<side_kind> always_beside() const { return std::nullopt; }

  // How much of what they were told both coordinators keep, so that it can be compared; none: it is
  // not.
  [[nodiscard]] virtual std::optional<std::size_t> record_bytes_max() const { return std::nullopt; }
  // Compares what ours and the other one were told.
  [[nodiscard]] virtual finding compare(std::string_view /*ours*/,
                                        std::string_view /*others*/) const {
    return {};
  }

  // What the load of our side has seen; see load::conclude.
  [[nodiscard]] virtual std::optional<finding> conclude(std::string_view /*seen*/) const {
    return std::nullopt;
  }

  // Whether the job, or what is asked, is meant to fail, so that the coordinator's warnings are
  // none.
  [[nodiscard]] virtual bool ends_in_failure() const { return false; }

  // What the coordinator is started with.
  virtual void configure(core::config& coordinator) const = 0;
  // How many requests the floor answers together.
  [[nodiscard]] virtual std::size_t floor_answers_together() const { return 1; }

  [[nodiscard]] virtual std::unique_ptr<load> make_load(side_kind kind, address server) const = 0;
};

// The peer for a side's server; the coordinator's job is to have so many tasks. With a rival: how
// it is used.
[[nodiscard]] std::unique_ptr<peer> make_peer(side_kind kind, std::uint32_t tasks,
                                              rival_plan const& rival = {});

}  // namespace coxswain::bench
