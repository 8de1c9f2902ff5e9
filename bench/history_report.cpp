#include "history_report.hpp"

#include "chart.hpp"
#include "json.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace coxswain::bench {
namespace {

// How many ids had been used by then.
std::uint64_t ids_at(history_report const& r, std::size_t place) {
  return std::uint64_t{r.given.used_ids} * place / (r.bytes_by_ids.size() - 1);
}

std::string title(history_report const& r) {
  return fmt::format("{} used barrier ids and {} keys of {}", grouped(r.given.used_ids),
                     grouped(r.given.keys), bytes_text(static_cast<double>(r.given.bytes)));
}

std::string circumstances_of(history_report const& r) {
  return fmt::format("{}, {} of samples, interleaved; {}", counted(r.given.tasks, "task"),
                     counted(r.acts.front().with_history.samples.size(), "pair"), r.seen.text());
}

std::string row(std::string_view what, std::string_view without, std::string_view with,
                std::vector<double> const& pairs = {}) {
  std::string compared;
  if (!pairs.empty()) {
    auto const ratio = comparison::of(pairs);
    compared =
        fmt::format("   {:.3f}  [{:.3f}, {:.3f}]", ratio.median, ratio.sure.low, ratio.sure.high);
  }
  return fmt::format("{:<34}{:>13}{:>13}{}\n", what, without, with, compared);
}

std::string cpu_text(side_result const& s) {
  auto const cpu = s.server_cpu_ns();
  return cpu ? time_text(*cpu) : "unknown";
}

std::string share_text(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string rows_of(history_act const& a) {
  auto const before = a.without.latency(0).summarise();
  auto const after = a.with_history.latency(0).summarise();
  auto text = a.words.title + ", " + a.words.latencies[0].text + "\n";
  text += row("  p50", time_text(before.p50), time_text(after.p50), a.pairs.p50);
  text += row("  p99", time_text(before.p99), time_text(after.p99));
  text += row("  p99.9", time_text(before.p999), time_text(after.p999));
  text += row("  max", time_text(before.max), time_text(after.max));
  text +=
      row("  rate", rate_text(a.without.rate()), rate_text(a.with_history.rate()), a.pairs.rate);
  text += row("  server CPU per " + a.words.operation.text, cpu_text(a.without),
              cpu_text(a.with_history), a.pairs.server_cpu);
  text += row("  load busy", share_text(a.without.load_share()),
              share_text(a.with_history.load_share()));
  return text;
}

std::string memory_table(history_report const& r) {
  std::string text = "memory of the server\n";
  for (std::size_t i = 0; i < r.bytes_by_ids.size(); ++i) {
    text +=
        row(fmt::format("  {} used ids", grouped(ids_at(r, i))), "", bytes_text(r.bytes_by_ids[i]));
  }
  text +=
      row(fmt::format("  and {} keys", grouped(r.given.keys)), "", bytes_text(r.bytes_with_keys));
  text += row("  of one more id, second half", "", fmt::format("{:.2f} B", r.bytes_per_id()));
  text += row("  of one more key", "", bytes_text(r.bytes_per_key()));
  return text;
}

std::string table(history_report const& r) {
  auto text = fmt::format("history: {}, {}\n\n", title(r), circumstances_of(r));
  text += fmt::format("{:<34}{:>13}{:>13}   ratio  [95 % interval]\n", "", "new", "with history");
  for (auto const& a : r.acts) text += rows_of(a);
  text += memory_table(r);
  if (r.seen.disturbed.is_too_much()) text += "\n" + r.seen.disturbed.warning() + "\n";
  return text;
}

std::string json(history_report const& r) {
  json_object o;
  o.add("workload", std::string_view{"history"});
  add_origin(o, r.seen.measured_on);
  o.add("transport", std::string_view{r.seen.transport});
  o.add("tasks", std::uint64_t{r.given.tasks});
  o.add("used_ids", std::uint64_t{r.given.used_ids});
  o.add("keys", std::uint64_t{r.given.keys});
  o.add("bytes", r.given.bytes);
  o.add("pairs", std::uint64_t{r.acts.front().with_history.samples.size()});
  for (auto const& a : r.acts) {
    json_object act;
    add_ratios(act, a.words, a.pairs);
    act.add("new", to_object(a.without, a.words));
    act.add("with_history", to_object(a.with_history, a.words));
    o.add(a.words.name, act);
  }
  o.add("server_bytes_by_used_ids", r.bytes_by_ids);
  o.add("server_bytes_with_keys", r.bytes_with_keys);
  o.add("server_bytes_per_used_id", r.bytes_per_id());
  o.add("server_bytes_per_key", r.bytes_per_key());
  o.add("disturbed", to_object(r.seen.disturbed));
  return o.text() + "\n";
}

std::string ratios(history_report const& r) {
  std::string text = "Ratios to a new coordinator [95 % interval]: ";
  for (auto const& a : r.acts) {
    auto const ratio = comparison::of(a.pairs.p50);
    text += fmt::format("{}{} p50 {:.3f} [{:.3f},\u00a0{:.3f}]", &a == &r.acts.front() ? "" : ", ",
                        a.words.name, ratio.median, ratio.sure.low, ratio.sure.high);
  }
  return text;
}

std::string svg_of(history_report const& r) {
  curve memory;
  memory.name = "memory of the server";
  for (std::size_t i = 0; i < r.bytes_by_ids.size(); ++i) {
    memory.line.push_back({static_cast<double>(ids_at(r, i)), r.bytes_by_ids[i]});
  }
  memory.dots = memory.line;
  memory.figures = {bytes_text(r.bytes_by_ids.front()), bytes_text(r.bytes_by_ids.back()),
                    fmt::format("{:.2f} B", r.bytes_per_id())};
  auto const most = *std::max_element(r.bytes_by_ids.begin(), r.bytes_by_ids.end());
  chart c{.title = "History: " + title(r),
          .subtitles = {circumstances_of(r), ratios(r)},
          .headings = {"at first", "at last", "2nd half, per id"},
          .curves = {std::move(memory)},
          .across = "used barrier ids",
          .upright = "memory of the server, before the keys are there",
          .x = axis::counts_up_to(r.given.used_ids),
          .y = axis::bytes_up_to(most),
          .guides = {},
          .warnings = {},
          .origin = r.seen.measured_on.text()};
  if (r.seen.disturbed.is_too_much()) c.warnings.push_back(r.seen.disturbed.warning());
  return to_svg(c);
}

}  // namespace

// The first half also fills what is bounded: it does not count.
double history_report::bytes_per_id() const {
  auto const half = bytes_by_ids.size() / 2;
  auto const ids = given.used_ids - ids_at(*this, half);
  return (bytes_by_ids.back() - bytes_by_ids[half]) / static_cast<double>(ids);
}

double history_report::bytes_per_key() const {
  return (bytes_with_keys - bytes_by_ids.back()) / static_cast<double>(given.keys);
}

findings history_report::told() const { return {table(*this), json(*this), svg_of(*this)}; }

}  // namespace coxswain::bench
