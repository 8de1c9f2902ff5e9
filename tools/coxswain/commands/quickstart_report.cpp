#include "commands/quickstart_report.hpp"

#include "terminal/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace coxswain::tools {
namespace {

double milliseconds(duration d) { return static_cast<double>(d.count()) / 1e6; }
std::string microseconds_text(duration d) { return fmt::format("{}", d.count() / 1000); }

struct figures {
  duration p50{};
  duration p99{};
  duration max{};
};

figures figures_of(std::vector<duration> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  // The smallest sample that at least this part of all does not exceed.
  auto const at = [&](double part) {
    auto const rank = std::ceil(part * static_cast<double>(samples.size()));
    return samples[static_cast<std::size_t>(rank) - 1];
  };
  return {at(0.5), at(0.99), samples.back()};
}

}  // namespace

std::string report_key(std::uint32_t task) { return fmt::format("{}/{}", reports_directory, task); }

std::string to_text(worker_report const& report) {
  auto text = fmt::format("{} {} {}", report.join.count(), report.exchange.count(), report.devices);
  for (auto const round : report.rounds) text += fmt::format(" {}", round.count());
  return text;
}

worker_report parse_report(std::string const& text) {
  std::istringstream numbers{text};
  worker_report report;
  duration::rep join{};
  duration::rep exchange{};
  duration::rep round{};
  numbers >> join >> exchange >> report.devices;
  report.join = duration{join};
  report.exchange = duration{exchange};
  while (numbers >> round) report.rounds.emplace_back(round);
  return report;
}

std::string report_text(std::vector<worker_row> const& rows) {
  table shown{{"worker", align::right},         {"pid", align::right},
              {"join ms", align::right},        {"exchange ms", align::right},
              {"barrier p50 us", align::right}, {"p99 us", align::right},
              {"max us", align::right},         {"result"}};
  duration join_max{};
  std::size_t round_count{};
  std::vector<duration> all;
  for (auto const& row : rows) {
    std::vector<std::string> cells{std::to_string(row.task), std::to_string(row.pid)};
    if (row.has_report) {
      auto const f = figures_of(row.report.rounds);
      cells.insert(cells.end(),
                   {fmt::format("{:.1f}", milliseconds(row.report.join)),
                    fmt::format("{:.1f}", milliseconds(row.report.exchange)),
                    microseconds_text(f.p50), microseconds_text(f.p99), microseconds_text(f.max)});
      join_max = std::max(join_max, row.report.join);
      round_count = std::max(round_count, row.report.rounds.size());
      all.insert(all.end(), row.report.rounds.begin(), row.report.rounds.end());
    } else {
      cells.insert(cells.end(), 5, "-");
    }
    cells.push_back(row.result);
    shown.add(std::move(cells));
  }
  auto const f = figures_of(std::move(all));
  return fmt::format(
      "{}\njoin: {:.1f} ms until all {} were there\nbarrier: {} rounds, p50 {} us, p99 {} us, "
      "max {} us\n",
      shown.text(), milliseconds(join_max), rows.size(), round_count, f.p50.count() / 1000,
      f.p99.count() / 1000, f.max.count() / 1000);
}

}  // namespace coxswain::tools
