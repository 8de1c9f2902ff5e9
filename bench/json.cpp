// The report as JSON for programs; times in nanoseconds.

#include "json.hpp"

namespace coxswain::bench {
namespace {

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

json_object to_object(disturbance const& d) {
  json_object o;
  o.add("others", d.others);
  o.add("stolen", d.stolen);
  o.add("waiting", d.waiting);
  o.add_flag("is_too_much", d.is_too_much());
  return o;
}

void add_ratios(json_object& o, vocabulary const& words, comparison const& pairs) {
  add_ratio(o, "p50", pairs.p50);
  if (words.has_rate) add_ratio(o, "rate", pairs.rate);
  add_ratio(o, "server_cpu", pairs.server_cpu);
  for (std::size_t place = 0; place < pairs.part_time.size(); ++place) {
    add_ratio(o, words.parts[place].key + "_time", pairs.part_time[place]);
    add_ratio(o, words.parts[place].key + "_server_cpu", pairs.part_cpu[place]);
  }
}

void add_origin(json_object& o, origin const& from) {
  o.add("machine", std::string_view{from.machine});
  o.add("program", std::string_view{from.program});
  o.add("day", std::string_view{from.day});
}

std::string to_json(report const& r) {
  json_object o;
  o.add("workload", std::string_view{r.words.name});
  for (auto const& p : r.parameters) o.add(p.key, p.value);
  add_origin(o, r.measured_on);
  o.add("measured", std::string_view{r.measured});
  o.add("transport", std::string_view{r.transport});
  if (r.floor) o.add("floor_transport", std::string_view{r.floor_transport});
  if (r.floor) o.add("pairs", std::uint64_t{r.ours.samples.size()});
  o.add(r.words.steps + "_per_sample", r.steps_per_sample);
  add_ratios(o, r.words, r.pairs);
  o.add("coxswain", to_object(r.ours, r.words));
  if (r.floor) o.add(r.beside, to_object(*r.floor, r.words));
  if (r.shown) {
    for (auto const& f : r.shown->figures) o.add(f.key, f.value);
  }
  o.add("disturbed", to_object(r.disturbed));
  return o.text() + "\n";
}

}  // namespace coxswain::bench
