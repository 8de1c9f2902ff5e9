#pragma once
// The scripts of a process of a simulated job, which run concurrently.

#include "coxswain/base/ids.hpp"
#include "tests/sim/script.hpp"

#include <cstdint>
#include <optional>

namespace coxswain::sim {

class actor;

// Joins, takes part in the planned meetings, and leaves.
script do_everything(actor& me, task_id task);

// What it does once it has joined.
script take_part(actor& me, task_id task);

// The same as any task, or none: it waits for a number for a while.
script be_spare(actor& me);

// A member of an elastic job, or a guest of one, epoch after epoch. It leaves with the others in
// the end.
script be_member(actor& me);

// A member whose guest acts for it, like `coxswain task`.
script host_guest(actor& me);

// Reports step after step, in all epochs of a member, and stops at the agreed ones.
script walk_as_member(actor& me);

// A member leaves at once.
script leave_alone(actor& me);

// Hosts the task while guests act for it, like `coxswain task`.
script host_programs(actor& me, task_id task);

// Makes random requests.
script run_side_script(actor& me, std::optional<task_id> task);

// Watches keys, tasks and events for a while.
script follow(actor& me);

// Reports step after step, and stops at the agreed one.
script walk(actor& me, task_id task);

// A guest asks the coordinator about each step.
script walk_as_guest(actor& me, task_id task);

// Leaves at once with all tasks of the process.
script restart(actor& me, bool returning);

// Reports the task's step, and gets the agreed one.
script agree(actor& me, task_id task, std::uint64_t agreement, std::uint64_t step);

// Observes everything from the start.
script audit_keys(actor& me);
script audit_tasks(actor& me);
script audit_members(actor& me);
script audit_events(actor& me);

// Pops all remaining items and removes all keys.
script clean_up(actor& me);

}  // namespace coxswain::sim
