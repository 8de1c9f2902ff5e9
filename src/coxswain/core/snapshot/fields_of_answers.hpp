#pragma once
// The fields of answers and events in a snapshot, by their numbers: a number is never given to
// another field.

#include "coxswain/core/model/messages.hpp"
#include "coxswain/core/snapshot/encoding.hpp"
#include "coxswain/core/snapshot/is_loading.hpp"

#include <string>
#include <utility>

namespace coxswain {

using core::maybe_const;

void fields(auto& a, maybe_const<status> auto& x) {
  errc code = x.code();
  std::string message = x.message();
  a(1, code);
  a(2, message);
  if constexpr (core::is_loading<decltype(a)>) x = status{code, std::move(message)};
}
void fields(auto& a, maybe_const<wall_time> auto& x) {
  a(1, x.unix_ms);
  a(2, x.utc_offset_s);
}
void fields(auto& a, maybe_const<missing_task> auto& x) {
  a(1, x.task);
  a(2, x.state);
  a(3, x.suspect);
  a(4, x.last_heard);
  a(5, x.label);
  a(6, x.waits_for);
  a(7, x.step);
}
void fields(auto& a, maybe_const<barrier_failure> auto& x) {
  a(1, x.round);
  a(2, x.arrived);
  a(3, x.expected);
  a(4, x.missing);
  a(5, x.missing_cut);
  a(6, x.known);
}
void fields(auto& a, maybe_const<failure> auto& x) {
  a(1, x.task);
  a(2, x.why);
  a(3, x.is_reported);
}
void fields(auto& a, maybe_const<job_error> auto& x) {
  a(1, x.cause);
  a(2, x.later);
  a(3, x.later_count);
}

}  // namespace coxswain

namespace coxswain::core {

void fields(auto& a, maybe_const<event> auto& x) {
  a(1, x.level);
  a(2, x.text);
  a(3, x.kind);
  a(4, x.task);
  a(5, x.barrier);
}
void fields(auto& a, maybe_const<task_progress> auto& x) {
  a(1, x.step);
  a(2, x.age);
  a(3, x.overdue);
}
void fields(auto& a, maybe_const<barrier_progress> auto& x) {
  a(1, x.request);
  a(2, x.round);
  a(3, x.arrived);
  a(4, x.expected);
  a(5, x.missing);
  a(6, x.missing_cut);
}
void fields(auto& a, maybe_const<snapshot::task> auto& x) {
  a(1, x.id);
  a(2, x.state);
  a(3, x.suspect);
  a(4, x.self);
  a(5, x.last_heard);
  a(6, x.label);
  a(7, x.peer);
  a(8, x.error);
  a(9, x.recoverable);
  a(10, x.progress);
  a(11, x.returns_by);
}
void fields(auto& a, maybe_const<snapshot::barrier> auto& x) {
  a(1, x.name);
  a(2, x.what);
  a(3, x.round);
  a(4, x.arrived);
  a(5, x.expected);
  a(6, x.missing);
  a(7, x.missing_cut);
  a(8, x.age);
  a(9, x.remaining);
}
void fields(auto& a, maybe_const<snapshot::finished_round> auto& x) {
  a(1, x.number);
  a(2, x.name);
  a(3, x.round);
  a(4, x.at);
  a(5, x.tasks);
  a(6, x.outcome);
  a(7, x.spread);
  a(8, x.lag);
  a(9, x.last_task);
}
void fields(auto& a, maybe_const<snapshot::straggler> auto& x) {
  a(1, x.task);
  a(2, x.times_last);
  a(3, x.lag_mean);
  a(4, x.lag_max);
  a(5, x.of);
}
void fields(auto& a, maybe_const<snapshot::spare> auto& x) {
  a(1, x.member);
  a(2, x.label);
  a(3, x.peer);
  a(4, x.age);
  a(5, x.suspect);
}
void fields(auto& a, maybe_const<snapshot::relay> auto& x) {
  a(1, x.label);
  a(2, x.peer);
  a(3, x.clients);
  a(4, x.clients_paused);
  a(5, x.at);
}
void fields(auto& a, maybe_const<snapshot::lease> auto& x) {
  a(1, x.queue);
  a(2, x.item);
  a(3, x.redeliveries);
  a(4, x.holder);
  a(5, x.at);
  a(6, x.expires);
}
void fields(auto& a, maybe_const<snapshot::elastic_state> auto& x) {
  a(1, x.epoch);
  a(2, x.tasks_min);
  a(3, x.tasks_max);
  a(4, x.tasks_wanted);
  a(5, x.ending);
  a(6, x.over);
  a(7, x.ready);
  a(8, x.age);
}
void fields(auto& a, maybe_const<snapshot> auto& x) {
  a(1, x.job);
  a(2, x.coordinator);
  a(3, x.version);
  a(4, x.uptime);
  a(5, x.tasks);
  a(6, x.barriers);
  a(7, x.more_barriers);
  a(8, x.error);
  a(9, x.keys);
  a(10, x.key_bytes);
  a(11, x.sessions);
  a(12, x.waiting_gets);
  a(13, x.memory_bytes);
  a(14, x.memory_bytes_max);
  a(15, x.lateness_p99);
  a(16, x.lateness_max);
  a(17, x.deadlines_answered);
  a(18, x.queued_items);
  a(19, x.waiting_pops);
  a(20, x.waiting_key_watches);
  a(21, x.locks_held);
  a(22, x.waiting_locks);
  a(23, x.stuck_tasks);
  a(24, x.rounds);
  a(25, x.stragglers);
  a(26, x.next_task);
  a(27, x.spares);
  a(28, x.spares_waiting);
  a(29, x.elastic);
  a(30, x.relays);
  a(31, x.more_relays);
  a(32, x.leased_items);
  a(33, x.leases);
}
void fields(auto& a, maybe_const<alive_answer::task> auto& x) {
  a(1, x.id);
  a(2, x.self);
}
void fields(auto& a, maybe_const<alive_answer> auto& x) { a(1, x.tasks); }
void fields(auto& a, maybe_const<tasks_answer> auto& x) {
  a(1, x.version);
  a(2, x.tasks);
}
void fields(auto& a, maybe_const<events_answer::entry> auto& x) {
  a(1, x.number);
  a(2, x.at);
  a(3, x.what);
  a(4, x.time);
  a(5, x.first);
  a(6, x.count);
  a(7, x.first_at);
  a(8, x.tasks);
  a(9, x.tasks_cut);
}
void fields(auto& a, maybe_const<events_answer> auto& x) {
  a(1, x.entries);
  a(2, x.through);
  a(3, x.lost);
}
void fields(auto& a, maybe_const<why_answer::wait> auto& x) {
  a(1, x.what);
  a(2, x.name);
  a(3, x.waiting);
  a(4, x.cut);
  a(5, x.others);
  a(6, x.missing);
  a(7, x.age);
  a(8, x.remaining);
  a(9, x.stuck);
}
void fields(auto& a, maybe_const<why_answer> auto& x) {
  a(1, x.waits);
  a(2, x.more);
  a(3, x.stuck);
}

void fields(auto& a, maybe_const<hello_answer> auto& x) {
  a(1, x.coordinator);
  a(2, x.version);
  a(3, x.session);
  a(4, x.secret);
  a(5, x.num_tasks);
  a(6, x.heartbeat_period);
  a(7, x.heartbeat_timeout);
  a(8, x.reconnect_grace);
  a(9, x.frame_bytes_max);
  a(10, x.value_bytes_max);
  a(11, x.key_bytes_max);
  a(12, x.open_requests_max);
  a(13, x.open_requests_max_per_task);
  a(14, x.given);
  a(15, x.coordinator_return);
  a(16, x.hosted_by_task);
  a(17, x.restart_grace);
  a(18, x.term);
  a(19, x.relayed);
  a(20, x.suspect_after);
}
void fields(auto& a, maybe_const<resume_answer> auto& x) {
  a(1, x.unknown);
  a(2, x.term);
  a(3, x.suspect_after);
}
void fields(auto& a, maybe_const<epoch_answer> auto& x) {
  a(1, x.number);
  a(2, x.size);
  a(3, x.rank);
  a(4, x.address);
  a(5, x.lost);
  a(6, x.joined);
}
void fields(auto& a, maybe_const<epoch_members_answer::member> auto& x) {
  a(1, x.name);
  a(2, x.self);
  a(3, x.label);
  a(4, x.peer);
  a(5, x.survivor);
}
void fields(auto& a, maybe_const<epoch_members_answer> auto& x) {
  a(1, x.epoch);
  a(2, x.members);
  a(3, x.next_task);
}
void fields(auto& a, maybe_const<epoch_ends> auto& x) {
  a(1, x.epoch);
  a(2, x.why);
  a(3, x.text);
  a(4, x.joiners);
}
void fields(auto& a, maybe_const<join_answer> auto& x) {
  a(1, x.already_started);
  a(2, x.task);
  a(3, x.epoch);
}
void fields(auto& a, maybe_const<barrier_answer> auto& x) {
  a(1, x.round);
  a(2, x.data);
}
void fields(auto& a, maybe_const<value_answer> auto& x) {
  a(1, x.value);
  a(2, x.version);
  a(3, x.redeliveries);
}
void fields(auto& a, maybe_const<counter_answer> auto& x) {
  a(1, x.value);
  a(2, x.version);
}
void fields(auto& a, maybe_const<removed_answer> auto& x) {
  a(1, x.count);
  a(2, x.last);
}
void fields(auto& a, maybe_const<listing_answer::entry> auto& x) {
  a(1, x.key);
  a(2, x.value);
  a(3, x.version);
}
void fields(auto& a, maybe_const<listing_answer> auto& x) {
  a(1, x.entries);
  a(2, x.version);
  a(3, x.more);
}
void fields(auto& a, maybe_const<stored_answer> auto& x) {
  a(1, x.version);
  a(2, x.is_volatile);
}
void fields(auto& a, maybe_const<count_answer> auto& x) { a(1, x.count); }
void fields(auto& a, maybe_const<key_change> auto& x) {
  a(1, x.key);
  a(2, x.version);
  a(3, x.value);
}
void fields(auto& a, maybe_const<key_changes_answer> auto& x) {
  a(1, x.changes);
  a(2, x.version);
}
void fields(auto& a, maybe_const<goodbye> auto& x) {
  a(1, x.why);
  a(2, x.may_resume);
  a(3, x.restarted);
  a(4, x.address);
}
void fields(auto& a, maybe_const<waiting> auto& x) {
  a(1, x.request);
  a(2, x.text);
}
void fields(auto&, maybe_const<probe> auto&) {}
void fields(auto& a, maybe_const<freeze_request> auto& x) {
  a(1, x.agreement);
  a(2, x.in);
}
void fields(auto& a, maybe_const<sync_point> auto& x) {
  a(1, x.agreement);
  a(2, x.step);
}
void fields(auto& a, maybe_const<device_attribute> auto& x) {
  a(1, x.name);
  a(2, x.value);
}
void fields(auto& a, maybe_const<device> auto& x) {
  a(1, x.ordinal);
  a(2, x.name);
  a(3, x.vendor);
  a(4, x.kind);
  a(5, x.compute_capability);
  a(6, x.core_count);
  a(7, x.numa_node);
  a(8, x.fabric_uuid);
  a(9, x.memory_bytes);
  a(10, x.shared_memory_per_block_bytes);
  a(11, x.text);
  a(12, x.debug_text);
  a(13, x.attributes);
  a(14, x.partition);
  a(15, x.global_id);
}
void fields(auto& a, maybe_const<local_topology> auto& x) {
  a(1, x.boot_id);
  a(2, x.network_nodes);
  a(3, x.devices);
  a(4, x.partition_index);
}
void fields(auto& a, maybe_const<global_topology> auto& x) { a(1, x.tasks); }
void fields(auto& a, maybe_const<answer> auto& x) {
  a(1, x.outcome);
  a(2, x.value);
}
void fields(auto& a, maybe_const<outgoing> auto& x) {
  a(1, x.to);
  a(2, x.in_reply_to);
  a(3, x.what);
  a.check(x.what != nullptr, "a message is missing");
}

}  // namespace coxswain::core
