#pragma once
// A kind of work for a server, in a file of its own: what its options are, what server it needs,
// what one sample does on the side of the load, and what its figures are called. Not here: the
// order of samples and the comparison with the floor (experiment), which are the same for all.

#include "bench_error.hpp"
#include "load/address.hpp"
#include "load/peer.hpp"
#include "load/tally.hpp"
#include "report/text.hpp"

#include "coxswain/base/time.hpp"
#include "coxswain/core/config.hpp"

#include <CLI/CLI.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/types.h>

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
  virtual void connect(std::function<void(std::uint64_t)> const& /*progress*/) {}

  virtual tally measure(std::uint64_t steps) = 0;

  // Of a load that can do several things: which of them `measure` does from now on.
  virtual void turn_to(std::uint64_t /*act*/) {}

  // Shows that all live; to be called when the load was idle for `beat_period`, which is zero if
  // the server needs no such thing.
  virtual void beat() {}
  [[nodiscard]] virtual duration beat_period() const noexcept { return {}; }

  // After the last sample: what else it has seen, for plan::conclude; empty: nothing.
  virtual std::string conclude() { return {}; }

  // Leaves the job in order, unless the server ends with its only sample.
  virtual void finish() {}

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
  std::string name{};             // "barrier"
  std::string title{};            // "barrier over 1,024 tasks"
  std::string steps{};            // what a sample consists of: "rounds"
  term operation{};               // {"task and barrier", "task"}: CPU time is told for each
  std::vector<term> latencies{};  // {"whole round", "round_ns"}; the first is compared
  bool has_rate{};                // operations in a second are worth telling and comparing
  std::vector<term> parts{};      // of a sample: {"the join", "join"}
  bool counts_peak{};             // memory per task is that of a sample's peak, not of its end
  std::string measured{};         // what our side is called in the table, if not by its kind
};

// What was asked for, for the JSON.
struct parameter {
  std::string key;
  std::uint64_t value{};
};

// What was found besides times.
struct finding {
  std::string text{};
  std::vector<parameter> figures{};  // for the JSON
  bool is_good{true};
};

// How many connections a load opens at once, and for how many tasks; for none, if they observe.
struct extent {
  std::size_t connections{};
  std::uint32_t tasks{};
};

// A workload with its options.
struct plan {
  vocabulary words{};
  std::vector<parameter> parameters{};
  std::uint64_t steps{1};  // so many, that a sample lasts about half a second to two seconds
  extent ours{};
  extent others{};
  core::config job{};          // what the coordinator is started with
  bool uses_up_servers{};      // each sample needs new servers and loads
  bool joins_first{true};      // all tasks join when the load connects, and stay
  bool connects_in_samples{};  // its load does, and not only before
  // The job, or what is asked, is meant to fail, so that the coordinator's warnings are none.
  bool ends_in_failure{};
  std::size_t floor_answers_together{1};  // so many requests
  std::function<std::unique_ptr<load>(side_kind, address, extent)> make_load{};
  // The same work with fewer tasks, if memory for each task is to be measured by comparing both.
  std::function<plan()> smaller{};
  // What the load of our side has seen; see load::conclude.
  std::function<finding(std::string_view seen)> conclude{};
  // How much of what they were told both coordinators keep, so that it can be compared.
  std::optional<std::size_t> record_bytes_max{};
  std::function<finding(std::string_view ours, std::string_view others)> compare{};

  [[nodiscard]] extent const& of(side_kind kind) const {
    return kind == side_kind::coxswain ? ours : others;
  }
};

struct workload {
  std::string name;
  std::string help;
  std::function<void(CLI::App&)> add_options{};
  std::function<bench::plan()> make{};  // looks at what was given; throws bench_error (usage)
  std::vector<side_kind> rivals{};      // the servers of others that can do this work
  bool has_floor{true};                 // there is something that the floor could do as well
  bool uses_up_servers{};               // as its plan then says, too
  // What it is compared with in any case; none: with what the user asks for, or nothing.
  std::optional<side_kind> always_beside{};
};

// A workload with options of its own.
template <class Options>
workload described(std::string name, std::string help, void (*add)(CLI::App&, Options&),
                   plan (*make)(Options const&), std::vector<side_kind> rivals = {}) {
  auto const given = std::make_shared<Options>();
  return {std::move(name), std::move(help), [=](CLI::App& to) { add(to, *given); },
          [=] { return make(*given); }, std::move(rivals)};
}

// An option that is a number between two others.
template <class Number>
CLI::Option* add_number(CLI::App& to, std::string const& name, Number& value,
                        std::type_identity_t<Number> low, std::type_identity_t<Number> high,
                        std::string const& help) {
  return to.add_option(name, value, help)->check(CLI::Range(low, high))->capture_default_str();
}

// All workloads, in the order of the help.
[[nodiscard]] std::vector<workload> all_workloads();

// The peer for a side's server; the coordinator's job is to have so many tasks. With a rival: how
// it is used.
[[nodiscard]] std::unique_ptr<peer> make_peer(side_kind kind, std::uint32_t tasks,
                                              rival_plan const& rival = {});

}  // namespace coxswain::bench
