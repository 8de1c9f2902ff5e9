#include "coxswain/server/dispatch/recorded_core.hpp"

#include <cstddef>
#include <new>

namespace coxswain::server {

using wire::record_kind;

namespace {

// The reserve that completes an operation when memory is exhausted: a fixed part, and one per task.
// jemalloc takes pages of their own from it for each size.
constexpr std::size_t reserve_bytes = 256 * 1024;
constexpr std::size_t reserve_bytes_per_task = 64;

record_kind recorded(core::loss how) noexcept {
  switch (how) {
    case core::loss::closed: return record_kind::closed;
    case core::loss::unreachable: return record_kind::unreachable;
    case core::loss::exited: return record_kind::exited;
    case core::loss::trunk_closed: break;
  }
  return record_kind::trunk_closed;
}

}  // namespace

recorded_core::recorded_core(options const& o, core_origin from)
    : journal_{from.log},
      recorder_{from.restored ? recorder{o, from.restored->head, from.restored->started,
                                         from.restored->inputs, *from.log}
                              : recorder{o, from.self, from.now, from.log}},
      core_{from.restored ? std::move(from.restored->logic)
                          : core::coordinator{o.core, from.self, from.now}},
      for_requests_{reserve_bytes + reserve_bytes_per_task * o.core.num_tasks},
      for_ends_{reserve_bytes + reserve_bytes_per_task * o.core.num_tasks} {}

memory_reserve::use recorded_core::beginning() {
  if (!for_requests_.refill()) throw std::bad_alloc{};
  return memory_reserve::use{&for_requests_};
}

memory_reserve::use recorded_core::completing() {
  for_ends_.refill();
  return memory_reserve::use{&for_ends_};
}

connection_id recorded_core::connected(time_point now, std::string peer,
                                       core::session_secret const& secret) {
  auto const id = core_.connected(now, peer, secret);
  try {
    recorder_.write_connected(now, id, peer, secret);
  } catch (std::bad_alloc const&) {
    auto const guard = completing();
    lost(now, id, core::loss::closed);
    throw;
  }
  return id;
}

// In replies about the whole job.
void recorded_core::show_leader(time_point now, std::vector<core::outgoing>& in) const {
  for (auto& input : in) {
    auto const* const picture = std::get_if<boxed<core::snapshot>>(&input.what->value);
    if (picture == nullptr || (*picture)->coordinator == incarnation{}) continue;
    boxed<core::snapshot> shown{*picture};
    shown->leader = journal_->leader(now);
    input.what = core::make_ok_answer(std::move(shown));
  }
}

void recorded_core::malformed(time_point now, connection_id from, std::string why) {
  recorder_.write(now, record_kind::malformed, from, why);
  core_.malformed(now, from, std::move(why));
}

void recorded_core::lost(time_point now, connection_id from, core::loss how) {
  recorder_.write(now, recorded(how), from);
  core_.lost(now, from, how);
}

void recorded_core::write_blocked(time_point now, connection_id to) {
  recorder_.write(now, record_kind::write_blocked, to);
  core_.write_blocked(now, to);
}

void recorded_core::write_progressed(time_point now, connection_id to) {
  recorder_.write(now, record_kind::write_progressed, to);
  core_.write_progressed(now, to);
}

void recorded_core::reading_paused(time_point now, connection_id from) {
  recorder_.write(now, record_kind::reading_paused, from);
  core_.reading_paused(now, from);
}

void recorded_core::reading_resumed(time_point now, connection_id from) {
  recorder_.write(now, record_kind::reading_resumed, from);
  core_.reading_resumed(now, from);
}

status recorded_core::put_in(time_point now, core::owner_input what) {
  recorder_.write(now, what);
  return core_.put_in(now, std::move(what));
}

void recorded_core::advance(time_point now) {
  recorder_.write(now, record_kind::advanced);
  core_.advance(now);
}

void recorded_core::take_events(time_point now, std::vector<core::event>& into) {
  core_.take_events(into);
  for (auto const& event : into) recorder_.write_event(now, event);
}

}  // namespace coxswain::server
