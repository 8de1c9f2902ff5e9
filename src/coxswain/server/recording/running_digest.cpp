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
// their numbers, which must stay as they are; a new field of an answer must be added here, unless
// it is one of those that do not count.
class content_digest {
 public:
  template <class... Fields>
  content_digest& add(Fields const&... fields) {
    (of(fields), ...);
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

  void of(failure const& f) { add(f.task, f.why); }
  void of(missing_task const& m) { add(m.task, m.state, m.suspect, m.last_heard, m.label, m.step); }
  void of(core::listing_answer::entry const& e) { add(e.key, e.value, e.version); }
  void of(core::key_change const& c) { add(c.key, c.version, c.value); }
  void of(core::task_progress const& p) { add(p.step, p.age, p.overdue); }
  void of(core::snapshot::task const& t) {
    add(t.id, t.state, t.suspect, t.self, t.last_heard, t.label, t.peer, t.error, t.recoverable,
        t.progress, t.returns_by);
  }
  void of(core::snapshot::barrier const& b) {
    using kind = core::snapshot::kind;
    bool const is_named = b.what != kind::join && b.what != kind::leave;
    add(b.what, b.round, b.arrived, b.expected, b.missing, b.missing_cut, b.age, b.remaining);
    if (is_named) of(b.name);
  }
  void of(core::snapshot::finished_round const& r) {
    add(r.number, r.name, r.round, r.at, r.tasks, r.outcome, r.spread, r.lag, r.last_task);
  }
  void of(core::snapshot::straggler const& s) {
    add(s.task, s.times_last, s.lag_mean, s.lag_max, s.of);
  }
  void of(core::alive_answer::task const& t) { add(t.id, t.self); }
  void of(core::event const& e) { add(e.level, e.kind, e.task, e.barrier); }
  void of(core::events_answer::entry const& e) {
    add(e.number, e.at, e.what, e.time, e.first, e.count, e.first_at, e.tasks, e.tasks_cut);
  }
  void of(core::device_attribute const& a) {
    add(a.name, a.value.index());
    std::visit([this](auto const& value) { of(value); }, a.value);
  }
  void of(core::device const& d) {
    add(d.ordinal, d.name, d.vendor, d.kind, d.compute_capability, d.core_count, d.numa_node,
        d.fabric_uuid, d.memory_bytes, d.shared_memory_per_block_bytes, d.text, d.debug_text,
        d.attributes, d.partition, d.global_id);
  }
  void of(core::local_topology const& t) {
    add(t.boot_id, t.network_nodes, t.devices, t.partition_index);
  }
  void of(core::why_answer::wait const& w) {
    add(w.what, w.name, w.waiting, w.cut, w.others, w.missing, w.age, w.remaining, w.stuck);
  }

  void of(std::monostate) { add(0); }
  void of(core::hello_answer const& a) {
    add(1, a.coordinator, a.session, a.num_tasks, a.heartbeat_period, a.heartbeat_timeout,
        a.reconnect_grace, a.frame_bytes_max, a.value_bytes_max, a.key_bytes_max,
        a.open_requests_max, a.open_requests_max_per_task, a.given, a.coordinator_return,
        a.hosted_by_task);
    if (a.restart_grace > 0s) add(a.restart_grace);  // older recordings have none
    if (a.term > 1) add(a.term);
    if (a.relayed) add(a.relayed);
  }
  void of(core::resume_answer const& a) {
    add(2, a.unknown);
    if (a.term > 1) add(a.term);
  }
  void of(core::join_answer const& a) {
    add(3, a.already_started);
    if (a.task) add(*a.task);
    if (a.epoch) add(*a.epoch);
  }
  void of(core::epoch_answer const& a) { add(26, a.number, a.size, a.rank, a.lost, a.joined); }
  void of(core::epoch_members_answer::member const& m) { add(m.name, m.self, m.survivor); }
  void of(core::epoch_members_answer const& a) { add(27, a.epoch, a.members); }
  void of(core::epoch_ends const& a) { add(28, a.epoch, a.why, a.joiners); }
  void of(core::barrier_answer const& a) { add(4, a.round, a.data); }
  void of(barrier_failure const& a) {
    add(5, a.round, a.arrived, a.expected, a.missing, a.missing_cut, a.known);
  }
  void of(core::value_answer const& a) { add(6, a.value, a.version); }
  void of(core::counter_answer const& a) { add(7, a.value, a.version); }
  void of(core::removed_answer const& a) { add(8, a.count, a.last); }
  void of(core::listing_answer const& a) { add(9, a.entries, a.version, a.more); }
  void of(boxed<core::snapshot> const& boxed_answer) {
    core::snapshot const& a = *boxed_answer;
    add(10, a.job, a.coordinator, a.uptime, a.tasks, a.barriers, a.error, a.keys, a.key_bytes,
        a.sessions, a.waiting_gets, a.memory_bytes_max, a.lateness_p99, a.lateness_max,
        a.deadlines_answered, a.queued_items, a.waiting_pops, a.waiting_key_watches, a.stuck_tasks,
        a.rounds, a.stragglers, a.next_task);
  }
  void of(core::goodbye const& a) { add(11, a.why, a.may_resume, a.restarted); }
  void of(job_error const& a) { add(12, a.cause, a.later, a.later_count); }
  void of(core::barrier_progress const& a) {
    add(13, a.request, a.round, a.arrived, a.expected, a.missing, a.missing_cut);
  }
  void of(core::probe const&) { add(14); }
  void of(core::freeze_request const& a) { add(15, a.agreement); }
  void of(core::sync_point const& a) { add(16, a.agreement, a.step); }
  void of(core::stored_answer const& a) {
    a.is_volatile ? add(17, a.version, true) : add(17, a.version);
  }
  void of(core::count_answer const& a) { add(18, a.count); }
  void of(core::key_changes_answer const& a) { add(19, a.changes, a.version); }
  void of(core::alive_answer const& a) { add(20, a.tasks); }
  void of(core::tasks_answer const& a) { add(21, a.version, a.tasks); }
  void of(core::events_answer const& a) { add(22, a.entries, a.through, a.lost); }
  void of(core::global_topology const& a) { add(23, a.tasks); }
  void of(core::why_answer const& a) { add(24, a.waits, a.more, !a.stuck.empty()); }
  void of(core::waiting const& a) { add(25, a.request); }

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
