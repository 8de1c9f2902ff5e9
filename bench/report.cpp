#include "report.hpp"

#include <fmt/format.h>

#include <string_view>

namespace coxswain::bench {
namespace {

constexpr double confidence = 0.95;
constexpr std::size_t pairs_enough = 15;

// "850 ns", "9.12 us", "14.3 ms", "1.85 s": three figures.
std::string time_text(double ns) {
  auto const [value, unit] = ns < 1e3   ? std::pair{ns, "ns"}
                             : ns < 1e6 ? std::pair{ns / 1e3, "us"}
                             : ns < 1e9 ? std::pair{ns / 1e6, "ms"}
                                        : std::pair{ns / 1e9, "s"};
  auto const decimals = value < 10 ? 2 : value < 100 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, unit);
}

std::string grouped(std::uint64_t n) {
  auto text = std::to_string(n);
  for (auto i = static_cast<std::ptrdiff_t>(text.size()) - 3; i > 0; i -= 3) {
    text.insert(static_cast<std::size_t>(i), 1, ',');
  }
  return text;
}

std::string ratio_text(std::vector<double> const& pairs) {
  if (pairs.empty()) return {};
  auto const r = comparison::of(pairs);
  return fmt::format("{:.3f}  [{:.3f}, {:.3f}]", r.median, r.sure.low, r.sure.high);
}

// A line of the table; without the floor it has one figure only.
class table {
 public:
  table(bool with_floor, std::string_view measured) : with_floor_{with_floor} {
    line("", "floor", measured, "ratio  [95 % interval]");
  }
  void line(std::string_view what, std::string_view floor, std::string_view ours,
            std::string_view compared) {
    auto added = fmt::format("{:<30}", what);
    if (with_floor_) added += fmt::format("{:>11}", floor);
    added += fmt::format("{:>11}", ours);
    if (with_floor_) added += fmt::format("   {}", compared);
    added.erase(added.find_last_not_of(' ') + 1);
    text_ += added + '\n';
  }
  [[nodiscard]] std::string const& text() const { return text_; }

 private:
  bool with_floor_;
  std::string text_;
};

void add_times(table& t, std::string_view what, summary const* floor, summary const& ours,
               std::vector<double> const& pairs) {
  auto const of_floor = [floor](double summary::*figure) {
    return floor == nullptr ? std::string{} : time_text(floor->*figure);
  };
  t.line(what, "", "", "");
  t.line("  p50", of_floor(&summary::p50), time_text(ours.p50), ratio_text(pairs));
  t.line("  p99", of_floor(&summary::p99), time_text(ours.p99), "");
  t.line("  max", of_floor(&summary::max), time_text(ours.max), "");
}

std::string title(barrier_report const& r) {
  auto const rounds = r.coxswain.release_ns().count;
  auto text = fmt::format("barrier over {} tasks, {}, {} rounds", grouped(r.tasks), r.transport,
                          grouped(rounds));
  if (r.floor) {
    text += fmt::format(" a side in {} interleaved pairs of samples", r.coxswain.samples.size());
  }
  if (r.cpus.server) {
    text += fmt::format("; servers on CPU {}, load on CPU {}", *r.cpus.server, *r.cpus.load);
  } else {
    text += "; one CPU for all";
  }
  return text + "\n\n";
}

std::string notes(barrier_report const& r) {
  std::string text;
  if (r.floor && r.coxswain.samples.size() < pairs_enough) {
    auto const few = r.coxswain.samples.size();
    auto const sure = comparison::of(r.pairs.p50).sure.coverage;
    text +=
        fmt::format("note: {} pairs are few: the intervals hold with {:.0f} %. Take {} or more.\n",
                    few, 100 * sure, pairs_enough);
  }
  if (r.disturbed.is_too_much()) {
    text += fmt::format(
        "WARNING: the machine was busy: other processes used {:.0f} % of its CPUs, the hypervisor "
        "took {:.0f} %,\nand ours waited for a CPU {:.0f} % of their time. Only the ratios are "
        "worth "
        "something; repeat when it is quiet.\n",
        100 * r.disturbed.others, 100 * r.disturbed.stolen, 100 * r.disturbed.waiting);
  }
  return text.empty() ? text : "\n" + text;
}

// One JSON object, written in order.
class json_object {
 public:
  void add(std::string_view key, double value) { add_raw(key, fmt::format("{:.6g}", value)); }
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
  o.add("p50", s.p50);
  o.add("p99", s.p99);
  o.add("max", s.max);
  return o;
}

json_object to_object(side_result const& side, std::uint32_t tasks) {
  json_object o;
  o.add("rounds", static_cast<double>(side.release_ns().count));
  o.add("release_ns", to_object(side.release_ns()));
  o.add("round_ns", to_object(side.round_ns()));
  if (auto const cpu = side.server_cpu_ns(tasks)) o.add("server_cpu_ns_per_task", *cpu);
  o.add("load_cpu_ns_per_task", side.load_cpu_ns(tasks));
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

summary summary_of(std::vector<sample> const& samples, std::int64_t round_time::*figure) {
  std::vector<double> values;
  for (auto const& s : samples) {
    for (auto const& r : s.rounds) values.push_back(static_cast<double>(r.*figure));
  }
  return summarise(std::move(values));
}

// A sum over all samples, for a task in one barrier.
double per_task(std::vector<sample> const& samples, duration sum, std::uint32_t tasks) {
  std::size_t rounds = 0;
  for (auto const& s : samples) rounds += s.rounds.size();
  if (rounds == 0) return 0;
  return static_cast<double>(sum.count()) / static_cast<double>(rounds) / tasks;
}

}  // namespace

summary side_result::release_ns() const { return summary_of(samples, &round_time::release_ns); }
summary side_result::round_ns() const { return summary_of(samples, &round_time::round_ns); }

std::optional<double> side_result::server_cpu_ns(std::uint32_t tasks) const {
  duration sum{};
  for (auto const& s : samples) {
    if (!s.server_cpu) return std::nullopt;
    sum += *s.server_cpu;
  }
  return per_task(samples, sum, tasks);
}

double side_result::load_cpu_ns(std::uint32_t tasks) const {
  duration sum{};
  for (auto const& s : samples) sum += s.load_cpu;
  return per_task(samples, sum, tasks);
}

ratio comparison::of(std::vector<double> const& pairs) {
  return {bench::median(pairs), median_interval(pairs, confidence)};
}

bool disturbance::is_too_much() const { return others > 0.03 || stolen > 0.02 || waiting > 0.03; }

std::string to_table(barrier_report const& r) {
  auto const floor_release = r.floor ? r.floor->release_ns() : summary{};
  auto const floor_round = r.floor ? r.floor->round_ns() : summary{};
  auto const cpu_text = [&r](side_result const& s) {
    auto const cpu = s.server_cpu_ns(r.tasks);
    return cpu ? time_text(*cpu) : std::string{"unknown"};
  };
  table t{r.floor.has_value(), r.measured};
  add_times(t, "last arrival to last release", r.floor ? &floor_release : nullptr,
            r.coxswain.release_ns(), r.pairs.p50);
  add_times(t, "whole round", r.floor ? &floor_round : nullptr, r.coxswain.round_ns(), {});
  t.line("CPU per task and barrier", "", "", "");
  t.line("  server", r.floor ? cpu_text(*r.floor) : "", cpu_text(r.coxswain),
         ratio_text(r.pairs.server_cpu));
  t.line("  load", r.floor ? time_text(r.floor->load_cpu_ns(r.tasks)) : "",
         time_text(r.coxswain.load_cpu_ns(r.tasks)), "");
  return title(r) + t.text() + notes(r);
}

std::string to_json(barrier_report const& r) {
  json_object o;
  o.add("workload", std::string_view{"barrier"});
  o.add("tasks", static_cast<double>(r.tasks));
  o.add("measured", std::string_view{r.measured});
  o.add("transport", std::string_view{r.transport});
  if (r.floor) o.add("pairs", static_cast<double>(r.coxswain.samples.size()));
  o.add("rounds_per_sample", static_cast<double>(r.rounds_per_sample));
  add_ratio(o, "p50", r.pairs.p50);
  add_ratio(o, "server_cpu", r.pairs.server_cpu);
  o.add("coxswain", to_object(r.coxswain, r.tasks));
  if (r.floor) o.add("floor", to_object(*r.floor, r.tasks));
  json_object busy;
  busy.add("others", r.disturbed.others);
  busy.add("stolen", r.disturbed.stolen);
  busy.add("waiting", r.disturbed.waiting);
  o.add("disturbed", busy);
  return o.text() + "\n";
}

}  // namespace coxswain::bench
