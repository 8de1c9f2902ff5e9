#include "growth_report.hpp"

#include "chart.hpp"
#include "json.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace coxswain::bench {
namespace {

using of_a_step = std::vector<point> (growth_step::*)() const;

std::vector<point> all_of(growth_report const& r, of_a_step what) {
  std::vector<point> all;
  for (auto const& s : r.steps) {
    auto const some = (s.*what)();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

std::string interval_text(power_law const& law) {
  return fmt::format("[{:.3f}, {:.3f}]", law.low(), law.high());
}

std::string exponent_line(std::string_view what, power_law const& law) {
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

std::string table(growth_report const& r) {
  auto text = fmt::format("growth: {}, {}\n\n", title(r), circumstances_of(r));
  text += "p50 to max: " + r.words.latencies[0].text + "\n";
  constexpr auto row = "{:>9}{:>10}{:>10}{:>10}{:>10}{:>10}{:>11}{:>12}{:>15}{:>11}{:>13}\n";
  text += fmt::format(row, "tasks", "sessions", "p50", "p99", "p99.9", "max", "p50/task",
                      "CPU/task", "tasks/s", "load busy", "memory/task");
  for (auto const& s : r.steps) {
    auto const all = s.found.latency(0).summarise();
    text +=
        fmt::format(row, grouped(s.tasks), grouped(s.sessions), time_text(all.p50),
                    time_text(all.p99), time_text(all.p999), time_text(all.max),
                    time_text(all.p50 / s.tasks), or_unknown(s.found.server_cpu_ns(), time_text),
                    rate_text(s.found.rate()), fmt::format("{:.0f} %", 100 * s.found.load_share()),
                    or_unknown(s.found.server_bytes_per_task(false), bytes_text));
  }
  text += "\nexponent of the number of tasks      exponent   [95 % interval]\n";
  text += exponent_line("  " + r.words.latencies[0].text,
                        power_law::fit(all_of(r, &growth_step::latencies)));
  auto const cpus = all_of(r, &growth_step::server_cpus);
  if (!cpus.empty()) text += exponent_line("  server CPU for a barrier", power_law::fit(cpus));
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
  add_exponent(o, "latency_exponent", all_of(r, &growth_step::latencies));
  add_exponent(o, "server_cpu_exponent", all_of(r, &growth_step::server_cpus));
  std::vector<json_object> steps;
  for (auto const& s : r.steps) {
    json_object step;
    step.add("tasks", std::uint64_t{s.tasks});
    step.add("sessions", std::uint64_t{s.sessions});
    step.add("coxswain", to_object(s.found, r.words));
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
  auto const cpus = all_of(r, &growth_step::server_cpus);
  if (!cpus.empty()) {
    curves.push_back(
        drawn("server CPU for a barrier: samples, and the fitted line", colour::second, cpus));
  }
  curves.push_back(drawn(r.words.latencies[0].text + ": samples' medians, and the fitted line",
                         colour::first, all_of(r, &growth_step::latencies)));
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

std::vector<point> growth_step::latencies() const {
  std::vector<point> all;
  for (auto const& s : found.samples) {
    all.push_back({static_cast<double>(tasks), s.found.latencies.at(0).percentile(0.5)});
  }
  return all;
}

std::vector<point> growth_step::server_cpus() const {
  std::vector<point> all;
  for (auto const& s : found.samples) {
    if (!s.server_cpu) return {};
    auto const barriers = static_cast<double>(s.found.operations) / tasks;
    all.push_back(
        {static_cast<double>(tasks), static_cast<double>(s.server_cpu->count()) / barriers});
  }
  return all;
}

findings growth_report::told() const { return {table(*this), json(*this), svg_of(*this)}; }

}  // namespace coxswain::bench
