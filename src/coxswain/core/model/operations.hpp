#pragma once
// The rows of all requests (operation_of), in the order of `request`. Their numbers, names and
// fields are in their records (records.hpp).

#include "coxswain/core/model/messages.hpp"
#include "coxswain/core/model/operation.hpp"
#include "coxswain/core/model/records.hpp"

#include <cstddef>
#include <variant>

namespace coxswain::core {

template <>
inline constexpr auto operation_of<std::monostate> = row({"heartbeat", "send heartbeats",
                                                          role::reader, trait::of_session,
                                                          "Keeps the session alive."});

template <>
inline constexpr auto operation_of<hello_args> = row<boxed<hello_answer>>(
    {"hello", "say hello", role::reader, trait::of_session, "Opens a session."});

template <>
inline constexpr auto operation_of<resume_args> = row<resume_answer>(
    {"resume", "resume", role::reader, trait::of_session, "Moves the session to a new connection."},
    &resume_answer::unknown);

template <>
inline constexpr auto operation_of<bye_args> = row({"bye", "say bye", role::reader,
                                                    trait::of_session, "Ends the session."});

template <>
inline constexpr auto operation_of<cancel_args> =
    row({"cancel", "cancel", role::reader, trait::of_session,
         "Cancels an open request whose caller no longer waits."});

template <>
inline constexpr auto operation_of<ask_waiting_args> =
    row<waiting>({"ask_waiting", "ask what its own calls wait for", role::reader, trait::of_session,
                  "Asks what an open request waits for."},
                 &waiting::text);

template <>
inline constexpr auto operation_of<join_args> = row<join_answer>(
    {"join", "join", role::worker, trait::of_task | trait::takes_task,
     "Joins the job and waits until all tasks have; returns whether the job had started before."},
    &join_answer::already_started);

template <>
inline constexpr auto operation_of<leave_args> =
    row({"leave", "leave", role::worker, trait::of_epoch | trait::of_task,
         "Leaves the job, waits until all tasks leave, and ends the session."});

template <>
inline constexpr auto operation_of<report_error_args> = row({"report of an error", "report errors",
                                                             role::worker, trait::of_task,
                                                             "Declares this task failed."});

template <>
inline constexpr auto operation_of<barrier_args> = row<barrier_answer>(
    {"barrier", "wait at barriers", role::worker,
     trait::needs_memory | trait::together | trait::of_epoch | trait::of_task,
     "Waits until all participants have called; returns the number of the round."},
    &barrier_answer::round);

template <>
inline constexpr auto operation_of<cancel_barrier_args> =
    row({"cancelling of barrier", "cancel barriers", role::operator_, 0,
         "Ends the open round of a barrier for all callers."});

template <>
inline constexpr auto operation_of<count_barrier_args> = row<barrier_answer>(
    {"count barrier", "wait at count barriers", role::operator_,
     trait::needs_memory | trait::together | trait::of_epoch,
     "Waits until `count` such calls are open; returns the number of the round."},
    &barrier_answer::round);

template <>
inline constexpr auto operation_of<put_args> = row<stored_answer>(
    {"put of key", "put keys", role::operator_, trait::stores | trait::produces,
     "Stores a value and wakes calls that wait for the key; returns the key's new version."},
    &stored_answer::version);

template <>
inline constexpr auto operation_of<get_args> = row<value_answer>(
    {"get of key", "get keys", role::reader, trait::needs_memory | trait::of_epoch,
     "Waits until the key has a value, and returns it."},
    &value_answer::value);

template <>
inline constexpr auto operation_of<try_get_args> = row<value_answer>(
    {"try_get of key", "get keys", role::reader, 0, "Returns the key's value now, if it has one."},
    &value_answer::value);

template <>
inline constexpr auto operation_of<list_args> =
    row<listing_answer>({"list of directory", "list keys", role::reader, 0,
                         "Returns all keys below a directory, at any depth, with their values."},
                        &listing_answer::entries);

template <>
inline constexpr auto operation_of<remove_args> =
    row<removed_answer>({"removal of key", "remove keys", role::operator_, 0,
                         "Removes the key and nothing below it; returns whether it was there."},
                        &removed_answer::count);

template <>
inline constexpr auto operation_of<remove_tree_args> = row<removed_answer>(
    {"removal of directory", "remove keys", role::operator_, 0,
     "Removes everything below a directory, and the key equal to it; returns how many keys."},
    &removed_answer::count);

template <>
inline constexpr auto operation_of<increment_args> = row<counter_answer>(
    {"increment of key", "increment keys", role::operator_, trait::needs_memory | trait::produces,
     "Adds to a decimal counter, zero if the key is missing; returns the sum."},
    &counter_answer::value);

template <>
inline constexpr auto operation_of<inspect_args> = row<boxed<snapshot>>(
    {"inspect", "look at the job", role::reader, 0, "Returns a snapshot of the whole job."});

template <>
inline constexpr auto operation_of<preempt_args> =
    row({"notice of a preemption", "preempt tasks", role::operator_, 0,
         "Announces that a task will be preempted, so that all tasks stop together at one step."});

template <>
inline constexpr auto operation_of<frozen_args> = row<sync_point>(
    {"agreement on a step", "agree on a step", role::worker, trait::of_epoch | trait::of_task,
     "Tells the step that a task has reached in an agreement."},
    &sync_point::step);

template <>
inline constexpr auto operation_of<reset_args> =
    row({"reset", "reset tasks", role::worker, trait::of_task | trait::takes_task,
         "Clears the error of this recoverable task, so that it may join again."});

template <>
inline constexpr auto operation_of<compare_and_set_args> = row<stored_answer>(
    {"compare_and_set of key", "compare and set keys", role::operator_,
     trait::stores | trait::produces,
     "Stores a value if the key is as expected; else returns its present state."},
    &stored_answer::version);

template <>
inline constexpr auto operation_of<append_args> = row<stored_answer>(
    {"append to key", "append to keys", role::operator_, trait::stores | trait::produces,
     "Adds to the end of a value, empty if the key is missing; returns the key's new version."},
    &stored_answer::version);

template <>
inline constexpr auto operation_of<get_all_args> =
    row<listing_answer>({"get", "get keys", role::reader, trait::needs_memory | trait::of_epoch,
                         "Waits until all keys have a value, and returns these."},
                        &listing_answer::entries);

template <>
inline constexpr auto operation_of<put_all_args> =
    row<stored_answer>({"put", "put keys", role::operator_, trait::stores | trait::produces,
                        "Stores all values, or none of them; returns the version of the last."},
                       &stored_answer::version);

template <>
inline constexpr auto operation_of<count_keys_args> =
    row<count_answer>({"count of directory", "count keys", role::reader, 0,
                       "Returns the number of keys below a directory, at any depth."},
                      &count_answer::count);

template <>
inline constexpr auto operation_of<push_args> = row<count_answer>(
    {"push to queue", "push to queues", role::operator_, trait::stores | trait::produces,
     "Adds an item at the end of a queue; returns the number of items then in it."},
    &count_answer::count);

template <>
inline constexpr auto operation_of<pop_args> = row<value_answer>(
    {"pop of queue", "pop from queues", role::operator_, trait::of_epoch | trait::idles,
     "Takes the first item of a queue, and waits for one if there is none."});

template <>
inline constexpr auto operation_of<watch_keys_args> = row<key_changes_answer>(
    {"watch of directory", "watch keys", role::reader, trait::needs_memory | trait::watches,
     "Returns the changes below a directory since a version, as soon as there are any."});

template <>
inline constexpr auto operation_of<alive_args> = row<alive_answer>(
    {"alive query", "ask who is alive", role::reader,
     trait::needs_memory | trait::together | trait::of_epoch | trait::of_task,
     "Returns which of these tasks are alive, the same list to all callers.", "alive"},
    &alive_answer::tasks);

template <>
inline constexpr auto operation_of<watch_tasks_args> = row<tasks_answer>(
    {"watch of the tasks", "watch tasks", role::reader, trait::needs_memory | trait::watches,
     "Returns all tasks, as soon as they differ from a version."});

template <>
inline constexpr auto operation_of<watch_events_args> = row<events_answer>(
    {"watch of the events", "watch events", role::reader, trait::needs_memory | trait::watches,
     "Returns the coordinator's events since a number, as soon as there are any."});

template <>
inline constexpr auto operation_of<exchange_topology_args> =
    row<global_topology>({"topology exchange", "exchange topologies", role::worker,
                          trait::needs_memory | trait::together | trait::of_epoch | trait::of_task,
                          "Contributes this task's devices; returns those of all tasks."});

template <>
inline constexpr auto operation_of<report_progress_args> =
    row({"report of progress", "report progress", role::worker, trait::of_task,
         "Reports the step that this task has reached."});

template <>
inline constexpr auto operation_of<why_args> =
    row<why_answer>({"why", "ask who waits for what", role::reader, 0,
                     "Returns every waiting call, and the tasks that are deadlocked."});

template <>
inline constexpr auto operation_of<stacks_args> =
    row<stacks_answer>({"stacks", "take the stacks of processes", role::operator_, 0,
                        "Takes the stacks of the processes that others have waited for at least 10 "
                        "s, or returns them."});

template <>
inline constexpr auto operation_of<report_stack_args> =
    row({"report of a stack", "report stacks", role::reader, 0,
         "Reports the stack of a process that this client was asked for."});

template <>
inline constexpr auto operation_of<grant_args> = row({"a grant", "let programs act for a task",
                                                      role::worker, trait::of_task,
                                                      "Lets other programs act for this task."});

template <>
inline constexpr auto operation_of<lock_args> =
    row<stored_answer>({"lock", "lock", role::operator_, trait::needs_memory | trait::of_epoch,
                        "Waits until a lock is free and takes it; returns its token."},
                       &stored_answer::version);

template <>
inline constexpr auto operation_of<try_lock_args> =
    row<stored_answer>({"try_lock", "lock", role::operator_, trait::needs_memory,
                        "Takes a lock if it is free; returns its token."},
                       &stored_answer::version);

template <>
inline constexpr auto operation_of<unlock_args> =
    row({"unlock", "unlock", role::operator_, 0,
         "Releases a lock to the call that has waited longest."});

template <>
inline constexpr auto operation_of<next_epoch_args> =
    row<epoch_answer>({"next_epoch", "wait for the next epoch", role::worker, trait::together,
                       "Waits until the next epoch begins, and returns it."});

template <>
inline constexpr auto operation_of<epoch_members_args> =
    row<epoch_members_answer>({"epoch_members", "look at the job", role::reader, 0,
                               "Returns the members of the present epoch."});

template <>
inline constexpr auto operation_of<resize_args> =
    row({"resize", "resize the job", role::operator_, 0,
         "Sets the most tasks that the next epochs have."});

template <>
inline constexpr auto operation_of<take_args> = row<value_answer>(
    {"take of queue", "take from queues", role::operator_, trait::of_epoch | trait::idles,
     "Takes the first item of a queue under a lease, and waits for one if there is none."});

template <>
inline constexpr auto operation_of<update_lease_args> =
    row({"update_lease", "take from queues", role::operator_, 0,
         "Finishes an item that was taken, hands it back, or extends its lease."});

template <>
inline constexpr auto operation_of<end_job_args> =
    row({"end of the job", "end the job", role::operator_, 0,
         "Ends the job at once, or lets nobody join and ends it when all tasks have left."});

// Requests that a concern handles: they have an id, and a reply.
template <class Args>
inline constexpr bool is_numbered = !operation_of<Args>.is(trait::of_session);

// With its name.
[[nodiscard]] operation_row const& row_of(request const& what) noexcept;
// The same of the request with this index.
[[nodiscard]] operation_row const& row_at(std::size_t index) noexcept;

}  // namespace coxswain::core
