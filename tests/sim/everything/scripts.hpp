#pragma once
// The scripts of a process of a simulated job, which run concurrently.

#include "coxswain/base/ids.hpp"
#include "tests/sim/script.hpp"

#include <cstdint>
#include <optional>

namespace coxswain::sim {

class actor;

// Joins, meets the others where it is planned, and leaves.
script do_everything(actor& me, task_id task);

// Holds the task while programs act for it, as `coxswain task` does.
script host_programs(actor& me, task_id task);

// Asks for this and that.
script run_errands(actor& me, std::optional<task_id> task);

// Follows the keys, the tasks and the events for a while.
script follow(actor& me);

// Goes from step to step, and stops where it was agreed.
script walk(actor& me, task_id task);

// A guest asks the coordinator about each step.
script walk_as_guest(actor& me, task_id task);

// Leaves at once with all tasks of the process.
script restart(actor& me, bool returning);

// Says how far the task is, and hears where it will stop.
script agree(actor& me, task_id task, std::uint64_t agreement, std::uint64_t step);

// Sees everything, from the beginning on.
script audit_keys(actor& me);
script audit_tasks(actor& me);
script audit_events(actor& me);

// Takes what is left in the queues, and removes all keys.
script clean_up(actor& me);

}  // namespace coxswain::sim
