#pragma once
// The rules that every history of a job must satisfy. Each adds its violations. Not here: how
// histories are made (job).

#include "tests/sim/everything/history.hpp"

#include <array>

namespace coxswain::sim {

// Each call ends once, in time, with an allowed outcome.
void check_completion(history const& h, violations& found);

// A round is released only when all have arrived, with the same result for all; likewise join and
// leave.
void check_rounds(history const& h, violations& found);
void check_count_barriers(history const& h, violations& found);
void check_meetings(history const& h, violations& found);

// A death is detected in time and reported to all live tasks; no task fails without a cause.
void check_failures(history const& h, violations& found);

// Each key is linearizable: versions order the changes, and a read sees the current value.
void check_keys(history const& h, violations& found);

// Watches of keys, tasks and events report everything, once and in order.
void check_watches(history const& h, violations& found);

// Each item goes to one consumer, in order, and none is lost. One that was taken is gone once it is
// finished, has one holder at a time, and returns to its place.
void check_queues(history const& h, violations& found);

// A lock has one owner, its tokens increase, and callers are served in order.
void check_locks(history const& h, violations& found);

// Alive queries return the live tasks; joins and leaves are visible.
void check_tasks(history const& h, violations& found);

// A number is given to one spare, not before its own process had time to come back, and then soon.
void check_spares(history const& h, violations& found);

// The epochs of an elastic job follow each other as promised, and only their members act.
void check_epochs(history const& h, violations& found);

// Processes become members in the right order, but not from machines that lose many.
void check_admission(history const& h, violations& found);

// Nobody joins a job that drains.
void check_drain(history const& h, violations& found);

// All tasks stop at the same step, and none passes it.
void check_preemption(history const& h, violations& found);

// All tasks get the same topology, in each epoch of an elastic job.
void check_topologies(history const& h, violations& found);

// Guests act for the tasks of their hosts exactly while granted.
void check_guests(history const& h, violations& found);

// A relay's end, stall or lost trunk costs its clients only time, and it reports no end of a
// process that lives.
void check_relays(history const& h, violations& found);

// Sessions resume within the grace after a restart of the coordinator, also if nothing has closed
// their connections.
void check_restarts(history const& h, violations& found);

struct rule {
  void (*check)(history const& h, violations& found);
  bool needs_sight{};  // relies on the auditor
  bool in_elastic{};   // does not rely on the numbers of tasks
};

inline constexpr std::array all_rules{
    rule{&check_completion, false, true}, rule{&check_rounds},
    rule{&check_count_barriers},          rule{&check_meetings, true},
    rule{&check_failures, true},          rule{&check_keys, true, true},
    rule{&check_watches, true, true},     rule{&check_queues, false, true},
    rule{&check_tasks, true, true},       rule{&check_preemption, false, true},
    rule{&check_topologies, false, true}, rule{&check_guests, true, true},
    rule{&check_locks, false, true},      rule{&check_spares, true},
    rule{&check_epochs, true, true},      rule{&check_admission, true, true},
    rule{&check_relays, false, true},     rule{&check_restarts, false, true},
    rule{&check_drain, false, true}};

}  // namespace coxswain::sim
