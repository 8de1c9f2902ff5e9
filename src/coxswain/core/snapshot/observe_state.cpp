// The state of concerns about observers in a snapshot.

#include "coxswain/core/concerns.hpp"
#include "coxswain/core/snapshot/fields_of_sessions.hpp"
#include "coxswain/core/snapshot/state_reader.hpp"
#include "coxswain/core/snapshot/state_writer.hpp"

namespace coxswain::core {

void fields(auto& a, maybe_const<watchers::watcher> auto& x) {
  a.members(x.who, x.seen, x.at_least);
}

void fields(auto& a, maybe_const<stuck_call> auto& x) { a.members(x.task, x.call); }

void event_watch_verbs::save(state_writer& to) const { fields(to, *this); }
void event_watch_verbs::load(state_reader& from) { fields(from, *this); }

void task_watch_verbs::save(state_writer& to) const { fields(to, *this); }
void task_watch_verbs::load(state_reader& from) { fields(from, *this); }

void picture_verbs::save(state_writer& to) const { fields(to, *this); }
void picture_verbs::load(state_reader& from) { fields(from, *this); }

void stack_verbs::save(state_writer& to) const { fields(to, *this); }
void stack_verbs::load(state_reader& from) {
  fields(from, *this);
  memory_.add(bytes_);
}

void why_verbs::save(state_writer& to) const { fields(to, *this); }
void why_verbs::load(state_reader& from) { fields(from, *this); }

}  // namespace coxswain::core
