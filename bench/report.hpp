#pragma once
// What a run found. Not here: how it was measured (experiment), and how it is told (table, json).

#include "disturbance.hpp"
#include "histogram.hpp"
#include "origin.hpp"
#include "side.hpp"
#include "statistics.hpp"
#include "workload.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::bench {

// All samples of one side.
struct side_result {
  std::vector<sample> samples;
  std::vector<sample> smaller;  // of the same work with fewer tasks
  // By how much the server grew while its tasks connected and joined, for each; none if they do so
  // in the samples.
  std::optional<double> connected_bytes_per_task;

  // The latency with this place in the workload's words, of all samples.
  [[nodiscard]] histogram latency(std::size_t place) const;
  [[nodiscard]] std::uint64_t operations() const;
  [[nodiscard]] double rate() const;  // operations in a second
  // Of one operation; none if the server's process is not known.
  [[nodiscard]] std::optional<double> server_cpu_ns() const;
  [[nodiscard]] double load_cpu_ns() const;
  // Their CPU time while the clock ran, as a share of that time.
  [[nodiscard]] std::optional<double> server_share() const;
  [[nodiscard]] double load_share() const;
  // The server's memory after the samples, and by how much it was more during one than before it.
  [[nodiscard]] std::optional<double> server_bytes() const;
  [[nodiscard]] std::optional<double> server_growth_bytes() const;
  // What one more task costs the server: the slope if it was measured with fewer, too, at the peak
  // of a sample or after it; else what all cost when they connected, if they did.
  [[nodiscard]] std::optional<double> server_bytes_per_task(bool at_peak) const;
  // The median of a part of all samples.
  [[nodiscard]] double part_ns(std::size_t place, duration tally::part::*what) const;
};

// Of pair after pair, Coxswain's figure by the floor's.
struct ratio {
  double median{};
  interval sure;
};

struct comparison {
  std::vector<double> p50;
  std::vector<double> server_cpu;  // empty if the server's process is not known
  std::vector<double> rate;
  std::vector<std::vector<double>> part_time;  // by part
  std::vector<std::vector<double>> part_cpu;

  void add(sample const& ours, sample const& floor);
  [[nodiscard]] static ratio of(std::vector<double> const& pairs);
};

struct report {
  vocabulary words;
  std::vector<parameter> parameters;
  std::string transport;
  std::string floor_transport;  // never TLS
  std::uint64_t steps_per_sample{};
  cpu_plan cpus;
  std::string measured;  // the name of what was measured: "coxswain"
  side_result ours;
  std::string beside;  // what stands in the floor's place: "floor", "redis"
  std::optional<side_result> floor;
  comparison pairs;              // with the floor
  std::optional<finding> shown;  // besides times, if there is something
  disturbance disturbed;
  origin measured_on;

  // "TCP, 300 rounds a side in 15 pairs of samples, interleaved; servers on CPU 0, load on CPU 1".
  [[nodiscard]] std::string circumstances() const;
  // So far: "latency 1.072 x floor, server CPU 1.310 x".
  [[nodiscard]] std::string in_short() const;
};

[[nodiscard]] std::string to_table(report const& r);
[[nodiscard]] std::string to_json(report const& r);

}  // namespace coxswain::bench
