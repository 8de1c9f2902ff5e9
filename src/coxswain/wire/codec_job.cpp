// Joining, and the state of the job: states, outcomes, failures and the snapshot <-> v1::JobStatus.

#include "coxswain/wire/codec_fields.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::wire {

// The enumerations are the same on both sides, by number.
static_assert(static_cast<int>(task_state::never_connected) == v1::NEVER_CONNECTED);
static_assert(static_cast<int>(task_state::joining) == v1::JOINING);
static_assert(static_cast<int>(task_state::connected) == v1::CONNECTED);
static_assert(static_cast<int>(task_state::failed) == v1::FAILED);
static_assert(static_cast<int>(task_state::left) == v1::LEFT);
static_assert(static_cast<int>(task_state::returning) == v1::RETURNING);
static_assert(static_cast<int>(core::snapshot::kind::tasks) == v1::JobStatus::TASKS);
static_assert(static_cast<int>(core::snapshot::kind::count) == v1::JobStatus::COUNT);
static_assert(static_cast<int>(core::snapshot::kind::join) == v1::JobStatus::JOIN);
static_assert(static_cast<int>(core::snapshot::kind::leave) == v1::JobStatus::LEAVE);
static_assert(static_cast<int>(core::snapshot::kind::topology) == v1::JobStatus::TOPOLOGY);

v1::TaskState encode(task_state from) { return static_cast<v1::TaskState>(from); }

task_state decode(v1::TaskState from) {
  return v1::TaskState_IsValid(from) ? static_cast<task_state>(from) : task_state::never_connected;
}

void encode(status const& from, v1::Status& to) {
  to.set_code(static_cast<std::uint32_t>(from.code()));
  to.set_message(text(from.message()));
}

status decode(v1::Status& from) {
  return from.code() == 0 ? status{}
                          : status{errc_of(from.code()), std::move(*from.mutable_message())};
}

namespace {

// The overloads of codec_fields.hpp, which those below would hide.
using wire::decode;
using wire::encode;

v1::JobStatus::Kind encode(core::snapshot::kind from) {
  return static_cast<v1::JobStatus::Kind>(from);
}

core::snapshot::kind decode(v1::JobStatus::Kind from) {
  return v1::JobStatus::Kind_IsValid(from) ? static_cast<core::snapshot::kind>(from)
                                           : core::snapshot::kind::tasks;
}

void encode(failure const& from, v1::JobError::Failure& to) {
  if (from.task) to.set_task(from.task->value);
  if (!from.why.ok()) encode(from.why, *to.mutable_status());
  to.set_is_reported(from.is_reported);
}

failure decode(v1::JobError::Failure& from) {
  failure to;
  if (from.has_task()) to.task = task_id{from.task()};
  if (from.has_status()) to.why = decode(*from.mutable_status());
  to.is_reported = from.is_reported();
  return to;
}

void encode(core::snapshot::barrier const& from, v1::JobStatus::OpenBarrier& to) {
  to.set_name(from.name);
  to.set_kind(encode(from.what));
  to.set_round(from.round.value);
  to.set_arrived(from.arrived);
  to.set_expected(from.expected);
  to.set_missing(text(from.missing));
  to.set_missing_cut(from.missing_cut);
  to.set_age_ms(to_milliseconds(from.age));
  if (from.remaining) to.set_remaining_ms(to_milliseconds(*from.remaining));
}

core::snapshot::barrier decode(v1::JobStatus::OpenBarrier& from) {
  core::snapshot::barrier to;
  to.name = std::move(*from.mutable_name());
  to.what = decode(from.kind());
  to.round = round_number{from.round()};
  to.arrived = from.arrived();
  to.expected = from.expected();
  to.missing = std::move(*from.mutable_missing());
  to.missing_cut = from.missing_cut();
  to.age = from_milliseconds(from.age_ms());
  if (from.has_remaining_ms()) to.remaining = from_milliseconds(from.remaining_ms());
  return to;
}

void encode(core::snapshot::finished_round const& from, v1::JobStatus::FinishedRound& to) {
  to.set_number(from.number);
  to.set_name(from.name);
  to.set_round(from.round.value);
  to.set_at_ms(to_milliseconds(from.at));
  to.set_tasks(from.tasks);
  to.set_outcome(static_cast<std::uint32_t>(from.outcome));
  to.set_spread_us(to_microseconds(from.spread));
  to.set_lag_us(to_microseconds(from.lag));
  if (from.last_task) to.set_last_task(from.last_task->value);
}

core::snapshot::finished_round decode(v1::JobStatus::FinishedRound& from) {
  core::snapshot::finished_round to;
  to.number = from.number();
  to.name = std::move(*from.mutable_name());
  to.round = round_number{from.round()};
  to.at = from_milliseconds(from.at_ms());
  to.tasks = from.tasks();
  to.outcome = errc_of(from.outcome());
  to.spread = from_microseconds(from.spread_us());
  to.lag = from_microseconds(from.lag_us());
  if (from.has_last_task()) to.last_task = task_id{from.last_task()};
  return to;
}

void encode(core::snapshot::straggler const& from, v1::JobStatus::Straggler& to) {
  to.set_task(from.task.value);
  to.set_times_last(from.times_last);
  to.set_lag_mean_us(to_microseconds(from.lag_mean));
  to.set_lag_max_us(to_microseconds(from.lag_max));
  to.set_of(from.of);
}

core::snapshot::straggler decode(v1::JobStatus::Straggler& from) {
  core::snapshot::straggler to;
  to.task = task_id{from.task()};
  to.times_last = from.times_last();
  to.lag_mean = from_microseconds(from.lag_mean_us());
  to.lag_max = from_microseconds(from.lag_max_us());
  to.of = from.of();
  return to;
}

}  // namespace

void encode(core::snapshot::task const& from, v1::JobStatus::Task& to) {
  to.set_task(from.id.value);
  to.set_state(encode(from.state));
  to.set_suspect(from.suspect);
  to.set_incarnation(from.self.value);
  if (from.last_heard) to.set_last_heard_ms_ago(to_milliseconds(*from.last_heard));
  to.set_label(text(from.label));
  to.set_peer(text(from.peer));
  if (!from.error.ok()) encode(from.error, *to.mutable_error());
  to.set_recoverable(from.recoverable);
  if (from.returns_by) {
    to.set_returns_by_unix_ms(from.returns_by->unix_ms);
    to.set_utc_offset_s(from.returns_by->utc_offset_s);
  }
  if (!from.progress) return;
  to.mutable_progress()->set_step(from.progress->step);
  to.mutable_progress()->set_age_ms(to_milliseconds(from.progress->age));
  to.mutable_progress()->set_overdue(from.progress->overdue);
}

core::snapshot::task decode(v1::JobStatus::Task& from) {
  core::snapshot::task to;
  to.id = task_id{from.task()};
  to.state = decode(from.state());
  to.suspect = from.suspect();
  to.self = incarnation{from.incarnation()};
  if (from.has_last_heard_ms_ago()) to.last_heard = from_milliseconds(from.last_heard_ms_ago());
  to.label = std::move(*from.mutable_label());
  to.peer = std::move(*from.mutable_peer());
  if (from.has_error()) to.error = decode(*from.mutable_error());
  to.recoverable = from.recoverable();
  if (from.has_returns_by_unix_ms()) {
    to.returns_by = {from.returns_by_unix_ms(), from.utc_offset_s()};
  }
  if (from.has_progress()) {
    to.progress = {from.progress().step(), from_milliseconds(from.progress().age_ms()),
                   from.progress().overdue()};
  }
  return to;
}

void encode(job_error const& from, v1::JobError& to) {
  encode(from.cause, *to.mutable_cause());
  for (auto const& later : from.later) encode(later, *to.add_later());
  to.set_later_count(from.later_count);
}

job_error decode(v1::JobError& from) {
  job_error to;
  to.cause = decode(*from.mutable_cause());
  for (auto& later : *from.mutable_later()) to.later.push_back(decode(later));
  to.later_count = std::max<std::uint64_t>(from.later_count(), to.later.size());
  return to;
}

void encode(core::snapshot::leadership const& from, v1::JobStatus::Leader& to) {
  to.set_address(text(from.address));
  to.set_term(from.term);
  to.set_lag_entries(from.lag_entries);
  to.set_lag_bytes(from.lag_bytes);
  to.set_lag_ms(to_milliseconds(from.lag));
}

core::snapshot::leadership decode(v1::JobStatus::Leader& from) {
  return {std::move(*from.mutable_address()), from.term(), from.lag_entries(), from.lag_bytes(),
          from_milliseconds(from.lag_ms())};
}

void encode(core::snapshot::spare const& from, v1::JobStatus::Spare& to) {
  to.set_member(from.member);
  to.set_label(text(from.label));
  to.set_peer(text(from.peer));
  to.set_age_ms(to_milliseconds(from.age));
  to.set_suspect(from.suspect);
}

core::snapshot::spare decode(v1::JobStatus::Spare& from) {
  return {std::move(*from.mutable_member()), std::move(*from.mutable_label()),
          std::move(*from.mutable_peer()), from_milliseconds(from.age_ms()), from.suspect()};
}

void encode(core::snapshot::relay const& from, v1::JobStatus::Relay& to) {
  to.set_label(text(from.label));
  to.set_peer(text(from.peer));
  to.set_clients(from.clients);
  to.set_clients_paused(from.clients_paused);
  to.set_at_ms(to_milliseconds(from.at));
}

core::snapshot::relay decode(v1::JobStatus::Relay& from) {
  return {std::move(*from.mutable_label()), std::move(*from.mutable_peer()), from.clients(),
          from.clients_paused(), from_milliseconds(from.at_ms())};
}

void encode(core::snapshot::lease const& from, v1::JobStatus::Lease& to) {
  to.set_queue(from.queue);
  to.set_item(from.item);
  to.set_redeliveries(from.redeliveries);
  to.set_holder(text(from.holder));
  to.set_at_ms(to_milliseconds(from.at));
  if (from.expires) to.set_expires_ms(to_milliseconds(*from.expires));
}

core::snapshot::lease decode(v1::JobStatus::Lease& from) {
  core::snapshot::lease to{std::move(*from.mutable_queue()),
                           from.item(),
                           from.redeliveries(),
                           std::move(*from.mutable_holder()),
                           from_milliseconds(from.at_ms()),
                           {}};
  if (from.has_expires_ms()) to.expires = from_milliseconds(from.expires_ms());
  return to;
}

void encode(core::snapshot::elastic_state const& from, v1::JobStatus::ElasticState& to) {
  to.set_epoch(from.epoch);
  to.set_tasks_min(from.tasks_min);
  to.set_tasks_max(from.tasks_max);
  to.set_tasks_wanted(from.tasks_wanted);
  to.set_ending(text(from.ending));
  to.set_over(from.over);
  to.set_ready(from.ready);
  to.set_age_ms(to_milliseconds(from.age));
}

core::snapshot::elastic_state decode(v1::JobStatus::ElasticState& from) {
  return {from.epoch(),
          from.tasks_min(),
          from.tasks_max(),
          from.tasks_wanted(),
          std::move(*from.mutable_ending()),
          from.over(),
          from.ready(),
          from_milliseconds(from.age_ms())};
}

void encode(core::snapshot const& from, v1::JobStatus& to) {
  to.set_job(text(from.job));
  to.set_coordinator_incarnation(from.coordinator.value);
  to.set_version(text(from.version));
  to.set_uptime_ms(to_milliseconds(from.uptime));
  for (auto const& task : from.tasks) encode(task, *to.add_tasks());
  for (auto const& barrier : from.barriers) encode(barrier, *to.add_barriers());
  to.set_more_barriers(from.more_barriers);
  if (from.error) encode(*from.error, *to.mutable_error());
  to.set_keys(from.keys);
  to.set_key_bytes(from.key_bytes);
  to.set_sessions(from.sessions);
  to.set_waiting_gets(from.waiting_gets);
  to.set_memory_bytes(from.memory_bytes);
  to.set_memory_bytes_max(from.memory_bytes_max);
  to.set_lateness_p99_us(to_microseconds(from.lateness_p99));
  to.set_lateness_max_us(to_microseconds(from.lateness_max));
  to.set_deadlines_answered(from.deadlines_answered);
  to.set_queued_items(from.queued_items);
  to.set_waiting_pops(from.waiting_pops);
  to.set_waiting_key_watches(from.waiting_key_watches);
  to.set_locks_held(from.locks_held);
  to.set_waiting_locks(from.waiting_locks);
  to.set_stuck_tasks(from.stuck_tasks);
  for (auto const& round : from.rounds) encode(round, *to.add_rounds());
  for (auto const& straggler : from.stragglers) encode(straggler, *to.add_stragglers());
  if (from.next_task) to.set_next_task(from.next_task->value);
  if (from.leader) encode(*from.leader, *to.mutable_leader());
  for (auto const& spare : from.spares) encode(spare, *to.add_spares());
  to.set_spares_waiting(from.spares_waiting);
  if (from.elastic) encode(*from.elastic, *to.mutable_elastic());
  for (auto const& relay : from.relays) encode(relay, *to.add_relays());
  to.set_more_relays(from.more_relays);
  to.set_leased_items(from.leased_items);
  for (auto const& lease : from.leases) encode(lease, *to.add_leases());
}

core::snapshot decode(v1::JobStatus& from) {
  core::snapshot to;
  to.job = std::move(*from.mutable_job());
  to.coordinator = incarnation{from.coordinator_incarnation()};
  to.version = std::move(*from.mutable_version());
  to.uptime = from_milliseconds(from.uptime_ms());
  for (auto& task : *from.mutable_tasks()) to.tasks.push_back(decode(task));
  for (auto& barrier : *from.mutable_barriers()) to.barriers.push_back(decode(barrier));
  to.more_barriers = from.more_barriers();
  if (from.has_error()) to.error = decode(*from.mutable_error());
  to.keys = from.keys();
  to.key_bytes = from.key_bytes();
  to.sessions = from.sessions();
  to.waiting_gets = from.waiting_gets();
  to.memory_bytes = from.memory_bytes();
  to.memory_bytes_max = from.memory_bytes_max();
  to.lateness_p99 = from_microseconds(from.lateness_p99_us());
  to.lateness_max = from_microseconds(from.lateness_max_us());
  to.deadlines_answered = from.deadlines_answered();
  to.queued_items = from.queued_items();
  to.waiting_pops = from.waiting_pops();
  to.waiting_key_watches = from.waiting_key_watches();
  to.locks_held = from.locks_held();
  to.waiting_locks = from.waiting_locks();
  to.stuck_tasks = from.stuck_tasks();
  for (auto& round : *from.mutable_rounds()) to.rounds.push_back(decode(round));
  for (auto& straggler : *from.mutable_stragglers()) to.stragglers.push_back(decode(straggler));
  if (from.has_next_task()) to.next_task = task_id{from.next_task()};
  if (from.has_leader()) to.leader = decode(*from.mutable_leader());
  for (auto& spare : *from.mutable_spares()) to.spares.push_back(decode(spare));
  to.spares_waiting = from.spares_waiting();
  if (from.has_elastic()) to.elastic = decode(*from.mutable_elastic());
  for (auto& relay : *from.mutable_relays()) to.relays.push_back(decode(relay));
  to.more_relays = from.more_relays();
  to.leased_items = from.leased_items();
  for (auto& lease : *from.mutable_leases()) to.leases.push_back(decode(lease));
  return to;
}

void encode(core::join_args const& from, v1::ClientMessage& message) {
  auto& to = *message.mutable_join();
  to.set_incarnation(from.self.value);
  to.set_timeout_ms(timeout_to_wire(from.timeout));
  if (from.recoverable) to.set_recoverable(*from.recoverable);
  to.set_take_over(from.take_over);
  to.set_any(from.any);
  to.set_member(from.member);
  for (auto const& part : from.placement) to.add_placement(part);
  to.set_with_hello(from.with_hello);
  to.set_is_jax(from.is_jax);
}

core::join_args decode(v1::Join& from) {
  core::join_args to;
  to.self = incarnation{from.incarnation()};
  to.timeout = timeout_of(from, from.any() ? without_limit : core::timeout_default);
  if (from.has_recoverable()) to.recoverable = from.recoverable();
  to.take_over = from.take_over();
  to.any = from.any();
  to.member = std::move(*from.mutable_member());
  for (auto& part : *from.mutable_placement()) to.placement.push_back(std::move(part));
  to.with_hello = from.with_hello();
  to.is_jax = from.is_jax();
  return to;
}

}  // namespace coxswain::wire
