#pragma once
// What a run found, for people (a table) and for programs (JSON). Not here: how it was measured.

#include "side.hpp"
#include "statistics.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::bench {

// All samples of one side.
struct side_result {
  std::vector<sample> samples;

  [[nodiscard]] summary release_ns() const;
  [[nodiscard]] summary round_ns() const;
  // Of a task in one barrier, over all samples; none if the server's process is not known.
  [[nodiscard]] std::optional<double> server_cpu_ns(std::uint32_t tasks) const;
  [[nodiscard]] double load_cpu_ns(std::uint32_t tasks) const;
};

// Of pair after pair, Coxswain's figure by the floor's.
struct ratio {
  double median{};
  interval sure;
};

struct comparison {
  std::vector<double> p50;
  std::vector<double> server_cpu;  // empty if the server's process is not known

  [[nodiscard]] static ratio of(std::vector<double> const& pairs);
};

// What disturbed the measurement, as shares of the machine's or the processes' time (0 to 1).
struct disturbance {
  double others{};   // CPU used by processes that are not ours
  double stolen{};   // CPU taken by the hypervisor
  double waiting{};  // our processes ready, but without a CPU

  [[nodiscard]] bool is_too_much() const;
};

struct barrier_report {
  std::uint32_t tasks{};
  std::string transport;
  std::uint64_t rounds_per_sample{};
  cpu_plan cpus;
  std::string measured;  // the name of what was measured: "coxswain"
  side_result coxswain;
  std::optional<side_result> floor;
  comparison pairs;  // with the floor
  disturbance disturbed;
};

[[nodiscard]] std::string to_table(barrier_report const& report);
[[nodiscard]] std::string to_json(barrier_report const& report);

}  // namespace coxswain::bench
