#pragma once
// Reports of calls that wait for long: when to ask the coordinator what a call waits for, and the
// events that say so. Watches are excluded, since they wait for ever. Not here: sending (agent),
// and reports of an unreachable coordinator (outage).

#include "coxswain/client/agent/agent_messages.hpp"
#include "coxswain/client/agent/call_table.hpp"

#include <string>
#include <vector>

namespace coxswain::detail {

// The time until the first report and the second one; then it doubles.
constexpr duration report_first = 2s;
constexpr duration report_every_max = 30s;

class wait_reports {
 public:
  // A call was opened.
  void begin(time_point now, open_call& call);

  // When `look` has something to do.
  [[nodiscard]] time_point next_check_at() const noexcept { return next_check_at_; }

  // Reports those that are due, with `silence` for those about which the coordinator was asked and
  // has not replied. Returns those about which to ask it now.
  [[nodiscard]] std::vector<request_id> look(time_point now, call_table& calls,
                                             std::string const& silence,
                                             std::vector<agent_event>& into);

  // The coordinator's reply. Ignored if the call is not open or was not asked about.
  void answered(time_point now, call_table& calls, core::waiting const& what,
                std::vector<agent_event>& into);

 private:
  time_point next_check_at_{time_point::max()};
};

}  // namespace coxswain::detail
