#pragma once
// The options of the core. All of them affect decisions: those of a snapshot must be those of the
// coordinator that loads it. Not here: the tokens, the program's version, the start and the term.

#include "coxswain/base/option_row.hpp"
#include "coxswain/core/config.hpp"

#include <cstdint>
#include <string_view>
#include <tuple>

namespace coxswain::core {

inline constexpr std::int64_t tasks_max = 1'000'000;

// Their order gives their numbers in a snapshot: append only.
inline constexpr std::tuple option_rows{
    option_row("job", &config::job, option_group::job, "The job's name, which its tasks must state",
               {.type = "NAME"}),
    option_row("num_tasks", &config::num_tasks, option_group::embedded, "The job's number of tasks",
               {.least = 1, .most = tasks_max}),
    option_row("attempt", &config::attempt, option_group::job,
               "The launcher's restart count; refuse tasks of an older attempt"),
    option_row("heartbeat_timeout", &config::heartbeat_timeout, option_group::timing,
               "Fail a task after this long without a heartbeat", {.least = 10ms}),
    option_row("reconnect_grace", &config::reconnect_grace, option_group::timing,
               "Grace period before the tasks of a lost connection fail; 0: none"),
    option_row(
        "reports_ends", &config::reports_ends, option_group::internal,
        "The owner of the coordinator reports when the process of a task ends: a task whose client "
        "is destroyed without leaving then fails with its process, or after the grace"),
    option_row("coordinator_return", &config::coordinator_return, option_group::timing,
               "Clients give up an address that refuses connections for this long; 0: after "
               "--heartbeat-timeout"),
    option_row("hosted_by_task", &config::hosted_by_task, option_group::embedded,
               "The task in whose process it runs, for clients that cannot reach it"),
    option_row("hello_timeout", &config::hello_timeout, option_group::timing,
               "Close a new connection that sends no Hello for this long", {.least = 1ms}),
    option_row("stalled_reader_timeout", &config::stalled_reader_timeout, option_group::timing,
               "Close a connection whose peer reads nothing for this long", {.least = 1ms}),
    option_row("join_barrier", &config::join_barrier, option_group::timing,
               "Connect each task at once, without waiting for the others"),
    option_row("join_timeout_max", &config::join_timeout_max, option_group::timing,
               "Cap how long a joining task waits for the others",
               {.least = 1ms, .may_be_forever = true}),
    option_row("leave_barrier", &config::leave_barrier, option_group::timing,
               "Let each task leave alone, without waiting for the others"),
    option_row("leave_timeout_max", &config::leave_timeout_max, option_group::timing,
               "Cap how long a leaving task waits for the others; 0: it leaves alone",
               {.may_be_forever = true}),
    option_row("leave_together", &config::leave_together, option_group::timing,
               "Make tasks leave together even if all of them are recoverable"),
    option_row("return_timeout", &config::return_timeout, option_group::timing,
               "Fail a task that left to return and has not joined after this long",
               {.least = 1ms, .may_be_forever = true}),
    option_row("recoverable", &config::recoverable, option_group::job,
               "Tasks are recoverable unless they state otherwise: when one fails, the job "
               "continues and the task can join again"),
    option_row("waiting_log_period", &config::waiting_log_period, option_group::internal,
               "Log a barrier that waits each time this passes; 0: never"),
    option_row("progress_timeout", &config::progress_timeout, option_group::timing,
               "Warn when a task's step has not advanced for this long, not counting time spent "
               "waiting for others; 0: off"),
    option_row("fail_without_progress", &config::fail_without_progress, option_group::timing,
               "Fail such a task instead of only warning"),
    option_row("preemption_lead", &config::preemption_lead, option_group::timing,
               "Agree on a step to stop at this long before a task is preempted"),
    option_row("preemption_timeout", &config::preemption_timeout, option_group::timing,
               "Time limit of that agreement", {.least = 1ms}),
    option_row("key_bytes_max", &config::key_bytes_max, option_group::limits,
               "Length of the longest key", {.least = 1, .is_size = true}),
    option_row("value_bytes_max", &config::value_bytes_max, option_group::limits,
               "Size of the largest value; at most a fifth of --memory-max",
               {.least = 1, .is_size = true}),
    option_row("label_bytes_max", &config::label_bytes_max, option_group::internal,
               "Length of the longest label", {.is_size = true}),
    option_row("error_bytes_max", &config::error_bytes_max, option_group::internal,
               "Length of a task's error message; a longer one is cut", {.is_size = true}),
    option_row("gather_bytes_max", &config::gather_bytes_max, option_group::limits,
               "Data of all tasks of one barrier together", {.least = 1, .is_size = true}),
    option_row("memory_bytes_max", &config::memory_bytes_max, option_group::limits,
               "Memory for stored data (three quarters) and messages in transit; the default is "
               "half of what machine, control group and ulimit -v allow",
               {.flag = "memory-max", .least = 1, .is_size = true}),
    option_row("open_requests_max", &config::open_requests_max, option_group::limits,
               "Number of open requests of a session", {.least = 1, .most = 1'000'000'000}),
    option_row("open_requests_max_per_task", &config::open_requests_max_per_task,
               option_group::limits, "Additional open requests of a session for each of its tasks",
               {.most = 1'000'000}),
    option_row("open_requests_max_per_reader", &config::open_requests_max_per_reader,
               option_group::internal,
               "Number of open requests of a reader, since one change may wake all of them"),
    option_row(
        "owed_outcomes_max", &config::owed_outcomes_max, option_group::internal,
        "Outcomes of failed rounds still owed to stragglers; beyond it the oldest are discarded"),
    option_row("topology_platforms_max", &config::topology_platforms_max, option_group::internal,
               "Platforms for which topologies are exchanged; the result of each exchange is kept"),
    option_row("idle_barriers_max", &config::idle_barriers_max, option_group::internal,
               "Remembered barrier names without an open round and without owed outcomes"),
    option_row("events_max", &config::events_max, option_group::internal,
               "Number of events kept of each severity; beyond it the oldest are dropped"),
    option_row("event_bytes_max", &config::event_bytes_max, option_group::internal,
               "Size of the events kept of each severity", {.is_size = true}),
    option_row("events_alike_max", &config::events_alike_max, option_group::internal,
               "More events that differ only in task and numbers, each within a minute of the one "
               "before, become one line with a count"),
    option_row("keys_per_call_max", &config::keys_per_call_max, option_group::internal,
               "Number of keys that one call may name"),
    option_row("keys_per_reader_call_max", &config::keys_per_reader_call_max,
               option_group::internal, "Number of keys that one call of a reader may name"),
    option_row("changes_max", &config::changes_max, option_group::limits,
               "Number of key changes kept for watches", {.most = 1'000'000'000}),
    option_row("change_bytes_max", &config::change_bytes_max, option_group::limits,
               "Size of the key changes kept for watches", {.least = 1, .is_size = true}),
    option_row("changes_per_answer_max", &config::changes_per_answer_max, option_group::internal,
               "Number of changes in one watch reply, which has at least one"),
    option_row("change_bytes_per_answer_max", &config::change_bytes_per_answer_max,
               option_group::internal, "Size of the changes in one watch reply", {.is_size = true}),
    option_row("changes_looked_at_max", &config::changes_looked_at_max, option_group::internal,
               "Number of changes that one request examines; if none of them matches and there are "
               "more, an empty reply states how far it got"),
    option_row("page_entries_max", &config::page_entries_max, option_group::internal,
               "Number of keys or tasks in one page of a reply, which has at least one"),
    option_row("page_bytes_max", &config::page_bytes_max, option_group::internal,
               "Size of the keys and values in one page of a reply", {.is_size = true}),
    option_row("participants_per_picture_max", &config::participants_per_picture_max,
               option_group::internal,
               "Participants of waits that why, inspect and deadlock detection examine: the oldest "
               "first, and at least one wait"),
    option_row(
        "restart_grace", &config::restart_grace, option_group::internal,
        "How long restored sessions have to resume after a restart; 0: no restart restores them"),
    option_row("relay_grace", &config::relay_grace, option_group::timing,
               "Grace period before the tasks of a lost relay fail; 0: none"),
    option_row("spares", &config::spares, option_group::spares,
               "How many processes may wait to replace a recoverable task that fails",
               {.most = tasks_max}),
    option_row("last_call", &config::last_call, option_group::spares,
               "At the start, wait this long for spares once there are enough for all tasks"),
    option_row("assign", &config::assign, option_group::spares,
               "How they get numbers at the start: in the order in which they ask, or sorted by "
               "member name or placement",
               {.type = "HOW", .choices = "order member placement"}),
    option_row("come_back", &config::come_back, option_group::spares,
               "Keep the number of a failed task this long for its own next process; 0: give it "
               "to a spare at once. Not for elastic jobs"),
    option_row("elastic", &config::elastic, option_group::elastic,
               "The number of tasks changes from epoch to epoch, up to --num-tasks"),
    option_row("min_tasks", &config::min_tasks, option_group::elastic,
               "The least number of tasks of an epoch; implies --elastic",
               {.least = 1, .most = tasks_max}),
    option_row("grow", &config::grow, option_group::elastic,
               "When processes that wait join: when all members call next_epoch, at once, or "
               "never",
               {.type = "WHEN", .choices = "boundary now never"}),
    option_row("ranks", &config::ranks, option_group::elastic,
               "Whether members keep their numbers, or all are sorted by member name",
               {.type = "HOW", .choices = "keep member"}),
    option_row("epoch_timeout", &config::epoch_timeout, option_group::elastic,
               "Fail a member that has not called next_epoch this long after the first one; 0: "
               "never"),
    option_row("min_wait", &config::min_wait, option_group::elastic,
               "Fail the job after this long with fewer than --min-tasks"),
    option_row("epochs_max", &config::epochs_max, option_group::elastic,
               "Fail the job instead of beginning more epochs; 0: without limit",
               {.flag = "max-epochs"}),
    option_row(
        "volatile_above", &config::volatile_above, option_group::internal,
        "A longer value of a put is volatile: a restart does not restore it, but removes its "
        "key; 0: none is"),
    option_row("xla_reconnect_grace", &config::xla_reconnect_grace, option_group::xla,
               "Grace period before the task of a JAX program whose connection was closed fails, "
               "at most --reconnect-grace; 0: none")};

// `use(number, name, member)` for each.
template <class Use>
void each_decisive_option(Use use) {
  std::uint32_t number = 0;
  std::apply([&](auto const&... row) { (use(++number, row.name, row.member), ...); }, option_rows);
}

// The name of the first one that differs; empty if there is none.
[[nodiscard]] inline std::string_view difference(config const& a, config const& b) {
  std::string_view found;
  each_decisive_option([&](std::uint32_t, char const* name, auto member) {
    if (found.empty() && a.*member != b.*member) found = name;
  });
  return found;
}

}  // namespace coxswain::core
