#include "coxswain/core/membership/restart_verbs.hpp"

#include "coxswain/base/invariant.hpp"
#include "coxswain/core/concerns.hpp"
#include "coxswain/core/kernel/text.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::core {

void restart_verbs::suspend(time_point now, suspended const& what) {
  kernel_.observe(now);
  if (std::exchange(is_suspended_, true)) return;
  kernel_.log(severity::info, event_kind::restarted, "suspended: " + what.reason);
  concerns_.connections.say_goodbye_to_all({errc::unavailable, what.reason}, true);
}

void restart_verbs::restart(time_point now, restarted const& what) {
  is_suspended_ = false;
  kernel_.term = what.term.value_or(kernel_.term + 1);
  kernel_.pass_over(now);
  concerns_.connections.forget_connections();
  restarted_at_ = kernel_.alive_since(now);
  restored_ = resumed_ = 0;
  // Armed before those of the sessions, so that the missing ones are reported first.
  deadlines_.disarm(grace_over_);
  deadlines_.arm(grace_over_, {deadline_after(now, options_.restart_grace), due::restart_grace});
  sessions_.all().each([&](session_id id, session& s) {
    s.grace = restarted_at_;
    s.is_restored = !s.has_sent_bye;
    if (s.is_restored) ++restored_;
    concerns_.connections.arm_expiry(id, s);
  });
  awaited_ = restored_;
  roster_.changed();
  concerns_.keys.forget_volatile_values();
  kernel_.log(
      severity::warning, event_kind::restarted,
      (what.term ? "this coordinator took over after " : "the coordinator was restarted after ") +
          in_words(what.downtime) + "; " + std::to_string(restored_) +
          (restored_ == 1 ? " session has " : " sessions have ") +
          in_words(options_.restart_grace) + " to resume");
  if (awaited_ == 0) deadlines_.disarm(grace_over_);
}

time_point restart_verbs::grace_end() const {
  if (restarted_at_.since == time_point{}) return {};
  return kernel_.credited(restarted_at_, options_.restart_grace);
}

void restart_verbs::grace_due(time_point now) {
  time_point const end = grace_end();
  if (end > now) return deadlines_.arm(grace_over_, {end, due::restart_grace});
  report_outcome(now);
}

void restart_verbs::resumed(time_point now, session& s) {
  if (s.is_restored) ++resumed_;
  no_longer_awaits(now, s);
}

void restart_verbs::ended(time_point now, session& s) { no_longer_awaits(now, s); }

void restart_verbs::no_longer_awaits(time_point now, session& s) {
  if (!std::exchange(s.is_restored, false)) return;
  --awaited_;
  if (awaited_ == 0 && grace_over_.armed()) report_outcome(now);
}

void restart_verbs::report_outcome(time_point now) {
  deadlines_.disarm(grace_over_);
  std::vector<task_id> missing;
  sessions_.all().each([&](session_id, session const& s) {
    if (s.is_restored) missing.insert(missing.end(), s.tasks.begin(), s.tasks.end());
  });
  std::sort(missing.begin(), missing.end());
  std::string text = std::to_string(resumed_) + " of " + std::to_string(restored_) +
                     " sessions resumed " + in_words(now - restarted_at_.since) +
                     " after the coordinator was restarted";
  if (!missing.empty()) {
    text += (missing.size() == 1 ? "; missing: task " : "; missing: tasks ") + ranges(missing).text;
  }
  kernel_.log(resumed_ == restored_ ? severity::info : severity::warning, event_kind::restarted,
              std::move(text));
}

void restart_verbs::stopping(time_point, status const&) { deadlines_.disarm(grace_over_); }

void restart_verbs::check_invariants() const {
  std::size_t awaited = 0;
  sessions_.all().each([&](session_id, session const& s) {
    invariant(!s.is_restored || (s.grace && s.attached == connection_id{}),
              "a restored session has no connection yet");
    awaited += s.is_restored ? 1 : 0;
  });
  invariant(awaited == awaited_ || kernel_.stopping, "sessions that have not resumed are counted");
}

}  // namespace coxswain::core
