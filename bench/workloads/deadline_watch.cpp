#include "workloads/deadline_watch.hpp"

#include "bench_error.hpp"
#include "report/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace coxswain::bench {
namespace {

std::string line(std::string_view what, std::string const& figure) {
  return fmt::format("{:<34}{:>13}\n", what, figure);
}

std::string time_text_of(duration d) { return time_text(static_cast<double>(d.count())); }

std::uint64_t nanoseconds(duration d) { return static_cast<std::uint64_t>(d.count()); }

}  // namespace

void deadline_watch::begins(call which, time_point deadline) { open_.emplace(which, deadline); }

duration deadline_watch::ends(call which, time_point at) {
  auto const found = open_.find(which);
  if (found == open_.end()) throw bench_error{"it answered what was not asked, or twice"};
  auto const late = at - found->second;
  open_.erase(found);
  ++ended_;
  if (late < 0ns) {
    ++early_;
    early_by_max_ = std::max(early_by_max_, -late);
  }
  return late;
}

std::string deadline_watch::to_bytes(own_lateness const& own) const {
  std::string out;
  append_raw(out, ended_);
  append_raw(out, early_);
  append_raw(out, early_by_max_);
  append_raw(out, own);
  return out;
}

finding deadline_watch::told(std::string_view bytes) {
  auto const ended = take_raw<std::uint64_t>(bytes);
  auto const early = take_raw<std::uint64_t>(bytes);
  auto const early_by_max = take_raw<duration>(bytes);
  auto const own = take_raw<own_lateness>(bytes);
  finding f;
  f.is_good = early == 0;
  f.text = line("answered too early", grouped(early));
  f.text += "lateness as the coordinator knows it\n";
  f.text += line("  p99 of the last 4,096", time_text_of(own.p99));
  f.text += line("  max", time_text_of(own.max));
  if (early > 0) {
    f.text += fmt::format("TOO EARLY: {} of {} were answered before their deadline, by up to {}.\n",
                          grouped(early), counted(ended, "barrier"), time_text_of(early_by_max));
  }
  f.figures = {{"early", early},
               {"early_by_max_ns", nanoseconds(early_by_max)},
               {"own_lateness_p99_ns", nanoseconds(own.p99)},
               {"own_lateness_max_ns", nanoseconds(own.max)},
               {"deadlines_answered", own.answered}};
  return f;
}

}  // namespace coxswain::bench
