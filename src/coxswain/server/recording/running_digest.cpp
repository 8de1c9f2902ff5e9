#include "coxswain/server/recording/running_digest.hpp"

#include "coxswain/base/little_endian.hpp"

#include <bit>
#include <chrono>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace coxswain::server {
namespace {

void mix(std::uint64_t& state, std::uint64_t number) noexcept {
  state = (state ^ number) * 0x9e37'79b9'7f4a'7c15;
  state ^= state >> 32;
}

// The same on every machine and by every compiler. Kinds of answers and enumerators count with
// their numbers, which must stay as they are. Structured bindings name all fields of an answer, so
// that a new one is not forgotten; some do not count, such as texts, secrets and memory in use.
class content_digest {
 public:
  template <class... Fields>
  content_digest& add(Fields const&... fields) {
    (of(fields), ...);
    return *this;
  }

  // Fields that older recordings do not have count with their places, unless they are as then.
  template <class... Fields>
  content_digest& add_newer(Fields const&... fields) {
    std::uint64_t place = 0;
    ((++place, fields == Fields{} ? *this : add(place, fields)), ...);
    return *this;
  }

  [[nodiscard]] std::uint64_t value() const noexcept { return state_; }

 private:
  void of(std::integral auto number) { mix(state_, static_cast<std::uint64_t>(number)); }
  void of(float number) { of(std::bit_cast<std::uint32_t>(number)); }
  void of(duration d) { of(d.count()); }
  void of(wall_time t) { add(t.unix_ms, t.utc_offset_s); }
  void of(bytes const& value) { of(value.size()); }
  void of(status const& outcome) { of(outcome.code()); }

  template <class Enum>
  requires std::is_enum_v<Enum>
  void of(Enum one) { of(static_cast<std::underlying_type_t<Enum>>(one)); }

  template <class Tag, class Rep>
  void of(id<Tag, Rep> one) {
    of(one.value);
  }

  void of(std::string const& text) {
    of(text.size());
    std::string_view left{text};
    for (; left.size() >= number_bytes; left.remove_prefix(number_bytes)) {
      of(from_little_endian<std::uint64_t>(left.substr(0, number_bytes)));
    }
    for (char const rest : left) of(static_cast<unsigned char>(rest));
  }

  template <class T>
  void of(std::optional<T> const& one) {
    of(one.has_value());
    if (one) of(*one);
  }

  template <class T>
  void of(std::vector<T> const& all) {
    of(all.size());
    for (auto const& one : all) of(one);
  }

  void of(failure const& f) {
    auto const& [task, why, is_reported] = f;
    add(task, why).add_newer(is_reported);
  }
  void of(missing_task const& m) {
    auto const& [task, state, suspect, last_heard, label, waits_for, step] = m;
    add(task, state, suspect, last_heard, label, step);
  }
  void of(core::listing_answer::entry const& e) {
    auto const& [key, value, version] = e;
    add(key, value, version);
  }
  void of(core::key_change const& c) {
    auto const& [key, version, value] = c;
    add(key, version, value);
  }
  void of(core::task_progress const& p) {
    auto const& [step, age, overdue] = p;
    add(step, age, overdue);
  }
  void of(core::snapshot::task const& t) {
    auto const& [id, state, suspect, self, last_heard, label, peer, error, recoverable, progress,
                 returns_by] = t;
    add(id, state, suspect, self, last_heard, label, peer, error, recoverable, progress,
        returns_by);
  }
  void of(core::snapshot::barrier const& b) {
    using kind = core::snapshot::kind;
    auto const& [name, what, round, arrived, expected, missing, missing_cut, age, remaining] = b;
    bool const is_named = what != kind::join && what != kind::leave;
    add(what, round, arrived, expected, missing, missing_cut, age, remaining);
    if (is_named) of(name);
  }
  void of(core::snapshot::finished_round const& r) {
    auto const& [number, name, round, at, tasks, outcome, spread, lag, last_task] = r;
    add(number, name, round, at, tasks, outcome, spread, lag, last_task);
  }
  void of(core::snapshot::straggler const& s) {
    auto const& [task, times_last, lag_mean, lag_max, rounds] = s;
    add(task, times_last, lag_mean, lag_max, rounds);
  }
  void of(core::snapshot::spare const& s) {
    auto const& [member, label, peer, age, suspect] = s;
    add(member, label, peer, age, suspect);
  }
  void of(core::snapshot::relay const& r) {
    auto const& [label, peer, clients, clients_paused, at] = r;
    add(label, peer, clients, clients_paused, at);
  }
  void of(core::snapshot::lease const& l) {
    auto const& [queue, item, redeliveries, holder, at, expires] = l;
    add(queue, item, redeliveries, at, expires);
  }
  void of(core::snapshot::elastic_state const& e) {
    auto const& [epoch, tasks_min, tasks_max, tasks_wanted, ending, over, ready, age] = e;
    add(epoch, tasks_min, tasks_max, tasks_wanted, over, ready, age);
  }
  void of(core::alive_answer::task const& t) {
    auto const& [id, self] = t;
    add(id, self);
  }
  void of(core::event const& e) {
    auto const& [level, text, kind, task, barrier] = e;
    add(level, kind, task, barrier);
  }
  void of(core::events_answer::entry const& e) {
    auto const& [number, at, what, time, first, count, first_at, tasks, tasks_cut] = e;
    add(number, at, what, time, first, count, first_at, tasks, tasks_cut);
  }
  void of(core::device_attribute const& a) {
    auto const& [name, value] = a;
    add(name, value.index());
    std::visit([this](auto const& one) { of(one); }, value);
  }
  void of(core::device const& d) {
    auto const& [ordinal, name, vendor, kind, compute_capability, core_count, numa_node,
                 fabric_uuid, memory_bytes, shared_memory_per_block_bytes, text, debug_text,
                 attributes, partition, global_id] = d;
    add(ordinal, name, vendor, kind, compute_capability, core_count, numa_node, fabric_uuid,
        memory_bytes, shared_memory_per_block_bytes, text, debug_text, attributes, partition,
        global_id);
  }
  void of(core::local_topology const& t) {
    auto const& [boot_id, network_nodes, devices, partition_index] = t;
    add(boot_id, network_nodes, devices, partition_index);
  }
  void of(core::why_answer::wait const& w) {
    auto const& [what, name, waiting, cut, others, missing, age, remaining, stuck] = w;
    add(what, name, waiting, cut, others, missing, age, remaining, stuck);
  }

  void of(std::monostate) { add(0); }
  void of(core::hello_answer const& a) {
    auto const& [coordinator, version, session, secret, num_tasks, heartbeat_period,
                 heartbeat_timeout, reconnect_grace, frame_bytes_max, value_bytes_max,
                 key_bytes_max, open_requests_max, open_requests_max_per_task, given,
                 coordinator_return, restart_grace, hosted_by_task, term, relayed, suspect_after] =
        a;
    add(1, coordinator, session, num_tasks, heartbeat_period, heartbeat_timeout, reconnect_grace,
        frame_bytes_max, value_bytes_max, key_bytes_max, open_requests_max,
        open_requests_max_per_task, given, coordinator_return, hosted_by_task);
    add_newer(restart_grace, term > 1 ? term : 0, relayed, suspect_after);
  }
  void of(core::resume_answer const& a) {
    auto const& [unknown, term, suspect_after] = a;
    add(2, unknown).add_newer(term > 1 ? term : 0, suspect_after);
  }
  void of(core::join_answer const& a) {
    auto const& [already_started, task, epoch] = a;
    add(3, already_started).add_newer(task, epoch);
  }
  void of(core::epoch_answer const& a) {
    auto const& [number, size, rank, address, lost, joined] = a;
    add(26, number, size, rank, lost, joined);
  }
  void of(core::epoch_members_answer::member const& m) {
    auto const& [name, self, label, peer, survivor] = m;
    add(name, self, survivor);
  }
  void of(core::epoch_members_answer const& a) {
    auto const& [epoch, members, next_task] = a;
    add(27, epoch, members, next_task);
  }
  void of(core::epoch_ends const& a) {
    auto const& [epoch, why, text, joiners] = a;
    add(28, epoch, why, joiners);
  }
  void of(core::barrier_answer const& a) {
    auto const& [round, data] = a;
    add(4, round, data);
  }
  void of(barrier_failure const& a) {
    auto const& [round, arrived, expected, missing, missing_cut, known] = a;
    add(5, round, arrived, expected, missing, missing_cut, known);
  }
  void of(core::value_answer const& a) {
    auto const& [value, version, redeliveries] = a;
    add(6, value, version).add_newer(redeliveries);
  }
  void of(core::counter_answer const& a) {
    auto const& [value, version] = a;
    add(7, value, version);
  }
  void of(core::removed_answer const& a) {
    auto const& [count, last] = a;
    add(8, count, last);
  }
  void of(core::listing_answer const& a) {
    auto const& [entries, version, more] = a;
    add(9, entries, version, more);
  }
  void of(boxed<core::snapshot> const& boxed_answer) {
    // The core does not know the leader.
    auto const& [job, coordinator, version, uptime, tasks, barriers, more_barriers, error, keys,
                 key_bytes, sessions, waiting_gets, memory_bytes, memory_bytes_max, lateness_p99,
                 lateness_max, deadlines_answered, queued_items, waiting_pops, waiting_key_watches,
                 leased_items, locks_held, waiting_locks, stuck_tasks, rounds, stragglers,
                 next_task, leader, spares, spares_waiting, relays, more_relays, elastic, leases] =
        *boxed_answer;
    add(10, job, coordinator, uptime, tasks, barriers, error, keys, key_bytes, sessions,
        waiting_gets, memory_bytes_max, lateness_p99, lateness_max, deadlines_answered,
        queued_items, waiting_pops, waiting_key_watches, stuck_tasks, rounds, stragglers,
        next_task);
    add_newer(more_barriers, leased_items, locks_held, waiting_locks, spares, spares_waiting,
              relays, more_relays, elastic, leases);
  }
  void of(core::goodbye const& a) {
    auto const& [why, may_resume, restarted, address] = a;
    add(11, why, may_resume, restarted);
  }
  void of(job_error const& a) {
    auto const& [cause, later, later_count] = a;
    add(12, cause, later, later_count);
  }
  void of(core::barrier_progress const& a) {
    auto const& [request, round, arrived, expected, missing, missing_cut] = a;
    add(13, request, round, arrived, expected, missing, missing_cut);
  }
  void of(core::probe const&) { add(14); }
  void of(core::freeze_request const& a) {
    auto const& [agreement, in] = a;
    add(15, agreement);
  }
  void of(core::sync_point const& a) {
    auto const& [agreement, step] = a;
    add(16, agreement, step);
  }
  void of(core::stored_answer const& a) {
    auto const& [version, is_volatile] = a;
    add(17, version).add_newer(is_volatile);
  }
  void of(core::count_answer const& a) {
    auto const& [count] = a;
    add(18, count);
  }
  void of(core::key_changes_answer const& a) {
    auto const& [changes, version] = a;
    add(19, changes, version);
  }
  void of(core::alive_answer const& a) {
    auto const& [tasks] = a;
    add(20, tasks);
  }
  void of(core::tasks_answer const& a) {
    auto const& [version, tasks] = a;
    add(21, version, tasks);
  }
  void of(core::events_answer const& a) {
    auto const& [entries, through, lost] = a;
    add(22, entries, through, lost);
  }
  void of(core::global_topology const& a) {
    auto const& [tasks] = a;
    add(23, tasks);
  }
  void of(core::why_answer const& a) {
    auto const& [waits, more, stuck] = a;
    add(24, waits, more, !stuck.empty());
  }
  void of(core::waiting const& a) {
    auto const& [request, text] = a;
    add(25, request);
  }

  std::uint64_t state_{1};
};

std::uint64_t digest_of(core::answer const& a) {
  content_digest made;
  made.add(a.outcome);
  std::visit([&made](auto const& value) { made.add(value); }, a.value);
  return made.value();
}

// The highest bits depend on all that was mixed.
std::uint16_t shown(std::uint64_t state) { return static_cast<std::uint16_t>(state >> 48); }

}  // namespace

std::uint16_t running_digest::add(core::outgoing const& message) {
  if (message.what.get() != last_) {
    last_ = message.what.get();
    of_last_ = digest_of(*last_);
  }
  mix(state_, message.to.value);
  mix(state_, message.in_reply_to.value);
  mix(state_, of_last_);
  return shown(state_);
}

std::uint16_t running_digest::add(core::event const& what) {
  mix(state_, content_digest{}.add(what).value());
  return shown(state_);
}

}  // namespace coxswain::server
