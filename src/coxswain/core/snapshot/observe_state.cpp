// The state of concerns about observers in a snapshot.

#include "coxswain/core/concerns.hpp"
#include "coxswain/core/snapshot/fields_of_sessions.hpp"
#include "coxswain/core/snapshot/state_reader.hpp"
#include "coxswain/core/snapshot/state_writer.hpp"

namespace coxswain::core {

void fields(auto& a, maybe_const<watchers::watcher> auto& x) {
  a(1, x.who);
  a(2, x.seen);
  a(3, x.at_least);
}

void fields(auto& a, maybe_const<stuck_call> auto& x) {
  a(1, x.task);
  a(2, x.call);
}

void event_watch_verbs::save(state_writer& to) const { fields(to, *this); }
void event_watch_verbs::load(state_reader& from) { fields(from, *this); }

void task_watch_verbs::save(state_writer& to) const { fields(to, *this); }
void task_watch_verbs::load(state_reader& from) { fields(from, *this); }

void picture_verbs::save(state_writer& to) const { fields(to, *this); }
void picture_verbs::load(state_reader& from) { fields(from, *this); }

void why_verbs::save(state_writer& to) const { fields(to, *this); }
void why_verbs::load(state_reader& from) { fields(from, *this); }

}  // namespace coxswain::core
