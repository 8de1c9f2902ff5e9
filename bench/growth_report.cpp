#include "growth_report.hpp"

#include "chart.hpp"
#include "json.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

namespace coxswain::bench {
namespace {

using of_a_step = std::function<std::vector<point>(growth_step const&)>;
using of_a_side = std::vector<point> (growth_step::*)(side_result const&) const;

std::vector<point> all_of(growth_report const& r, of_a_step const& what) {
  std::vector<point> all;
  for (auto const& s : r.steps) {
    auto const some = what(s);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

std::vector<point> all_of_ours(growth_report const& r, of_a_side what) {
  return all_of(r, [what](growth_step const& s) { return (s.*what)(s.found); });
}

std::vector<point> all_of_floor(growth_report const& r, of_a_side what) {
  return all_of(r, [what](growth_step const& s) { return (s.*what)(*s.floor); });
}

bool has_floor(growth_report const& r) { return r.steps.front().floor.has_value(); }

std::vector<point> from_tasks(std::uint32_t tasks, std::vector<double> const& all) {
  std::vector<point> made;
  for (auto const v : all) made.push_back({static_cast<double>(tasks), v});
  return made;
}

std::string interval_text(power_law const& law) {
  return fmt::format("[{:.3f}, {:.3f}]", law.low(), law.high());
}

// Nothing if nothing was measured.
std::string exponent_line(std::string_view what, std::vector<point> const& measured) {
  if (measured.empty()) return {};
  auto const law = power_law::fit(measured);
  return fmt::format("{:<34}{:>13.3f}   {}\n", what, law.exponent(), interval_text(law));
}

std::string or_unknown(std::optional<double> value, std::string (*text)(double)) {
  return value ? text(*value) : "unknown";
}

std::string title(growth_report const& r) {
  auto const& first = r.steps.front();
  auto const& last = r.steps.back();
  return fmt::format("barrier over {} to {} in {} to {}", grouped(first.tasks),
                     counted(last.tasks, "task"), grouped(first.sessions),
                     counted(last.sessions, "session"));
}

std::string circumstances_of(growth_report const& r) {
  return fmt::format("{} samples of each number, interleaved; {}",
                     r.steps.front().found.samples.size(), r.seen.text());
}

std::string figures(growth_report const& r, bool of_floor) {
  constexpr auto row = "{:>9}{:>10}{:>10}{:>10}{:>10}{:>10}{:>11}{:>12}{:>15}{:>11}{:>13}\n";
  auto text = fmt::format(row, "tasks", "sessions", "p50", "p99", "p99.9", "max", "p50/task",
                          "CPU/task", "tasks/s", "load busy", "memory/task");
  for (auto const& s : r.steps) {
    auto const& of = of_floor ? *s.floor : s.found;
    auto const all = of.latency(0).summarise();
    text += fmt::format(row, grouped(s.tasks), grouped(s.sessions), time_text(all.p50),
                        time_text(all.p99), time_text(all.p999), time_text(all.max),
                        time_text(all.p50 / s.tasks), or_unknown(of.server_cpu_ns(), time_text),
                        rate_text(of.rate()), fmt::format("{:.0f} %", 100 * of.load_share()),
                        or_unknown(of.server_bytes_per_task(false), bytes_text));
  }
  return text;
}

std::string ratio_text(std::vector<double> const& pairs) {
  if (pairs.empty()) return "unknown";
  auto const r = comparison::of(pairs);
  return fmt::format("{:.3f}  [{:.3f}, {:.3f}]", r.median, r.sure.low, r.sure.high);
}

std::string beside_floor(growth_report const& r) {
  constexpr auto row = "{:>9}   {:<26}{}\n";
  auto text = "\nthe floor\n" + figures(r, true) + "\nby the floor's  [95 % interval]\n";
  text += fmt::format(row, "tasks", "p50", "server CPU");
  for (auto const& s : r.steps) {
    text +=
        fmt::format(row, grouped(s.tasks), ratio_text(s.pairs.p50), ratio_text(s.pairs.server_cpu));
  }
  return text;
}

std::string exponents(growth_report const& r) {
  auto const floors = [&r](of_a_side what) {
    return has_floor(r) ? all_of_floor(r, what) : std::vector<point>{};
  };
  std::string text = "\nexponent of the number of tasks      exponent   [95 % interval]\n";
  text += exponent_line("  " + r.words.latencies[0].text, all_of_ours(r, &growth_step::latencies));
  text += exponent_line("    of the floor", floors(&growth_step::latencies));
  text += exponent_line("    ours by the floor's", all_of(r, &growth_step::latency_ratios));
  text += exponent_line("  server CPU for a barrier", all_of_ours(r, &growth_step::server_cpus));
  text += exponent_line("    of the floor", floors(&growth_step::server_cpus));
  text += exponent_line("    ours by the floor's", all_of(r, &growth_step::server_cpu_ratios));
  return text;
}

std::string table(growth_report const& r) {
  auto text = fmt::format("growth: {}, {}\n\n", title(r), circumstances_of(r));
  text += "p50 to max: " + r.words.latencies[0].text + "\n" + figures(r, false);
  if (has_floor(r)) text += beside_floor(r);
  text += exponents(r);
  if (r.seen.disturbed.is_too_much()) text += "\n" + r.seen.disturbed.warning() + "\n";
  return text;
}

void add_exponent(json_object& o, std::string const& name, std::vector<point> const& measured) {
  if (measured.empty()) return;
  auto const law = power_law::fit(measured);
  o.add(name, law.exponent());
  o.add(name + "_low", law.low());
  o.add(name + "_high", law.high());
}

std::string json(growth_report const& r) {
  json_object o;
  o.add("workload", std::string_view{"growth"});
  add_origin(o, r.seen.measured_on);
  o.add("transport", std::string_view{r.seen.transport});
  o.add("samples", std::uint64_t{r.steps.front().found.samples.size()});
  add_exponent(o, "latency_exponent", all_of_ours(r, &growth_step::latencies));
  add_exponent(o, "server_cpu_exponent", all_of_ours(r, &growth_step::server_cpus));
  if (has_floor(r)) {
    add_exponent(o, "floor_latency_exponent", all_of_floor(r, &growth_step::latencies));
    add_exponent(o, "floor_server_cpu_exponent", all_of_floor(r, &growth_step::server_cpus));
    add_exponent(o, "latency_ratio_exponent", all_of(r, &growth_step::latency_ratios));
    add_exponent(o, "server_cpu_ratio_exponent", all_of(r, &growth_step::server_cpu_ratios));
  }
  std::vector<json_object> steps;
  for (auto const& s : r.steps) {
    json_object step;
    step.add("tasks", std::uint64_t{s.tasks});
    step.add("sessions", std::uint64_t{s.sessions});
    step.add("coxswain", to_object(s.found, r.words));
    if (s.floor) {
      step.add("floor", to_object(*s.floor, r.words));
      add_ratios(step, r.words, s.pairs);
    }
    steps.push_back(std::move(step));
  }
  o.add("steps", steps);
  o.add("disturbed", to_object(r.seen.disturbed));
  return o.text() + "\n";
}

curve drawn(std::string name, colour c, std::vector<point> measured) {
  auto const law = power_law::fit(measured);
  auto const by_x = [](point const& a, point const& b) { return a.x < b.x; };
  auto const [first, last] = std::minmax_element(measured.begin(), measured.end(), by_x);
  curve made;
  made.name = std::move(name);
  made.drawn_in = c;
  made.line = {{first->x, law.at(first->x)}, {last->x, law.at(last->x)}};
  made.figures = {fmt::format("{:.3f}", law.exponent()), interval_text(law)};
  made.dots = std::move(measured);
  return made;
}

std::string svg_of(growth_report const& r) {
  std::vector<curve> curves;
  auto const cpus = all_of_ours(r, &growth_step::server_cpus);
  if (!cpus.empty()) {
    curves.push_back(
        drawn("server CPU for a barrier: samples, and the fitted line", colour::second, cpus));
  }
  curves.push_back(drawn(r.words.latencies[0].text + ": samples' medians, and the fitted line",
                         colour::first, all_of_ours(r, &growth_step::latencies)));
  auto low = curves[0].dots.front().y;
  auto high = low;
  for (auto const& c : curves) {
    for (auto const& d : c.dots) {
      low = std::min(low, d.y);
      high = std::max(high, d.y);
    }
  }
  chart c{.title = "Growth: " + title(r),
          .subtitles = {circumstances_of(r)},
          .headings = {"exponent", "95 % interval"},
          .curves = std::move(curves),
          .across = "tasks (logarithmic)",
          .upright = "time for one barrier (logarithmic)",
          .x = axis::counts(r.steps.front().tasks, r.steps.back().tasks),
          .y = axis::times(low, high),
          .guides = {},
          .warnings = {},
          .origin = r.seen.measured_on.text()};
  if (r.seen.disturbed.is_too_much()) c.warnings.push_back(r.seen.disturbed.warning());
  return to_svg(c);
}

}  // namespace

std::vector<point> growth_step::latencies(side_result const& of) const {
  std::vector<point> all;
  for (auto const& s : of.samples) {
    all.push_back({static_cast<double>(tasks), s.found.latencies.at(0).percentile(0.5)});
  }
  return all;
}

std::vector<point> growth_step::server_cpus(side_result const& of) const {
  std::vector<point> all;
  for (auto const& s : of.samples) {
    if (!s.server_cpu) return {};
    auto const barriers = static_cast<double>(s.found.operations) / tasks;
    all.push_back(
        {static_cast<double>(tasks), static_cast<double>(s.server_cpu->count()) / barriers});
  }
  return all;
}

std::vector<point> growth_step::latency_ratios() const { return from_tasks(tasks, pairs.p50); }

std::vector<point> growth_step::server_cpu_ratios() const {
  return from_tasks(tasks, pairs.server_cpu);
}

findings growth_report::told() const { return {table(*this), json(*this), svg_of(*this)}; }

}  // namespace coxswain::bench
