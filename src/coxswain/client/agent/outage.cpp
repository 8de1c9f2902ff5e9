#include "coxswain/client/agent/outage.hpp"

#include "coxswain/client/agent/agent_text.hpp"
#include "coxswain/client/agent/wait_reports.hpp"

#include <algorithm>

namespace coxswain::detail {
namespace {

// An address that refuses connections can be that of a coordinator about to start.
constexpr duration refusals_spared = 400ms;

}  // namespace

void outage::begin(time_point now) {
  down_at_ = now;
  report_at_ = now + report_first;
  report_every_ = report_first;
  refused_since_.reset();
  tries_ = 0;
}

void outage::note_refusal(time_point now, bool refused) {
  if (!refused) return refused_since_.reset();
  if (refused_since_) return;
  refused_since_ = now;
  if (report_every_ == report_first) report_at_ = std::min(report_at_, now + refusals_spared);
}

std::string outage::report(time_point now, std::string const& place, std::string const& obstacle,
                           time_point end) {
  std::string text = "coordinator at " + place + " unreachable for " + text_of(length(now)) + " (" +
                     tries_text() + "): " + obstacle;
  if (text.ends_with('.')) text.pop_back();
  if (end != time_point::max()) text += "; giving up in " + text_of(end - now);
  report_at_ = deadline_after(now, report_every_);
  report_every_ = std::min(2 * report_every_, report_every_max);
  return text;
}

std::string outage::tries_text() const {
  return std::to_string(tries_) + (tries_ == 1 ? " try" : " tries");
}

}  // namespace coxswain::detail
