#include "plot.hpp"

#include "chart.hpp"
#include "distribution.hpp"
#include "histogram.hpp"
#include "report.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace coxswain::bench {
namespace {

curve drawn(side_result const& s, std::string name, colour c) {
  auto const times = s.latency(0);
  auto const all = times.summarise();
  auto made = distribution(times);
  made.name = std::move(name);
  made.drawn_in = c;
  made.figures = {time_text(all.p50), time_text(all.p99), time_text(all.p999), time_text(all.max),
                  grouped(all.count)};
  return made;
}

std::string sentence(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string ratio_text(std::string_view what, std::vector<double> const& pairs) {
  auto const r = comparison::of(pairs);
  return fmt::format("{} {:.3f} [{:.3f},\u00a0{:.3f}]", what, r.median, r.sure.low, r.sure.high);
}

std::string ratios(report const& r) {
  auto const other = r.beside == "floor" ? "the floor" : r.beside;
  auto text = "Ratios to " + other + " [95 % interval]: " + ratio_text("p50", r.pairs.p50);
  if (r.words.has_rate) text += ", " + ratio_text("rate", r.pairs.rate);
  if (!r.pairs.server_cpu.empty()) text += ", " + ratio_text("server CPU", r.pairs.server_cpu);
  return text;
}

}  // namespace

std::string to_svg(report const& r) {
  std::vector<curve> curves;
  if (r.floor) curves.push_back(drawn(*r.floor, r.beside, colour::second));
  curves.push_back(drawn(r.ours, r.measured, colour::first));
  double low = 0;
  double high = 0;
  std::uint64_t count = 1;
  for (auto const* side : {&r.ours, r.floor ? &*r.floor : nullptr}) {
    if (side == nullptr) continue;
    auto const times = side->latency(0);
    auto const begin = times.percentile(share_min(times.count()));
    low = low == 0 ? begin : std::min(low, begin);
    high = std::max(high, times.summarise().max);
    count = std::max(count, times.count());
  }
  chart c{.title = sentence(r.words.latencies[0].text) + ": " + r.words.title,
          .subtitles = {r.circumstances()},
          .headings = {"p50", "p99", "p99.9", "max", "values"},
          .curves = std::move(curves),
          .across = r.words.latencies[0].text + " (logarithmic)",
          .upright = "part of the values that are not longer (stretched at both ends)",
          .x = axis::times(low, high),
          .y = axis::shares(share_min(count), std::max(0.9, share_of(count, count))),
          .guides = {{0.5, "p50"}, {0.99, "p99"}, {0.999, "p99.9"}},
          .warnings = {},
          .origin = r.measured_on.text()};
  if (r.floor) c.subtitles.push_back(ratios(r));
  if (r.disturbed.is_too_much()) c.warnings.push_back(r.disturbed.warning());
  return to_svg(c);
}

}  // namespace coxswain::bench
