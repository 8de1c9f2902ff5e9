// The state of concerns about sessions and tasks in a snapshot.

#include "coxswain/core/concerns.hpp"
#include "coxswain/core/snapshot/fields_of_meetings.hpp"
#include "coxswain/core/snapshot/state_reader.hpp"
#include "coxswain/core/snapshot/state_writer.hpp"

#include <utility>

namespace coxswain::core {

void fields(auto& a, maybe_const<preemption::answer_of_task> auto& x) { a.members(x.step, x.who); }

void end_verbs::save(state_writer& to) const { fields(to, *this); }
void end_verbs::load(state_reader& from) { fields(from, *this); }

void enrolment::save(state_writer& to) const { fields(to, *this); }
void enrolment::load(state_reader& from) {
  fields(from, *this);
  for (auto& [number, waiting] : std::exchange(waiting_, {})) add(number, std::move(waiting));
  for (auto const& [id, known] : members_) {
    memory_.add(cost(known));
    if (!known.name.empty()) numbers_.emplace(known.name, id);
  }
}

void epochs::save(state_writer& to) const { fields(to, *this); }
void epochs::load(state_reader& from) { fields(from, *this); }

void failure_verbs::save(state_writer& to) const { fields(to, *this); }
void failure_verbs::load(state_reader& from) { fields(from, *this); }

void guest_verbs::save(state_writer& to) const { fields(to, *this); }
void guest_verbs::load(state_reader& from) { fields(from, *this); }

void handshake_verbs::save(state_writer& to) const { fields(to, *this); }
void handshake_verbs::load(state_reader& from) { fields(from, *this); }

void join_verbs::save(state_writer& to) const { fields(to, *this); }
void join_verbs::load(state_reader& from) { fields(from, *this); }

void leave_verbs::save(state_writer& to) const { fields(to, *this); }
void leave_verbs::load(state_reader& from) { fields(from, *this); }

void preemption_verbs::save(state_writer& to) const { fields(to, *this); }
void preemption_verbs::load(state_reader& from) { fields(from, *this); }

void restart_verbs::save(state_writer& to) const { fields(to, *this); }
void restart_verbs::load(state_reader& from) { fields(from, *this); }

}  // namespace coxswain::core
