#pragma once
// What a run found, and how it is told: as a table for people, and as JSON, with times in
// nanoseconds. Not here: how it was measured (experiment).

#include "report/figures.hpp"
#include "servers/side.hpp"
#include "servers/stage.hpp"
#include "workloads/workload.hpp"

#include <boost/json/object.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::bench {

namespace json = boost::json;

// What a command found, in the forms in which it is told.
struct findings {
  std::string table;
  json::object document;
  bool is_good{true};  // what was to be as expected, is
};

// All samples of one side.
struct side_result {
  std::vector<sample> samples{};
  std::vector<sample> smaller{};  // of the same work with fewer tasks
  // By how much the server grew while its tasks connected and joined, for each; none if they do so
  // in the samples.
  std::optional<double> connected_bytes_per_task{};

  // The latency with this place in the workload's words, of all samples.
  [[nodiscard]] histogram latency(std::size_t place) const;
  // What one more task costs the server: the slope if it was measured with fewer, too, at the peak
  // of a sample or after it; else what all cost when they connected, if they did.
  [[nodiscard]] std::optional<double> server_bytes_per_task(bool at_peak) const;
};

// One figure of a sample, of which some are divided by others.
using quantity = std::optional<double> (*)(sample const&);
[[nodiscard]] std::optional<double> operations(sample const& s);
[[nodiscard]] std::optional<double> elapsed(sample const& s);
[[nodiscard]] std::optional<double> busy(sample const& s);
[[nodiscard]] std::optional<double> server_cpu(sample const& s);  // none: its process is not known

// The sum of the one by that of the other: none if a sample does not have it.
[[nodiscard]] std::optional<double> quotient(std::span<sample const> of, quantity above,
                                             quantity below);

// Of pair after pair, Coxswain's figure by the floor's.
struct comparison {
  std::vector<double> p50{};
  std::vector<double> server_cpu{};  // empty if the server's process is not known
  std::vector<double> rate{};
  std::vector<std::vector<double>> part_time{};  // by part
  std::vector<std::vector<double>> part_cpu{};

  void add(sample const& ours, sample const& floor);
  void add_to(json::object& o, vocabulary const& words) const;
};

// Takes a sample of both, ours first every other time, so that what drifts meets both alike.
template <class Measure>
void measure_pair(std::uint32_t number, side_result& ours, side_result& other, comparison& pairs,
                  Measure const& measure) {
  bool const is_other_first = number % 2 == 0;
  auto first = measure(!is_other_first);
  auto second = measure(is_other_first);
  if (is_other_first) std::swap(first, second);
  pairs.add(first, second);
  ours.samples.push_back(std::move(first));
  other.samples.push_back(std::move(second));
}

// A figure of a side: a line of the table and a member of the JSON.
struct figure {
  std::string heading{};  // a line above it; empty: none
  std::string text{};     // empty: it is in the JSON only
  std::string key{};      // "release_ns.p50"
  std::function<std::optional<double>(side_result const&)> of{};
  std::string (*say)(double){};
  std::vector<double> const* pairs{};  // of our side and the other one
  bool may_lack{};                     // no line if our side does not have it
};

// All figures of a workload, in the order of the table. `pairs` outlives them.
[[nodiscard]] std::vector<figure> figures_of(vocabulary const& words, comparison const& pairs,
                                             side_result const& ours);
[[nodiscard]] json::object to_json(std::vector<figure> const& all, side_result const& of);

[[nodiscard]] json::value to_json(double value);  // six digits; null if JSON has no such number
[[nodiscard]] json::array to_json(std::vector<double> const& values);

// "1.078  [1.061, 1.094]": the median and its interval; "unknown" if there are none.
[[nodiscard]] std::string ratio_text(std::vector<double> const& pairs);
[[nodiscard]] std::string share_text(double share);
[[nodiscard]] std::string or_unknown(std::optional<double> value, std::string (*text)(double));

// "<what>  <other>  <ours>  <compared>", where the other side is left out if there is none.
[[nodiscard]] std::string table_line(std::string_view what, std::optional<std::string> const& other,
                                     std::string_view ours, std::string_view compared = {});

struct report {
  vocabulary words{};
  std::vector<parameter> parameters{};
  std::string floor_transport{};  // never TLS
  std::uint64_t steps_per_sample{};
  std::string measured{};  // the name of what was measured: "coxswain"
  side_result ours{};
  std::string beside{};  // what stands in the floor's place: "floor", "redis"
  std::optional<side_result> floor{};
  comparison pairs{};              // with the floor
  std::optional<finding> shown{};  // besides times, if there is something
  circumstances seen{};

  // So far: "latency 1.072 x floor, server CPU 1.310 x".
  [[nodiscard]] std::string in_short() const;
  [[nodiscard]] findings told() const;
};

}  // namespace coxswain::bench
