#include "report.hpp"

#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace coxswain::bench {
namespace {

constexpr double confidence = 0.95;

double ratio_of(double ours, double floors) { return floors > 0 ? ours / floors : 0; }

double as_double(duration d) { return static_cast<double>(d.count()); }

double rate_of(sample const& s) {
  auto const seconds = std::chrono::duration<double>{s.found.elapsed}.count();
  return ratio_of(static_cast<double>(s.found.operations), seconds);
}

double p50_of(sample const& s) {
  return s.found.latencies.empty() ? 0 : s.found.latencies.front().percentile(0.5);
}

// Per operation: samples of one side may be of different lengths.
std::optional<double> cpu_of(sample const& s) {
  if (!s.server_cpu) return std::nullopt;
  return ratio_of(as_double(*s.server_cpu), static_cast<double>(s.found.operations));
}

// The median of what the samples have; none if one of them does not have it.
template <class Figure>
std::optional<double> median_of(std::vector<sample> const& samples, Figure const& figure) {
  std::vector<double> all;
  for (auto const& s : samples) {
    if (!s.server_before || !s.server_after) return std::nullopt;
    all.push_back(figure(s));
  }
  if (all.empty()) return std::nullopt;
  return median(std::move(all));
}

double bytes_after(sample const& s) { return static_cast<double>(s.server_after->now_bytes); }

double peak_bytes(sample const& s) {
  return static_cast<double>(std::max(s.server_after->peak_bytes, s.server_after->now_bytes));
}

double bytes_added_at_peak(sample const& s) {
  return std::max(0.0, peak_bytes(s) - static_cast<double>(s.server_before->now_bytes));
}

// Of the whole server.
double bytes_used(sample const& s) {
  return bytes_after(s) - static_cast<double>(s.server_first_bytes);
}

double bytes_used_at_peak(sample const& s) {
  return peak_bytes(s) - static_cast<double>(s.server_first_bytes);
}

// For each part the ratio of a pair.
void add_ratios(std::vector<std::vector<double>>& to, duration tally::part::*what,
                sample const& ours, sample const& floor) {
  auto const parts = std::min(ours.found.parts.size(), floor.found.parts.size());
  to.resize(parts);
  for (std::size_t place = 0; place < parts; ++place) {
    to[place].push_back(ratio_of(as_double(ours.found.parts[place].*what),
                                 as_double(floor.found.parts[place].*what)));
  }
}

}  // namespace

histogram side_result::latency(std::size_t place) const {
  histogram all;
  for (auto const& s : samples) {
    if (place < s.found.latencies.size()) all.add(s.found.latencies[place]);
  }
  return all;
}

std::uint64_t side_result::operations() const {
  std::uint64_t sum = 0;
  for (auto const& s : samples) sum += s.found.operations;
  return sum;
}

double side_result::rate() const {
  duration elapsed{};
  for (auto const& s : samples) elapsed += s.found.elapsed;
  return ratio_of(static_cast<double>(operations()),
                  std::chrono::duration<double>{elapsed}.count());
}

std::optional<double> side_result::server_cpu_ns() const {
  duration sum{};
  for (auto const& s : samples) {
    if (!s.server_cpu) return std::nullopt;
    sum += *s.server_cpu;
  }
  return ratio_of(as_double(sum), static_cast<double>(operations()));
}

double side_result::load_cpu_ns() const {
  duration sum{};
  for (auto const& s : samples) sum += s.load_cpu;
  return ratio_of(as_double(sum), static_cast<double>(operations()));
}

std::optional<double> side_result::server_share() const {
  auto const cpu = server_cpu_ns();
  if (!cpu) return std::nullopt;
  return *cpu * rate() / 1e9;
}

double side_result::load_share() const {
  duration busy{};
  duration elapsed{};
  for (auto const& s : samples) {
    busy += s.found.busy;
    elapsed += s.found.elapsed;
  }
  return ratio_of(as_double(busy), as_double(elapsed));
}

std::optional<double> side_result::server_bytes() const { return median_of(samples, bytes_after); }

std::optional<double> side_result::server_growth_bytes() const {
  return median_of(samples, bytes_added_at_peak);
}

std::optional<double> side_result::server_bytes_per_task(bool at_peak) const {
  if (smaller.empty() || samples.empty()) return connected_bytes_per_task;
  auto const bytes = at_peak ? bytes_used_at_peak : bytes_used;
  auto const with_all = median_of(samples, bytes);
  auto const with_fewer = median_of(smaller, bytes);
  if (!with_all || !with_fewer) return std::nullopt;
  auto const tasks = static_cast<double>(samples.front().found.operations);
  auto const fewer = static_cast<double>(smaller.front().found.operations);
  if (tasks <= fewer) return std::nullopt;
  return (*with_all - *with_fewer) / (tasks - fewer);
}

double side_result::part_ns(std::size_t place, duration tally::part::*what) const {
  std::vector<double> all;
  for (auto const& s : samples) {
    if (place < s.found.parts.size()) all.push_back(as_double(s.found.parts[place].*what));
  }
  return median(std::move(all));
}

void comparison::add(sample const& ours, sample const& floor) {
  p50.push_back(ratio_of(p50_of(ours), p50_of(floor)));
  rate.push_back(ratio_of(rate_of(ours), rate_of(floor)));
  auto const our_cpu = cpu_of(ours);
  auto const floor_cpu = cpu_of(floor);
  if (our_cpu && floor_cpu) server_cpu.push_back(ratio_of(*our_cpu, *floor_cpu));
  add_ratios(part_time, &tally::part::elapsed, ours, floor);
  add_ratios(part_cpu, &tally::part::server_cpu, ours, floor);
}

ratio comparison::of(std::vector<double> const& pairs) {
  return {bench::median(pairs), median_interval(pairs, confidence)};
}

std::string report::circumstances() const {
  auto const step = words.steps.substr(0, words.steps.size() - 1);  // the singular
  auto const over = transport == "unix" ? "Unix sockets" : transport == "tls" ? "TLS" : "TCP";
  auto text = std::string{over};
  if (floor && floor_transport != transport) text += fmt::format(" (the {}: TCP)", beside);
  text += fmt::format(", {}", counted(steps_per_sample * ours.samples.size(), step));
  if (floor) {
    text +=
        fmt::format(" a side in {} of samples, interleaved", counted(ours.samples.size(), "pair"));
  }
  if (cpus.server) {
    text += fmt::format("; servers on CPU {}, load on CPU {}", *cpus.server, *cpus.load);
  } else {
    text += "; one CPU for all";
  }
  return text;
}

std::string report::in_short() const {
  auto text = fmt::format(": latency {:.3f} x {}", median(pairs.p50), beside);
  if (words.has_rate) text += fmt::format(", rate {:.3f} x", median(pairs.rate));
  if (!pairs.server_cpu.empty()) {
    text += fmt::format(", server CPU {:.3f} x", median(pairs.server_cpu));
  }
  return text;
}

}  // namespace coxswain::bench
