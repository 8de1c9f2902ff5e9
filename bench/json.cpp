// The report as JSON for programs; times in nanoseconds.

#include "report.hpp"

#include <fmt/format.h>

#include <string_view>

namespace coxswain::bench {
namespace {

// One JSON object, written in order.
class json_object {
 public:
  void add(std::string_view key, double value) { add_raw(key, fmt::format("{:.6g}", value)); }
  void add(std::string_view key, std::uint64_t value) { add_raw(key, fmt::format("{}", value)); }
  void add(std::string_view key, std::optional<double> value) {
    if (value) add(key, *value);
  }
  void add(std::string_view key, std::string_view value) {
    add_raw(key, fmt::format("\"{}\"", value));  // our own words only: nothing to escape
  }
  void add(std::string_view key, std::vector<double> const& values) {
    std::string list;
    for (auto const v : values) list += fmt::format("{}{:.6g}", list.empty() ? "" : ", ", v);
    add_raw(key, "[" + list + "]");
  }
  void add(std::string_view key, json_object const& inner) { add_raw(key, inner.text()); }
  [[nodiscard]] std::string text() const { return "{" + members_ + "}"; }

 private:
  void add_raw(std::string_view key, std::string_view value) {
    members_ += fmt::format("{}\"{}\": {}", members_.empty() ? "" : ", ", key, value);
  }
  std::string members_;
};

json_object to_object(summary const& s) {
  json_object o;
  o.add("count", std::uint64_t{s.count});
  o.add("p50", s.p50);
  o.add("p99", s.p99);
  o.add("p99_9", s.p999);
  o.add("max", s.max);
  return o;
}

json_object to_object(side_result const& side, vocabulary const& words) {
  json_object o;
  for (std::size_t place = 0; place < words.latencies.size(); ++place) {
    o.add(words.latencies[place].key, to_object(side.latency(place).summarise()));
  }
  o.add("operations", side.operations());
  o.add("rate_per_s", side.rate());
  o.add("server_cpu_ns_per_" + words.operation.key, side.server_cpu_ns());
  o.add("load_cpu_ns_per_" + words.operation.key, side.load_cpu_ns());
  o.add("server_share", side.server_share());
  o.add("load_share", side.load_share());
  o.add("server_bytes", side.server_bytes());
  o.add("server_growth_bytes", side.server_growth_bytes());
  o.add("server_bytes_per_task", side.server_bytes_per_task(words.counts_peak));
  for (std::size_t place = 0; place < words.parts.size(); ++place) {
    json_object part;
    part.add("time_ns", side.part_ns(place, &tally::part::elapsed));
    part.add("server_cpu_ns", side.part_ns(place, &tally::part::server_cpu));
    o.add(words.parts[place].key, part);
  }
  return o;
}

void add_ratio(json_object& o, std::string const& name, std::vector<double> const& pairs) {
  if (pairs.empty()) return;
  auto const r = comparison::of(pairs);
  o.add(name + "_ratio", r.median);
  o.add(name + "_ratio_low", r.sure.low);
  o.add(name + "_ratio_high", r.sure.high);
  o.add(name + "_ratio_coverage", r.sure.coverage);
  o.add(name + "_ratio_pairs", pairs);
}

}  // namespace

std::string to_json(report const& r) {
  json_object o;
  o.add("workload", std::string_view{r.words.name});
  for (auto const& p : r.parameters) o.add(p.key, p.value);
  o.add("measured", std::string_view{r.measured});
  o.add("transport", std::string_view{r.transport});
  if (r.floor) o.add("pairs", std::uint64_t{r.ours.samples.size()});
  o.add(r.words.steps + "_per_sample", r.steps_per_sample);
  add_ratio(o, "p50", r.pairs.p50);
  if (r.words.has_rate) add_ratio(o, "rate", r.pairs.rate);
  add_ratio(o, "server_cpu", r.pairs.server_cpu);
  for (std::size_t place = 0; place < r.pairs.part_time.size(); ++place) {
    add_ratio(o, r.words.parts[place].key + "_time", r.pairs.part_time[place]);
    add_ratio(o, r.words.parts[place].key + "_server_cpu", r.pairs.part_cpu[place]);
  }
  o.add("coxswain", to_object(r.ours, r.words));
  if (r.floor) o.add(r.beside, to_object(*r.floor, r.words));
  if (r.requests) {
    for (auto const& f : r.requests->figures) o.add(f.key, f.value);
  }
  json_object busy;
  busy.add("others", r.disturbed.others);
  busy.add("stolen", r.disturbed.stolen);
  busy.add("waiting", r.disturbed.waiting);
  o.add("disturbed", busy);
  return o.text() + "\n";
}

}  // namespace coxswain::bench
