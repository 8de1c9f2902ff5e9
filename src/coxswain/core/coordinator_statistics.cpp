// What is counted for those who operate the coordinator.

#include "coxswain/core/state.hpp"

namespace coxswain::core {

void coordinator::state::note_lateness(duration late) {
  lateness_.record(late);
  tally.lateness.record(late);
}

operation coordinator::state::operation_at(parked::place where) {
  switch (where) {
    case parked::place::key: return operation_of<get_args>;
    case parked::place::barrier: return operation_of<barrier_args>;
    case parked::place::count_barrier: return operation_of<count_barrier_args>;
    case parked::place::join: return operation_of<join_args>;
    case parked::place::leave: return operation_of<leave_args>;
    case parked::place::keys: return operation_of<get_all_args>;
    case parked::place::queue: return operation_of<pop_args>;
    case parked::place::key_changes: return operation_of<watch_keys_args>;
    case parked::place::sync_point:
    case parked::place::preemption: return operation_of<frozen_args>;
    case parked::place::alive: return operation_of<alive_args>;
    case parked::place::tasks: return operation_of<watch_tasks_args>;
    case parked::place::events: return operation_of<watch_events_args>;
    case parked::place::topology: return operation_of<exchange_topology_args>;
  }
  return unknown_operation;
}

// A parked call knows since when it waits, so an arrival has nothing to note.
void coordinator::state::note_round(time_point now, barriers::barrier const& b, errc outcome,
                                    std::vector<ticket> const& in_order) {
  tally.count_round(outcome, now - b.round.opened());
  snapshot::finished_round over;
  over.round = b.number;
  over.at = now - started_;
  over.tasks = b.round.expected().size();
  over.outcome = outcome;
  if (in_order.size() > 1) {
    auto const call_of = [&](ticket who) -> parked const& { return *sessions_.parked_at(who); };
    parked const& last = call_of(in_order.back());
    over.spread = last.since - call_of(in_order.front()).since;
    // Of an even number the earlier one in the middle: if half of them are late, that half is.
    over.lag = last.since - call_of(in_order[(in_order.size() - 1) / 2]).since;
    if (outcome == errc::ok) over.last_task = last.task;
  }
  rounds_.add(b.name, std::move(over));
}

}  // namespace coxswain::core
