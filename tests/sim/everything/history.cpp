#include "tests/sim/everything/history.hpp"

#include "coxswain/client/agent/agent_text.hpp"

#include <algorithm>
#include <cstdint>

namespace coxswain::sim {
namespace {

template <class Interval>
bool overlaps(std::vector<Interval> const& all, time_point from, time_point to) {
  return std::any_of(all.begin(), all.end(),
                     [&](interval const& i) { return i.from <= to && i.to >= from; });
}

}  // namespace

bool history::is_calm(std::size_t process, time_point from, time_point to) const {
  process_record const& p = processes[process];
  time_point const gone =
      std::min({p.died.value_or(time_point::max()), p.ended.value_or(time_point::max()),
                p.departed.value_or(time_point::max())});
  return p.born <= from && gone > to && !overlaps(p.troubles, from, to) &&
         !overlaps(stalls, from, to);
}

time_point history::earliest(time_point at) const {
  time_point earliest = at - seen_within;
  auto const waited = [&](interval const& i) {
    return i.from <= at && i.to >= earliest && i.from - seen_within < earliest;
  };
  auto const extends = [&](auto const& all) {
    auto const one = std::find_if(all.begin(), all.end(), waited);
    if (one == all.end()) return false;
    earliest = one->from - seen_within;
    return true;
  };
  while (extends(stalls) || extends(processes.front().troubles)) {
  }
  return earliest;
}

bool history::outlives_restart(time_point at) const {
  bool const has_disk = seen_within > 0s;
  auto const next = std::find_if(restarts.begin(), restarts.end(),
                                 [at](interval const& i) { return i.from >= at; });
  if (!has_disk || next == restarts.end()) return true;
  return std::any_of(calls.begin(), calls.end(), [&](call_record const& c) {
    return c.made >= at && c.is_ok() && !c.asks<core::leave_args>() && *c.answered < next->from;
  });
}

bool history::may_drain(time_point by) const {
  return std::any_of(calls.begin(), calls.end(), [by](call_record const& c) {
    return c.asks<core::end_job_args>() && c.made <= by;
  });
}

duration history::stalled() const {
  duration all{};
  for (interval const& i : stalls) all += i.to - i.from;
  return all;
}

bool history::has_all_events() const {
  std::uint64_t next = 0;
  return std::all_of(events.begin(), events.end(),
                     [&](event_record const& e) { return e.what.number == ++next; });
}

std::string history::text(time_point at) const {
  return std::to_string(static_cast<double>((at - begun) / 1us) / 1e6) + " s";
}

duration history::time_for_room(std::size_t process) const {
  return processes[process].has_relay ? 2 * delay_max : 0ns;
}

duration history::time_in_queue(std::size_t process, time_point from, time_point to) const {
  if (!limits_are_small) return {};
  auto const replies = std::count_if(calls.begin(), calls.end(), [&](call_record const& c) {
    return c.process == process && c.over() >= from && c.over() <= to;
  });
  return (replies + 1) * std::max(seen_within / 6, delay_max);
}

std::string history::text(call_record const& c) const {
  std::string all = text(c.made) + ": process " + std::to_string(c.process);
  if (c.task) all += " (task " + std::to_string(c.task->value) + ")";
  all += ": " + detail::text_of(c.asked);
  if (c.cancelled) all += ", taken back at " + text(*c.cancelled);
  if (c.answered) all += ", answered at " + text(*c.answered) + ": " + c.got.outcome.text();
  return all;
}

}  // namespace coxswain::sim
