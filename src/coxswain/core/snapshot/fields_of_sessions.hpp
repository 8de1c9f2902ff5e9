#pragma once
// The fields of sessions and tasks in a snapshot.

#include "coxswain/core/kernel/alarms.hpp"
#include "coxswain/core/kernel/roster.hpp"
#include "coxswain/core/kernel/sessions.hpp"
#include "coxswain/core/snapshot/encoding.hpp"
#include "coxswain/core/snapshot/fields_of_answers.hpp"

namespace coxswain::core {

void fields(auto& a, maybe_const<ticket> auto& x) {
  a(1, x.session);
  a(2, x.request);
}
void fields(auto& a, maybe_const<alarms> auto& x) {
  a(1, x.deadline);
  a(2, x.deadline_at);
  a(3, x.log);
  a(4, x.progress);
  a(5, x.progress_at);
}
void fields(auto& a, maybe_const<liveness> auto& x) {
  a(1, x.since);
  a(2, x.stalled_before);
}
void fields(auto& a, maybe_const<due_item> auto& x) {
  a(1, x.when);
  a(2, x.what);
  a(3, x.subject);
  a(4, x.request);
}
void fields(auto& a, maybe_const<parked> auto& x) {
  a(1, x.name);
  a(2, x.number);
  a(3, x.since);
  a(4, x.task);
  a(5, x.deadline);
  a(6, x.at);
}
void fields(auto& a, maybe_const<host> auto& x) {
  a(1, x.holder);
  a(2, x.task);
}
void fields(auto& a, maybe_const<guest> auto& x) {
  a(1, x.of);
  a(2, x.is_member);
}
void fields(auto& a, maybe_const<grant> auto& x) {
  a(1, x.secret);
  a(2, x.guests);
  a(3, x.leaving);
  a(4, x.steps);
  a(5, x.stopped_at);
  a(6, x.at_sync_point);
}
void fields(auto& a, maybe_const<kept_reply> auto& x) {
  a(1, x.ordinal);
  a(2, x.request);
  a(3, x.what);
  a.check(x.what != nullptr, "a kept reply is missing");
  a(4, x.hands_over);
  a(5, x.of);
  a(6, x.is_leave);
}
void fields(auto& a, maybe_const<connection> auto& x) {
  a(1, x.peer);
  a(2, x.secret);
  a(3, x.session);
  a(4, x.closing);
  a(5, x.wrong_token);
  a(6, x.number);
  a(7, x.opened);
  a(8, x.hello);
  a(9, x.blocked);
  a(10, x.stalled_reader);
  a(11, x.reading_paused);
}
void fields(auto& a, maybe_const<session> auto& x) {
  a(1, x.secret);
  a(2, x.attached);
  a(3, x.carrier);
  a(4, x.from);
  a(5, x.given);
  a(6, x.tasks);
  a(7, x.replaced);
  a(8, x.guest_of);
  a(9, x.probed);
  a(10, x.heard);
  a(11, x.grace);
  a(12, x.expiry);
  a(13, x.wrote_since_heartbeat);
  a(14, x.has_said_bye);
  a(15, x.produces);
  a(16, x.names_job);
  a(17, x.highest);
  a(18, x.expected);
  a(19, x.open);
  a(20, x.kept);
  a(21, x.memory.kind);
  a(22, x.replies_sent);
  a(23, x.answered_through);
  a(24, x.is_restored);
  a(25, x.lost_its_trunk);
  a(26, x.resume_count);
}
void fields(auto& a, maybe_const<join_args> auto& x) {
  a(1, x.self);
  a(2, x.timeout);
  a(3, x.recoverable);
  a(4, x.take_over);
  a(5, x.any);
  a(6, x.member);
  a(7, x.placement);
  a(8, x.with_hello);
  a(9, x.is_jax);
}
void fields(auto& a, maybe_const<challenger> auto& x) {
  a(1, x.who);
  a(2, x.asked);
}
void fields(auto& a, maybe_const<progress> auto& x) {
  a(1, x.step);
  a(2, x.rose);
  a(3, x.waits_since);
  a(4, x.excused);
  a(5, x.told);
}
void fields(auto& a, maybe_const<challenge> auto& x) {
  a(1, x.by);
  a(2, x.probed);
  a(3, x.probe);
  a(4, x.holder_heard);
}
void fields(auto& a, maybe_const<last_holder> auto& x) {
  a(1, x.session);
  a(2, x.from);
  a(3, x.heard);
  a(4, x.failure);
  a(5, x.return_due);
}
void fields(auto& a, maybe_const<task> auto& x) {
  a(1, x.state);
  a(2, x.recoverable);
  a(3, x.came_late);
  a(4, x.parted);
  a(5, x.place);
  a(6, x.progress_due);
  a(7, x.self);
  a(8, x.held_by);
  a(9, x.last);
  a(10, x.waits);
  a(11, x.blocked);
  a(12, x.progress);
  a(13, x.challenge);
  a(14, x.is_jax);
}

}  // namespace coxswain::core
