#pragma once
// The fields of sessions, tasks and messages in a snapshot. Those of answers are their records'.

#include "coxswain/core/kernel/alarms.hpp"
#include "coxswain/core/kernel/roster.hpp"
#include "coxswain/core/kernel/sessions.hpp"
#include "coxswain/core/snapshot/encoding.hpp"
#include "coxswain/core/snapshot/is_loading.hpp"

#include <string>
#include <utility>

namespace coxswain {

void fields(auto& a, core::maybe_const<status> auto& x) {
  errc code = x.code();
  std::string message = x.message();
  a.members(code, message);
  if constexpr (core::is_loading<decltype(a)>) x = status{code, std::move(message)};
}
void fields(auto& a, core::maybe_const<wall_time> auto& x) { a.members(x.unix_ms, x.utc_offset_s); }

}  // namespace coxswain

namespace coxswain::core {

void fields(auto& a, maybe_const<event> auto& x) {
  a.members(x.level, x.text, x.kind, x.task, x.barrier);
}
void fields(auto& a, maybe_const<answer> auto& x) { a.members(x.outcome, x.value); }
void fields(auto& a, maybe_const<outgoing> auto& x) {
  a.members(x.to, x.in_reply_to, x.what);
  a.check(x.what != nullptr, "a message is missing");
}
void fields(auto& a, maybe_const<ticket> auto& x) { a.members(x.session, x.request); }
void fields(auto& a, maybe_const<alarms> auto& x) {
  a.members(x.deadline, x.deadline_at, x.log, x.progress, x.progress_at);
}
void fields(auto& a, maybe_const<liveness> auto& x) { a.members(x.since, x.stalled_before); }
void fields(auto& a, maybe_const<due_item> auto& x) {
  a.members(x.when, x.what, x.subject, x.request);
}
void fields(auto& a, maybe_const<parked> auto& x) {
  a.members(x.name, x.number, x.since, x.task, x.deadline, x.at);
}
void fields(auto& a, maybe_const<host> auto& x) { a.members(x.holder, x.task); }
void fields(auto& a, maybe_const<guest> auto& x) { a.members(x.of, x.is_member); }
void fields(auto& a, maybe_const<grant> auto& x) {
  a.members(x.secret, x.guests, x.leaving, x.steps, x.stopped_at, x.at_sync_point);
}
void fields(auto& a, maybe_const<kept_reply> auto& x) {
  a.members(x.ordinal, x.request, x.what, x.hands_over, x.of, x.is_leave);
  a.check(x.what != nullptr, "a kept reply is missing");
}
void fields(auto& a, maybe_const<connection> auto& x) {
  a.members(x.peer, x.secret, x.session, x.closing, x.wrong_token, x.number, x.opened, x.hello,
            x.blocked, x.stalled_reader, x.reading_paused);
}
void fields(auto& a, maybe_const<session> auto& x) {
  a.members(x.secret, x.attached, x.carrier, x.from, x.given, x.tasks, x.replaced, x.guest_of,
            x.probed, x.heard, x.grace, x.expiry, x.wrote_since_heartbeat, x.has_sent_bye,
            x.produces, x.names_job, x.highest, x.expected, x.open, x.kept, x.memory.kind,
            x.replies_sent, x.answered_through, x.is_restored, x.lost_its_trunk, x.resume_count,
            x.asked, x.owes_answer, x.takes_stacks, x.answered);
}
void fields(auto& a, maybe_const<claimant> auto& x) { a.members(x.who, x.asked); }
void fields(auto& a, maybe_const<progress> auto& x) {
  a.members(x.step, x.rose, x.waits_since, x.excused, x.reported);
}
void fields(auto& a, maybe_const<holder_probe> auto& x) {
  a.members(x.by, x.probed, x.probe, x.holder_heard);
}
void fields(auto& a, maybe_const<last_holder> auto& x) {
  a.members(x.session, x.from, x.heard, x.failure, x.ended_with_job, x.return_due);
}
void fields(auto& a, maybe_const<last_call> auto& x) {
  std::string name{x.name.view()};
  bool is_cut = x.name.is_cut();
  a.members(x.at, x.what, name, is_cut);
  a.check(x.what.value < unknown_operation.value, "a task's last request is unknown");
  if constexpr (is_loading<decltype(a)>) x.name.restore(name, is_cut);
}
void fields(auto& a, maybe_const<task> auto& x) {
  a.members(x.state, x.recoverable, x.came_late, x.detached, x.place, x.progress_due, x.self,
            x.held_by, x.last, x.waits, x.blocked, x.progress, x.holder_probe, x.is_jax,
            x.last_call);
}

}  // namespace coxswain::core
