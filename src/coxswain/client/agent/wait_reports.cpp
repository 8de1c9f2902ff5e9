#include "coxswain/client/agent/wait_reports.hpp"

#include "coxswain/client/agent/agent_text.hpp"
#include "coxswain/core/model/operations.hpp"

#include <algorithm>
#include <cstddef>

namespace coxswain::detail {
namespace {

// A coordinator that has not answered by then is reported as not answering.
constexpr duration answer_within = 1s;

// How many waiting calls are examined one by one; further ones are only counted.
constexpr std::size_t reported_at_once_max = 8;
constexpr duration look_every = 100ms;

void schedule(open_call& call, time_point now) {
  call.asked = false;
  call.report_at = deadline_after(now, call.report_every);
  call.report_every = std::min(2 * call.report_every, report_every_max);
}

void report(time_point now, open_call& call, std::string const& why,
            std::vector<agent_event>& into) {
  auto const& what = call.message.what;
  into.emplace_back(agent_events::waiting{
      text_of(what) + " has waited for " + text_of(now - call.since) + ": " + why,
      core::row_of(what).is(core::trait::idles)});
  schedule(call, now);
}

}  // namespace

void wait_reports::begin(time_point now, open_call& call) {
  call.since = now;
  if (core::row_of(call.message.what).is(core::trait::watches)) return;
  call.report_at = deadline_after(now, report_first);
  call.report_every = report_first;
  next_check_at_ = std::min(next_check_at_, call.report_at);
}

std::vector<request_id> wait_reports::look(time_point now, call_table& calls,
                                           std::string const& silence,
                                           std::vector<agent_event>& into) {
  std::vector<open_call*> due;
  calls.each([&](open_call& call) {
    if (call.report_at <= now) due.push_back(&call);
  });
  std::sort(due.begin(), due.end(),
            [](open_call const* a, open_call const* b) { return a->message.id < b->message.id; });
  std::vector<request_id> to_ask;
  for (std::size_t i = 0; i < due.size(); ++i) {
    open_call& call = *due[i];
    if (i >= reported_at_once_max) {
      schedule(call, now);
    } else if (call.asked) {
      report(now, call, silence, into);
    } else {
      to_ask.push_back(call.message.id);
      call.asked = true;
      call.report_at = deadline_after(now, answer_within);
    }
  }
  if (due.size() > reported_at_once_max) {
    into.emplace_back(agent_events::waiting{std::to_string(due.size() - reported_at_once_max) +
                                                " more calls have been waiting for a long time",
                                            true});
  }
  next_check_at_ = time_point::max();
  calls.each(
      [&](open_call const& call) { next_check_at_ = std::min(next_check_at_, call.report_at); });
  if (!due.empty()) next_check_at_ = std::max(next_check_at_, now + look_every);
  return to_ask;
}

void wait_reports::answered(time_point now, call_table& calls, core::waiting const& what,
                            std::vector<agent_event>& into) {
  open_call* const call = calls.find(what.request);
  if (!call || !call->asked) return;
  report(now, *call, what.text, into);
  next_check_at_ = std::min(next_check_at_, call->report_at);
}

}  // namespace coxswain::detail
