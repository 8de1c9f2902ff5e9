// Progress: how far the tasks say that they are, and who gets no further.

#include "coxswain/core/state.hpp"
#include "coxswain/core/text.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::core {

// A step that is not above the last one is shown, but is no progress.
void coordinator::state::handle(call const& c, report_progress_args& args) {
  if (!c.task) return refuse(c, not_joined());
  task& t = roster_.at(*c.task);
  bool const is_further = !t.progress || args.step > t.progress->step;
  if (is_further) {
    t.progress = std::make_unique<progress>(progress{args.step, alive_since(c.now)});
    watch_progress(*c.task);
  } else {
    t.progress->step = args.step;
  }
  answer_now(c, share(status{}), false);
}

bool coordinator::state::watches_progress() const {
  return options.progress_timeout > 0s && options.progress_timeout != without_limit && !error;
}

time_point coordinator::state::progress_expiry(progress const& p) const {
  duration const allowed =
      p.excused + std::min<duration>(options.progress_timeout, duration::max() - p.excused);
  return credited(p.rose, allowed);
}

// A task of which a call waits for others is not the one that holds them up. It may have another
// thread that hangs, but to blame, or to fail, who only waits for several things would be worse.
void coordinator::state::wait_begins(time_point now, task& t) {
  if (t.progress && t.blocked.open() == 0) t.progress->waits_since = now;
}

void coordinator::state::wait_has_ended(time_point now, task& t) {
  if (!t.progress || t.blocked.open() > 0) return;
  t.progress->excused += now - std::max(t.progress->waits_since, t.progress->rose.since);
}

// What it reported while it was out of reach is still on its way.
void coordinator::state::come_back(time_point now, time_point since, task_id id) {
  task& t = roster_.at(id);
  if (!t.progress) return;
  if (t.blocked.open() == 0) t.progress->excused += now - since;
  watch_progress(id);
}

// A report costs no more than a heartbeat: the armed deadline stays, and only when it is due is it
// compared with the last one.
void coordinator::state::watch_progress(task_id id) {
  task& t = roster_.at(id);
  bool const is_watched = watches_progress() && t.is_connected() && t.progress && !t.progress->told;
  if (!is_watched || t.progress_due.armed()) return;
  time_point const expiry = std::max(progress_expiry(*t.progress), observed_);
  deadlines_.arm(t.progress_due, {expiry, due::no_progress, id.value});
}

// A task that waits is watched again when it goes on, one that is suspect when it is back, and one
// that is held back when it is read again.
void coordinator::state::no_progress_due(time_point now, task_id id) {
  task& t = roster_.at(id);
  deadlines_.disarm(t.progress_due);
  if (error || t.parted != parting::none || t.blocked.open() > 0 || is_suspect(t)) return;
  if (is_held_back(*sessions_.find(t.held_by))) return;
  progress& p = *t.progress;
  if (progress_expiry(p) > now) return watch_progress(id);
  p.told = true;
  std::string text = "has reported no progress for " + in_words(now - p.rose.since);
  if (p.excused >= 1ms) {
    text += " (of which it waited or was out of reach for " + in_words(p.excused) + ")";
  }
  text += ": it is at step " + std::to_string(p.step) + "; the progress timeout is " +
          in_words(options.progress_timeout);
  log(severity::warning, event_kind::no_progress, who(id) + " " + text, id);
  if (options.fail_without_progress) {
    fail_task(now, id, {errc::deadline_exceeded, who(id) + " " + text});
  }
}

}  // namespace coxswain::core
