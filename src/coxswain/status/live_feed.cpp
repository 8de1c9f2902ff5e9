#include "coxswain/status/live_feed.hpp"

#include "coxswain/status/json.hpp"

#include <algorithm>
#include <cstddef>

namespace coxswain::status_page {
namespace {

constexpr std::size_t barriers_sent_max = 100;

core::snapshot::barrier without_times(core::snapshot::barrier b) {
  b.age = {};
  b.remaining.reset();
  return b;
}

core::why_answer without_times(core::why_answer why) {
  why.state = {};  // the summary has the same
  for (auto& w : why.waits) {
    w.age = {};
    w.remaining.reset();
    if (!w.missing) continue;
    for (auto& m : w.missing->known) {
      m.last_heard.reset();
      if (m.unanswered) m.unanswered = duration{};
    }
  }
  return why;
}

bool same(core::snapshot::task const& a, core::snapshot::task const& b) {
  return a.state == b.state && a.suspect == b.suspect && a.self == b.self &&
         a.recoverable == b.recoverable && a.progress.has_value() == b.progress.has_value() &&
         (!a.progress ||
          (a.progress->step == b.progress->step && a.progress->overdue == b.progress->overdue)) &&
         a.label == b.label && a.peer == b.peer && a.error == b.error;
}

bool same(std::vector<core::snapshot::barrier> const& a,
          std::vector<core::snapshot::barrier> const& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](auto const& left, auto const& other) {
                      return without_times(left) == without_times(other);
                    });
}

json::object timeless_summary(core::snapshot const& picture) {
  auto all = summary_of(picture);
  all.erase("uptime_ms");
  return all;
}

}  // namespace

std::string whole_job(core::snapshot const& job, core::why_answer const& why,
                      core::events_answer const& events, std::string const& address,
                      std::optional<recorded_time> const& recorded) {
  json::object all{{"type", "state"},
                   {"state", state_of(job)},
                   {"why", object_of(why)},
                   {"events", array_of(events.entries)},
                   {"address", address}};
  if (recorded) {
    all["recorded"] = json::object{{"started", rfc3339(recorded->started)},
                                   {"begins_ms", milliseconds_of(recorded->begins)},
                                   {"ends_ms", milliseconds_of(recorded->ends)}};
  }
  return serialized(all);
}

bool live_feed::look(std::shared_ptr<core::snapshot const> now,
                     std::shared_ptr<core::why_answer const> why, std::uint64_t last_event) {
  last_made_.reset();  // its ages are those of the snapshot before
  auto const before = std::exchange(job_, std::move(now));
  auto const why_before = std::exchange(why_, std::move(why));
  bool const has_events = std::exchange(last_event_, last_event) != last_event;
  auto const change = change_ + 1;
  if (!before || before->tasks.size() != job_->tasks.size()) {
    change_ = whole_since_ = why_changed_ = relays_changed_ = change;
    task_changed_.assign(job_->tasks.size(), change);
    return true;
  }
  bool changed = has_events || before->rounds != job_->rounds ||
                 !same(before->barriers, job_->barriers) ||
                 timeless_summary(*before) != timeless_summary(*job_);
  if (before->relays != job_->relays) {
    relays_changed_ = change;
    changed = true;
  }
  for (std::size_t i = 0; i < task_changed_.size(); ++i) {
    if (same(before->tasks[i], job_->tasks[i])) continue;
    task_changed_[i] = change;
    changed = true;
  }
  if (without_times(*why_before) != without_times(*why_)) {
    why_changed_ = change;
    changed = true;
  }
  if (changed) change_ = change;
  return changed;
}

text_ptr live_feed::next(place& at) {
  if (is_current(at)) return nullptr;
  if (!last_made_ || last_made_->from != at) {
    last_made_ = at.change < whole_since_ ? whole(at) : update(at);
  }
  at = last_made_->to;
  return last_made_->text;
}

std::uint64_t live_feed::last_round() const {
  return job_->rounds.empty() ? 0 : job_->rounds.back().number;
}

live_feed::message live_feed::whole(place from) const {
  auto const events = events_after_(std::nullopt, events_at_first);
  return {from,
          {change_, events.through, last_round()},
          texts_.share(whole_job(*job_, *why_, events, address_, recorded_))};
}

live_feed::message live_feed::update(place from) const {
  json::array tasks;
  for (std::size_t i = 0; i < task_changed_.size(); ++i) {
    if (task_changed_[i] > from.change) tasks.push_back(object_of(job_->tasks[i]));
  }
  json::array barriers;
  auto const sent = std::min(job_->barriers.size(), barriers_sent_max);
  for (std::size_t i = 0; i < sent; ++i) barriers.push_back(object_of(job_->barriers[i]));
  json::array rounds;
  for (auto const& r : job_->rounds) {
    if (r.number > from.round) rounds.push_back(object_of(r));
  }
  auto const events = events_after_(from.event, 0);
  json::object all{{"type", "update"},
                   {"summary", summary_of(*job_)},
                   {"tasks", std::move(tasks)},
                   {"barriers", std::move(barriers)},
                   {"barriers_more", job_->barriers.size() - sent + job_->more_barriers},
                   {"rounds", std::move(rounds)},
                   {"events", array_of(events.entries)}};
  if (why_changed_ > from.change) all["why"] = object_of(*why_);
  if (relays_changed_ > from.change) all["relays"] = array_of(job_->relays);
  return {from, {change_, events.through, last_round()}, texts_.share(serialized(all))};
}

}  // namespace coxswain::status_page
