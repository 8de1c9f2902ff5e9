// A relay's end, stall or lost trunk costs its clients only time, and it reports no end of a
// process that lives (§18.3).

#include "tests/sim/everything/rules/rules.hpp"

#include "coxswain/core/model/reasons.hpp"

#include <algorithm>

namespace coxswain::sim {
namespace {

// Some handshakes that get no reply, and refused connections.
constexpr duration margin = 3s;

bool has_ended(process_record const& p, event_record const& e, bool is_elastic) {
  auto const task = *e.what.what.task;
  bool const may_be_its =
      is_elastic || p.is_spare || std::find(p.tasks.begin(), p.tasks.end(), task) != p.tasks.end();
  return p.has_relay && p.died && *p.died <= e.at && may_be_its;
}

void check_end(history const& h, event_record const& e, violations& found) {
  auto const& what = e.what.what;
  bool const is_stated = is_failure(what.kind) && what.task &&
                         states(what.text, &core::reasons::process_ended_without_leaving);
  if (!is_stated) return;
  bool const is_true = std::any_of(h.processes.begin(), h.processes.end(), [&](auto const& p) {
    return has_ended(p, e, h.options.elastic);
  });
  if (!is_true) found.push_back("at " + h.text(e.at) + " its process lives: " + what.text);
}

// It connects again, there or elsewhere.
void check_return(history const& h, std::size_t index, violations& found) {
  process_record const& p = h.processes[index];
  if (p.has_relays_only || p.is_quiet) return;
  time_point const gone =
      std::min({p.died.value_or(h.ended), p.ended.value_or(h.ended), p.departed.value_or(h.ended)});
  for (trouble const& t : p.troubles) {
    time_point const bound = t.from + h.options.heartbeat_timeout / 2 + margin;
    if (!t.is_of_relay || std::min({t.to, t.connected, gone}) <= bound) continue;
    auto const is_then = [&](interval const& other) {
      return other.from <= bound && other.to >= t.from;
    };
    bool const has_other =
        std::any_of(h.stalls.begin(), h.stalls.end(), is_then) ||
        std::any_of(p.troubles.begin(), p.troubles.end(),
                    [&](trouble const& other) { return !other.is_of_relay && is_then(other); });
    if (has_other) continue;
    found.push_back("process " + std::to_string(index) + " has waited for its relay since " +
                    h.text(t.from));
    return;
  }
}

}  // namespace

void check_relays(history const& h, violations& found) {
  for (event_record const& e : h.events) check_end(h, e, found);
  for (std::size_t i = 0; i < h.processes.size(); ++i) check_return(h, i, found);
}

}  // namespace coxswain::sim
