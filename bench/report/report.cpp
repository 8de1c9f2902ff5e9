#include "report/report.hpp"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace coxswain::bench {
namespace {

constexpr double confidence = 0.95;
constexpr std::size_t pairs_enough = 15;

// A load that works longer than this part of the time may be what limits the rate.
constexpr double load_share_enough = 0.9;

double ns(duration d) { return static_cast<double>(d.count()); }

double ratio_of(double ours, double floors) { return floors > 0 ? ours / floors : 0; }

std::optional<double> load_cpu(sample const& s) { return ns(s.load_cpu); }

double rate_of(std::span<sample const> of) {
  return quotient(of, operations, elapsed).value_or(0) * 1e9;
}

double p50_of(sample const& s) {
  return s.found.latencies.empty() ? 0 : s.found.latencies.front().percentile(0.5);
}

double bytes_after(sample const& s) { return static_cast<double>(s.server_after->now_bytes); }

double peak_bytes(sample const& s) {
  return static_cast<double>(std::max(s.server_after->peak_bytes, s.server_after->now_bytes));
}

double growth_bytes(sample const& s) {
  return std::max(0.0, peak_bytes(s) - static_cast<double>(s.server_before->now_bytes));
}

// Of the whole server.
double bytes_used(sample const& s) {
  return bytes_after(s) - static_cast<double>(s.server_first_bytes);
}

double bytes_used_at_peak(sample const& s) {
  return peak_bytes(s) - static_cast<double>(s.server_first_bytes);
}

// The median of what the samples have; none if one of them does not have it.
std::optional<double> median_of(std::vector<sample> const& samples,
                                double (*bytes)(sample const&)) {
  std::vector<double> all;
  for (auto const& s : samples) {
    if (!s.server_before || !s.server_after) return std::nullopt;
    all.push_back(bytes(s));
  }
  if (all.empty()) return std::nullopt;
  return median(std::move(all));
}

// For each part the ratio of a pair.
void add_ratios(std::vector<std::vector<double>>& to, duration tally::part::*what,
                sample const& ours, sample const& floor) {
  to.resize(std::min(ours.found.parts.size(), floor.found.parts.size()));
  for (std::size_t place = 0; place < to.size(); ++place) {
    to[place].push_back(
        ratio_of(ns(ours.found.parts[place].*what), ns(floor.found.parts[place].*what)));
  }
}

void add_ratio(json::object& o, std::string const& name, std::vector<double> const& pairs) {
  if (pairs.empty()) return;
  auto const sure = median_interval(pairs, confidence);
  o[name + "_ratio"] = to_json(median(pairs));
  o[name + "_ratio_low"] = to_json(sure.low);
  o[name + "_ratio_high"] = to_json(sure.high);
  o[name + "_ratio_coverage"] = to_json(sure.coverage);
  o[name + "_ratio_pairs"] = to_json(pairs);
}

void add_latency(std::vector<figure>& all, vocabulary::term const& term, std::size_t place,
                 std::vector<double> const* pairs) {
  auto const of = [place](auto summary::*what) {
    return [=](side_result const& s) -> std::optional<double> {
      return static_cast<double>(s.latency(place).summarise().*what);
    };
  };
  all.push_back({term.text, {}, term.key + ".count", of(&summary::count)});
  all.push_back({{}, "  p50", term.key + ".p50", of(&summary::p50), time_text, pairs});
  all.push_back({{}, "  p99", term.key + ".p99", of(&summary::p99), time_text});
  all.push_back({{}, "  p99.9", term.key + ".p99_9", of(&summary::p999), time_text});
  all.push_back({{}, "  max", term.key + ".max", of(&summary::max), time_text});
}

void add_parts(std::vector<figure>& all, vocabulary const& words, std::string heading,
               std::string const& key, duration tally::part::*what,
               std::vector<std::vector<double>> const& pairs) {
  for (std::size_t place = 0; place < words.parts.size(); ++place) {
    auto const median_ns = [=](side_result const& side) -> std::optional<double> {
      std::vector<double> found;
      for (auto const& s : side.samples) {
        if (place < s.found.parts.size()) found.push_back(ns(s.found.parts[place].*what));
      }
      return median(std::move(found));
    };
    all.push_back({std::exchange(heading, {}), "  " + words.parts[place].text,
                   words.parts[place].key + "." + key, median_ns, time_text,
                   place < pairs.size() ? &pairs[place] : nullptr});
  }
}

void add_memory(std::vector<figure>& all, vocabulary const& words, side_result const& ours) {
  auto const median_bytes = [](double (*bytes)(sample const&)) {
    return [=](side_result const& s) { return median_of(s.samples, bytes); };
  };
  bool const at_peak = words.counts_peak;
  auto const* const per_task = ours.smaller.empty() ? "  per task, when all have joined"
                               : at_peak            ? "  per task, at most"
                                                    : "  per idle task";
  all.push_back({"memory of the server", "  after a sample", "server_bytes",
                 median_bytes(bytes_after), bytes_text, nullptr, true});
  all.push_back({{},
                 "  growth during a sample",
                 "server_growth_bytes",
                 median_bytes(growth_bytes),
                 bytes_text,
                 nullptr,
                 true});
  all.push_back({{},
                 per_task,
                 "server_bytes_per_task",
                 [=](side_result const& s) { return s.server_bytes_per_task(at_peak); },
                 bytes_text,
                 nullptr,
                 true});
}

std::string busy_load(std::string_view name, side_result const& s) {
  auto const share = quotient(s.samples, busy, elapsed).value_or(0);
  if (share < load_share_enough) return {};
  return fmt::format(
      "note: the load on {} was busy {:.0f} % of the time: the server could do more, and its rate "
      "is at least this.\n",
      name, 100 * share);
}

std::string notes(report const& r) {
  std::string text;
  if (r.words.has_rate) text += busy_load(r.measured, r.ours);
  if (r.words.has_rate && r.floor) {
    text += busy_load(r.beside == "floor" ? "the floor" : r.beside, *r.floor);
  }
  if (r.floor && r.ours.samples.size() < pairs_enough) {
    text += fmt::format("note: so few pairs: the intervals hold with {:.0f} %. Take {} or more.\n",
                        100 * median_interval(r.pairs.p50, confidence).coverage, pairs_enough);
  }
  if (r.seen.disturbed.is_too_much()) text += r.seen.disturbed.warning() + "\n";
  return text.empty() ? text : "\n" + text;
}

// "TCP, 300 rounds a side in 15 pairs of samples, interleaved; servers on CPU 0, load on CPU 1".
std::string circumstances_of(report const& r) {
  auto text = r.seen.over();
  if (r.floor && r.floor_transport != r.seen.transport) {
    text += fmt::format(" (the {}: TCP)", r.beside);
  }
  auto const step = r.words.steps.substr(0, r.words.steps.size() - 1);  // the singular
  text += ", " + counted(r.steps_per_sample * r.ours.samples.size(), step);
  if (r.floor) {
    text += fmt::format(" a side in {} of samples, interleaved",
                        counted(r.ours.samples.size(), "pair"));
  }
  return text + "; " + r.seen.cpus.text();
}

std::string table_of(report const& r, std::vector<figure> const& all) {
  auto const other = [&r](auto const& text) {
    return r.floor ? std::optional<std::string>{text()} : std::nullopt;
  };
  auto text = r.words.title + ", " + circumstances_of(r) + "\n\n" +
              table_line({}, other([&] { return r.beside; }), r.measured, "ratio  [95 % interval]");
  for (auto const& f : all) {
    auto const ours = f.of(r.ours);
    if (f.may_lack && !ours) continue;
    if (!f.heading.empty()) text += table_line(f.heading, other([] { return ""; }), {});
    if (f.text.empty()) continue;
    text += table_line(f.text, other([&] { return or_unknown(f.of(*r.floor), f.say); }),
                       or_unknown(ours, f.say),
                       f.pairs && !f.pairs->empty() ? ratio_text(*f.pairs) : std::string{});
  }
  return text + (r.shown ? "\n" + r.shown->text : "") + notes(r);
}

}  // namespace

histogram side_result::latency(std::size_t place) const {
  histogram all;
  for (auto const& s : samples) {
    if (place < s.found.latencies.size()) all.add(s.found.latencies[place]);
  }
  return all;
}

std::optional<double> side_result::server_bytes_per_task(bool at_peak) const {
  if (smaller.empty() || samples.empty()) return connected_bytes_per_task;
  auto const bytes = at_peak ? bytes_used_at_peak : bytes_used;
  auto const with_all = median_of(samples, bytes);
  auto const with_fewer = median_of(smaller, bytes);
  auto const tasks = *operations(samples.front());
  auto const fewer = *operations(smaller.front());
  if (!with_all || !with_fewer || tasks <= fewer) return std::nullopt;
  return (*with_all - *with_fewer) / (tasks - fewer);
}

std::optional<double> operations(sample const& s) {
  return static_cast<double>(s.found.operations);
}
std::optional<double> elapsed(sample const& s) { return ns(s.found.elapsed); }
std::optional<double> busy(sample const& s) { return ns(s.found.busy); }
std::optional<double> server_cpu(sample const& s) {
  return s.server_cpu ? std::optional{ns(*s.server_cpu)} : std::nullopt;
}

std::optional<double> quotient(std::span<sample const> of, quantity above, quantity below) {
  double sum_above = 0;
  double sum_below = 0;
  for (auto const& s : of) {
    auto const a = above(s);
    auto const b = below(s);
    if (!a || !b) return std::nullopt;
    sum_above += *a;
    sum_below += *b;
  }
  return ratio_of(sum_above, sum_below);
}

void comparison::add(sample const& ours, sample const& floor) {
  p50.push_back(ratio_of(p50_of(ours), p50_of(floor)));
  rate.push_back(ratio_of(rate_of({&ours, 1}), rate_of({&floor, 1})));
  // Per operation: samples of one side may be of different lengths.
  auto const our_cpu = quotient({&ours, 1}, bench::server_cpu, operations);
  auto const floor_cpu = quotient({&floor, 1}, bench::server_cpu, operations);
  if (our_cpu && floor_cpu) server_cpu.push_back(ratio_of(*our_cpu, *floor_cpu));
  add_ratios(part_time, &tally::part::elapsed, ours, floor);
  add_ratios(part_cpu, &tally::part::server_cpu, ours, floor);
}

void comparison::add_to(json::object& o, vocabulary const& words) const {
  add_ratio(o, "p50", p50);
  if (words.has_rate) add_ratio(o, "rate", rate);
  add_ratio(o, "server_cpu", server_cpu);
  for (std::size_t place = 0; place < part_time.size(); ++place) {
    add_ratio(o, words.parts[place].key + "_time", part_time[place]);
    add_ratio(o, words.parts[place].key + "_server_cpu", part_cpu[place]);
  }
}

std::vector<figure> figures_of(vocabulary const& words, comparison const& pairs,
                               side_result const& ours) {
  auto const by = [](quantity above, quantity below, double factor = 1) {
    return [=](side_result const& s) {
      auto const found = quotient(s.samples, above, below);
      return found ? std::optional{*found * factor} : found;
    };
  };
  auto const all_operations = [](side_result const& s) -> std::optional<double> {
    double sum = 0;
    for (auto const& one : s.samples) sum += *operations(one);
    return sum;
  };
  std::vector<figure> all;
  for (std::size_t place = 0; place < words.latencies.size(); ++place) {
    add_latency(all, words.latencies[place], place, place == 0 ? &pairs.p50 : nullptr);
  }
  all.push_back({{}, {}, "operations", all_operations});
  all.push_back({{},
                 "rate",
                 "rate_per_s",
                 by(operations, elapsed, 1e9),
                 rate_text,
                 words.has_rate ? &pairs.rate : nullptr});
  add_parts(all, words, "time of each part (median)", "time_ns", &tally::part::elapsed,
            pairs.part_time);
  add_parts(all, words, "server CPU of each part (median)", "server_cpu_ns",
            &tally::part::server_cpu, pairs.part_cpu);
  auto const& operation = words.operation;
  all.push_back({"CPU per " + operation.text, "  server", "server_cpu_ns_per_" + operation.key,
                 by(server_cpu, operations), time_text, &pairs.server_cpu});
  all.push_back(
      {{}, "  load", "load_cpu_ns_per_" + operation.key, by(load_cpu, operations), time_text});
  all.push_back({"busy while the clock ran", "  server", "server_share", by(server_cpu, elapsed),
                 share_text});
  all.push_back({{}, "  load", "load_share", by(busy, elapsed), share_text});
  add_memory(all, words, ours);
  return all;
}

json::object to_json(std::vector<figure> const& all, side_result const& of) {
  json::object o;
  for (auto const& f : all) {
    auto const value = f.of(of);
    if (!value) continue;
    auto const dot = f.key.find('.');
    if (dot == std::string::npos) {
      o[f.key] = to_json(*value);
      continue;
    }
    auto& inner = o[f.key.substr(0, dot)];
    if (!inner.is_object()) inner.emplace_object();
    inner.get_object()[f.key.substr(dot + 1)] = to_json(*value);
  }
  return o;
}

json::value to_json(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (value == std::floor(value) && std::abs(value) < 1e15) return std::llround(value);
  return std::stod(fmt::format("{:.6g}", value));
}

json::array to_json(std::vector<double> const& values) {
  json::array all;
  for (auto const v : values) all.push_back(to_json(v));
  return all;
}

std::string ratio_text(std::vector<double> const& pairs) {
  if (pairs.empty()) return "unknown";
  auto const sure = median_interval(pairs, confidence);
  return fmt::format("{:.3f}  [{:.3f}, {:.3f}]", median(pairs), sure.low, sure.high);
}

std::string share_text(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string or_unknown(std::optional<double> value, std::string (*text)(double)) {
  return value ? text(*value) : "unknown";
}

std::string table_line(std::string_view what, std::optional<std::string> const& other,
                       std::string_view ours, std::string_view compared) {
  auto line = fmt::format("{:<34}", what);
  if (other) line += fmt::format("{:>13}", *other);
  line += fmt::format("{:>13}", ours);
  if (other) line += fmt::format("   {}", compared);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

std::string report::in_short() const {
  auto text = fmt::format(": latency {:.3f} x {}", median(pairs.p50), beside);
  if (words.has_rate) text += fmt::format(", rate {:.3f} x", median(pairs.rate));
  if (!pairs.server_cpu.empty()) {
    text += fmt::format(", server CPU {:.3f} x", median(pairs.server_cpu));
  }
  return text;
}

findings report::told() const {
  auto const all = figures_of(words, pairs, ours);
  json::object o{{"workload", words.name}};
  for (auto const& p : parameters) o[p.key] = p.value;
  seen.add_to(o);
  o["measured"] = measured;
  o["transport"] = seen.transport;
  if (floor) o["floor_transport"] = floor_transport;
  if (floor) o["pairs"] = ours.samples.size();
  o[words.steps + "_per_sample"] = steps_per_sample;
  pairs.add_to(o, words);
  o["coxswain"] = to_json(all, ours);
  if (floor) o[beside] = to_json(all, *floor);
  if (shown) {
    for (auto const& f : shown->figures) o[f.key] = f.value;
  }
  o["disturbed"] = seen.disturbed_json();
  return {table_of(*this, all), std::move(o), !shown || shown->is_good};
}

}  // namespace coxswain::bench
