// The report as a table for people.

#include "report.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <functional>
#include <string_view>

namespace coxswain::bench {
namespace {

constexpr std::size_t pairs_enough = 15;

// A load that works longer than this part of the time may be what limits the rate.
constexpr double load_share_enough = 0.9;

using figure = std::function<std::string(side_result const&)>;

// Without the floor a line has one figure only.
class table {
 public:
  explicit table(report const& r) : report_{r} {
    line("", r.beside, r.measured, "ratio  [95 % interval]");
  }
  void heading(std::string_view what) { line(what, "", "", ""); }
  void add(std::string_view what, figure const& of, std::vector<double> const& pairs = {}) {
    line(what, report_.floor ? of(*report_.floor) : std::string{}, of(report_.ours),
         pairs.empty() ? std::string{} : ratio_text(pairs));
  }
  [[nodiscard]] std::string const& text() const { return text_; }

 private:
  static std::string ratio_text(std::vector<double> const& pairs) {
    auto const r = comparison::of(pairs);
    return fmt::format("{:.3f}  [{:.3f}, {:.3f}]", r.median, r.sure.low, r.sure.high);
  }
  void line(std::string_view what, std::string_view floor, std::string_view ours,
            std::string_view compared) {
    auto added = fmt::format("{:<34}", what);
    if (report_.floor) added += fmt::format("{:>13}", floor);
    added += fmt::format("{:>13}", ours);
    if (report_.floor) added += fmt::format("   {}", compared);
    added.erase(added.find_last_not_of(' ') + 1);
    text_ += added + '\n';
  }

  report const& report_;
  std::string text_;
};

void add_latency(table& t, report const& r, std::size_t place) {
  auto const of = [place](double summary::*what) {
    return [=](side_result const& s) { return time_text(s.latency(place).summarise().*what); };
  };
  t.heading(r.words.latencies[place].text);
  t.add("  p50", of(&summary::p50), place == 0 ? r.pairs.p50 : std::vector<double>{});
  t.add("  p99", of(&summary::p99));
  t.add("  p99.9", of(&summary::p999));
  t.add("  max", of(&summary::max));
}

std::string share_text(double share) { return fmt::format("{:.0f} %", 100 * share); }

void add_cpu(table& t, report const& r) {
  t.heading("CPU per " + r.words.operation.text);
  t.add(
      "  server",
      [](side_result const& s) {
        auto const cpu = s.server_cpu_ns();
        return cpu ? time_text(*cpu) : std::string{"unknown"};
      },
      r.pairs.server_cpu);
  t.add("  load", [](side_result const& s) { return time_text(s.load_cpu_ns()); });
  t.heading("busy while the clock ran");
  t.add("  server", [](side_result const& s) {
    auto const share = s.server_share();
    return share ? share_text(*share) : std::string{"unknown"};
  });
  t.add("  load", [](side_result const& s) { return share_text(s.load_share()); });
}

void add_parts(table& t, report const& r, std::string_view heading, duration tally::part::*what,
               std::vector<std::vector<double>> const& pairs) {
  if (r.words.parts.empty()) return;
  t.heading(heading);
  for (std::size_t place = 0; place < r.words.parts.size(); ++place) {
    t.add(
        "  " + r.words.parts[place].text,
        [=](side_result const& s) { return time_text(s.part_ns(place, what)); },
        place < pairs.size() ? pairs[place] : std::vector<double>{});
  }
}

void add_memory(table& t, report const& r) {
  if (!r.ours.server_bytes()) return;
  auto const of = [](std::optional<double> (side_result::*what)() const) {
    return [=](side_result const& s) {
      auto const bytes = (s.*what)();
      return bytes ? bytes_text(*bytes) : std::string{"unknown"};
    };
  };
  t.heading("memory of the server");
  t.add("  after a sample", of(&side_result::server_bytes));
  t.add("  growth during a sample", of(&side_result::server_growth_bytes));
  bool const at_peak = r.words.counts_peak;
  if (!r.ours.server_bytes_per_task(at_peak)) return;
  auto const* const what = r.ours.smaller.empty() ? "  per task, when all have joined"
                           : at_peak              ? "  per task, at most"
                                                  : "  per idle task";
  t.add(what, [at_peak](side_result const& s) {
    auto const bytes = s.server_bytes_per_task(at_peak);
    return bytes ? bytes_text(*bytes) : std::string{"unknown"};
  });
}

std::string busy_load(report const& r, std::string_view name, side_result const& s) {
  if (!r.words.has_rate || s.load_share() < load_share_enough) return {};
  return fmt::format(
      "note: the load on {} was busy {:.0f} % of the time: the server could do more, and its rate "
      "is at least this.\n",
      name, 100 * s.load_share());
}

std::string notes(report const& r) {
  auto text = busy_load(r, r.measured, r.ours);
  if (r.floor) text += busy_load(r, r.beside == "floor" ? "the floor" : r.beside, *r.floor);
  if (r.floor && r.ours.samples.size() < pairs_enough) {
    auto const sure = comparison::of(r.pairs.p50).sure.coverage;
    text += fmt::format("note: so few pairs: the intervals hold with {:.0f} %. Take {} or more.\n",
                        100 * sure, pairs_enough);
  }
  if (r.disturbed.is_too_much()) text += r.disturbed.warning() + "\n";
  return text.empty() ? text : "\n" + text;
}

}  // namespace

std::string to_table(report const& r) {
  table t{r};
  for (std::size_t place = 0; place < r.words.latencies.size(); ++place) add_latency(t, r, place);
  t.add(
      "rate", [](side_result const& s) { return rate_text(s.rate()); },
      r.words.has_rate ? r.pairs.rate : std::vector<double>{});
  add_parts(t, r, "time of each part (median)", &tally::part::elapsed, r.pairs.part_time);
  add_parts(t, r, "server CPU of each part (median)", &tally::part::server_cpu, r.pairs.part_cpu);
  add_cpu(t, r);
  add_memory(t, r);
  return r.words.title + ", " + r.circumstances() + "\n\n" + t.text() +
         (r.shown ? "\n" + r.shown->text : "") + notes(r);
}

}  // namespace coxswain::bench
