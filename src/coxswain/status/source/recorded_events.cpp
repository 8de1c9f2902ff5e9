#include "coxswain/status/source/recorded_events.hpp"

#include "coxswain/core/kernel/text.hpp"
#include "coxswain/server/recording/settings.hpp"

#include <algorithm>
#include <cstddef>

namespace coxswain::status_page {
namespace {

constexpr std::size_t error_bytes_max = 300;

}  // namespace

recorded_events::recorded_events(server::replay of)
    : head_{of.head()}, config_{server::config_of(head_)} {
  bool is_first = true;
  while (auto const record = of.step()) {
    if (std::exchange(is_first, false)) begins_ = record->at;
    ends_ = std::max(ends_, record->at);
    if (record->kind != wire::record_kind::event) continue;
    auto const level = std::min<std::uint64_t>(record->number, 2);
    all_.emplace_back(
        record->at, core::event{static_cast<core::severity>(level), std::string{record->content}});
  }
  go_to(std::nullopt);
}

void recorded_events::go_to(std::optional<duration> moment) {
  moment_ = std::clamp(moment.value_or(ends_), begins_, ends_);
  until_now_.emplace(core::event_log::limits{config_.events_max, config_.event_bytes_max,
                                             config_.events_alike_max},
                     head_.started);
  for (auto const& [at, what] : all_) {
    if (at <= moment_) until_now_->add(at, what);
  }
}

core::job_state recorded_events::state() const {
  core::job_state made;
  made.headline = "Only the events of this recording are left: its first " +
                  std::to_string(head_.lost) + " records were lost";
  auto const errors = until_now_->since(std::nullopt, core::severity::error, 1).entries;
  if (!errors.empty()) {
    made.headline +=
        ". The last error: " + core::shortened(errors.back().what.text, error_bytes_max);
    made.since = errors.back().time;
  }
  return made;
}

core::snapshot recorded_events::look() const {
  core::snapshot made;
  made.job = config_.job;
  made.coordinator = head_.coordinator;
  made.uptime = moment_;
  made.state = state();
  return made;
}

core::why_answer recorded_events::why() const {
  core::why_answer made;
  made.state = state();
  return made;
}

core::listing_answer recorded_events::keys(std::string const&, std::string const&,
                                           std::size_t) const {
  return {};
}

result<core::value_answer> recorded_events::value(std::string_view) const {
  return status{errc::failed_precondition, "A recording has no values."};
}

core::barrier_history recorded_events::history(std::string_view) const { return {}; }

}  // namespace coxswain::status_page
