#pragma once
// A kind of work for a server, each in its own file: the load's part of one sample. Not here: its
// options, its server and the names of its figures (driver/workloads.py).

#include "bench_error.hpp"
#include "load/address.hpp"
#include "load/connections.hpp"
#include "load/peer.hpp"
#include "load/tally.hpp"

#include "coxswain/base/time.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value_to.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace coxswain::bench {

enum class side_kind { baseline, coxswain, xla, redis };

// The number of connections that a load opens at once, and of tasks; none for observers.
struct extent {
  std::size_t connections{};
  std::uint32_t tasks{};
};

// The options of a load.
struct load_plan {
  // As written by driver/experiment.py. Throws bench_error, and Boost.JSON's exceptions.
  explicit load_plan(boost::json::object given);

  // An option of the workload.
  template <class Value>
  [[nodiscard]] Value get(std::string_view option) const {
    return boost::json::value_to<Value>(options.at(option));
  }

  side_kind kind;
  address server;
  extent size;
  boost::json::object options;
};

// The client side of a workload against one server, in its own process. All functions throw
// bench_error.
class load {
 public:
  virtual ~load() = default;

  // Everything before the clock starts. `progress` gets the number of connections.
  virtual void connect(std::function<void(std::uint64_t)> const& /*progress*/) {}

  virtual tally measure(std::uint64_t steps) = 0;

  // Sends heartbeats for all; call it after the load was idle for `beat_period`, which is zero if
  // the server needs none.
  virtual void beat() {}
  [[nodiscard]] virtual duration beat_period() const noexcept { return {}; }

  // Leaves the job cleanly, unless the server ends with its only sample.
  virtual void finish() {}
};

// Throws bench_error if there is no such workload.
[[nodiscard]] std::unique_ptr<load> make_load(std::string_view workload, load_plan const& plan);

// The workloads, each in a file of its name or with a similar one.
[[nodiscard]] std::unique_ptr<load> make_barrier(load_plan const& plan);
[[nodiscard]] std::unique_ptr<load> make_join(load_plan const& plan);
[[nodiscard]] std::unique_ptr<load> make_keys(load_plan const& plan);
[[nodiscard]] std::unique_ptr<load> make_fan_out(load_plan const& plan);
[[nodiscard]] std::unique_ptr<load> make_heartbeat(load_plan const& plan);
[[nodiscard]] std::unique_ptr<load> make_failure(load_plan const& plan);

// The peer for the plan's server. For Redis, also how it is used.
[[nodiscard]] std::unique_ptr<peer> make_peer(load_plan const& plan, redis_plan const& redis = {});

}  // namespace coxswain::bench
