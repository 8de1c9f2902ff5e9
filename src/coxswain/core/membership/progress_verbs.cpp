#include "coxswain/core/membership/progress_verbs.hpp"

#include "coxswain/base/invariant.hpp"
#include "coxswain/core/concerns.hpp"
#include "coxswain/core/kernel/text.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::core {

void progress_verbs::check_invariants() const {
  for (std::uint32_t i = 0; i < roster_.size(); ++i) {
    task const& t = roster_.at(task_id{i});
    invariant(!t.progress_due.armed() || (t.is_connected() && t.progress && !t.progress->reported),
              "only who is here and makes progress is watched");
  }
}

std::size_t progress_verbs::armed() const {
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < roster_.size(); ++i) {
    count += roster_.at(task_id{i}).progress_due.armed() ? 1 : 0;
  }
  return count;
}

// A step that is not above the last one is shown, but is no progress.
void progress_verbs::handle(call const& c, report_progress_args& args) {
  if (!c.task) return calls_.refuse(c, kernel_.not_joined());
  task& t = roster_.at(*c.task);
  bool const is_further = !t.progress || args.step > t.progress->step;
  if (is_further) {
    t.progress = std::make_unique<progress>(progress{args.step, kernel_.alive_since(c.now)});
    watch(*c.task);
  } else {
    t.progress->step = args.step;
  }
  calls_.answer_now(c, calls_.share(status{}), false);
}

bool progress_verbs::watches_progress() const {
  return options_.progress_timeout > 0s && options_.progress_timeout != without_limit && !error_;
}

time_point progress_verbs::progress_expiry(progress const& p) const {
  duration const allowed =
      p.excused + std::min<duration>(options_.progress_timeout, duration::max() - p.excused);
  return kernel_.credited(p.rose, allowed);
}

// Its reports while it was unreachable are still in transit.
void progress_verbs::come_back(time_point now, time_point since, task_id id) {
  task& t = roster_.at(id);
  if (!t.progress) return;
  if (t.blocked.open() == 0) t.progress->excused += now - since;
  watch(id);
}

// A report costs no more than a heartbeat: the armed deadline stays, and only when it is due is it
// compared with the last one.
void progress_verbs::watch(task_id id) {
  task& t = roster_.at(id);
  bool const is_watched =
      watches_progress() && t.is_connected() && t.progress && !t.progress->reported;
  if (!is_watched || t.progress_due.armed()) return;
  time_point const expiry = std::max(progress_expiry(*t.progress), kernel_.observed());
  deadlines_.arm(t.progress_due, {expiry, due::no_progress, id.value});
}

// A waiting task is checked again when it continues, a suspect one when it is back, and a paused
// one when reading resumes.
void progress_verbs::no_progress_due(time_point now, task_id id) {
  task& t = roster_.at(id);
  deadlines_.disarm(t.progress_due);
  if (error_ || t.detached != detachment::none || t.blocked.open() > 0 || kernel_.is_suspect(t))
    return;
  if (kernel_.is_paused(*sessions_.find(t.held_by))) return;
  progress& p = *t.progress;
  if (progress_expiry(p) > now) return watch(id);
  p.reported = true;
  std::string text = "has reported no progress for " + in_words(now - p.rose.since);
  if (p.excused >= 1ms) {
    text += " (it was waiting or unreachable for " + in_words(p.excused) + ")";
  }
  text += ": it is at step " + std::to_string(p.step) + "; the progress timeout is " +
          in_words(options_.progress_timeout);
  kernel_.log_task(severity::warning, event_kind::no_progress, id, {" ", text});
  if (options_.fail_without_progress) {
    concerns_.failures.fail_task(now, id, {errc::deadline_exceeded, kernel_.who(id) + " " + text});
  }
}

}  // namespace coxswain::core
