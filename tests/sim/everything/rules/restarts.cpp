// Sessions resume within the grace after a restart of the coordinator, also if nothing has closed
// their connections (§4.2.7, §18.1.2).

#include "tests/sim/everything/rules/rules.hpp"

#include <algorithm>

namespace coxswain::sim {
namespace {

// The process, its connection and the coordinator have no fault of their own meanwhile.
bool has_other_fault(history const& h, process_record const& p, interval const& restart,
                     time_point bound) {
  auto const is_then = [&](interval const& one) {
    return one.from <= bound && one.to >= restart.from;
  };
  auto const is_other = [&](interval const& one) {
    return is_then(one) && one.from != restart.from;
  };
  return std::any_of(h.stalls.begin(), h.stalls.end(), is_other) ||
         std::any_of(p.troubles.begin(), p.troubles.end(),
                     [&](trouble const& t) { return !t.is_no_fault && is_then(t); });
}

void check_return(history const& h, std::size_t index, interval const& restart, violations& found) {
  process_record const& p = h.processes[index];
  bool const has_session = p.opened && *p.opened < restart.from;
  time_point const bound = restart.to + h.options.restart_grace;
  // One that ends by the bound has another cause.
  bool const is_over = p.is_quiet && p.ended.value_or(bound) <= bound;
  auto const end = std::min({p.died.value_or(time_point::max()), p.departed.value_or(h.ended),
                             is_over ? restart.from : time_point::max()});
  if (!has_session || end <= bound || p.ended.value_or(bound) < restart.from) return;
  if (has_other_fault(h, p, restart, bound)) return;
  bool const is_back = std::any_of(p.resumed.begin(), p.resumed.end(),
                                   [&](time_point at) { return at > restart.from && at <= bound; });
  if (is_back) return;
  found.push_back("process " + std::to_string(index) +
                  " has not resumed its session after the restart at " + h.text(restart.from));
}

}  // namespace

void check_restarts(history const& h, violations& found) {
  for (interval const& restart : h.restarts) {
    for (std::size_t i = 1; i < h.processes.size(); ++i) {
      if (!h.is_guest(i)) check_return(h, i, restart, found);
    }
  }
}

}  // namespace coxswain::sim
