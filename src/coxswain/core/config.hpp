#pragma once
// Every option and limit of the coordinator's core, with its default (§16.1). Times of any
// unit and length may be given: see time_limit.

#include "coxswain/base/time.hpp"
#include "coxswain/base/wall_time.hpp"
#include "coxswain/core/access/credential.hpp"
#include "coxswain/core/access/role.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::core {

// Which processes that ask for a number get one at the start, and which number: in the order in
// which they asked, or sorted by member name or by placement.
enum class assignment : std::uint8_t { order, member, placement };

// When processes that wait join an elastic job: when its members call next_epoch, at once, or not
// at all; and who gets which number: members keep theirs, or all are sorted by member name.
enum class growth : std::uint8_t { boundary, now, never };
enum class rank_order : std::uint8_t { keep, member };

// The default job name.
inline constexpr auto job_default = "default";

struct config {
  // The job that this coordinator serves, and its number of tasks.
  std::string job{job_default};
  std::uint32_t num_tasks{1};
  // The launcher's restart count; compared with a client's when both state one.
  std::optional<std::uint64_t> attempt;
  // The tokens, one of which a Hello must present, and the role of each; none: every client is a
  // worker.
  std::vector<credential> credentials;
  // The software version in the reply to a Hello.
  std::string version{"0.0.0"};
  // The wall clock when the coordinator starts. Texts name moments by it; a server sets it.
  wall_time started{};

  // A task that sends nothing for this long has failed (JAX's default).
  time_limit heartbeat_timeout{100s};
  // Grace period before the tasks of a lost connection fail. Zero: none.
  time_limit reconnect_grace{2s};
  // The same for tasks of unmodified JAX programs, if that is shorter: their client never resumes a
  // connection that has ended. Zero: none.
  time_limit xla_reconnect_grace{200ms};
  // The same for tasks whose relay has lost its connection or has ended. Zero: none.
  time_limit relay_grace{5s};
  // The owner reports when the process of a task ends (core::process_ended). A task whose
  // client is destroyed without leaving then fails only when its process ends, or after the grace.
  bool reports_ends{false};
  // How long clients with a session take refused connections for a restart before giving up this
  // coordinator. Zero: until the heartbeat timeout.
  time_limit coordinator_return{30s};
  // How long restored sessions have to resume after a restart of the coordinator. Zero: no restart
  // restores them.
  time_limit restart_grace{};
  // The term in which the coordinator starts: how many processes have served this job, including
  // this one. Rises with each restart that restores it, and distinguishes the coordinator from one
  // that was replaced. At least 1.
  std::uint64_t term{1};
  // The task whose process this coordinator runs in, for the texts of clients that lose it.
  std::optional<std::uint32_t> hosted_by_task;
  // Time limit for the Hello of a new connection.
  time_limit hello_timeout{10s};
  // A peer that reads nothing for this long although replies wait for it is disconnected.
  time_limit stalled_reader_timeout{30s};
  // Join waits for all tasks. If false, a task is connected at once.
  bool join_barrier{true};
  // A join waits for the others at most this long, even if its caller would wait longer.
  time_limit join_timeout_max{without_limit};
  // Leave waits for all tasks (the shutdown barrier). If false, each task leaves alone.
  bool leave_barrier{true};
  // A leave waits for the others at most this long, even if its caller would wait longer. Zero:
  // each task leaves alone.
  time_limit leave_timeout_max{without_limit};
  // The shutdown barrier exists even if all tasks are recoverable; otherwise those leave alone.
  bool leave_together{false};
  // A task that left to return has failed if no process of it joins within this time.
  time_limit return_timeout{10min};
  // Whether tasks that do not state it when they join are recoverable: the failure of one does not
  // fail the job, and it may join again (§1.4).
  bool recoverable{false};
  // How many processes may wait for a number beyond those that will get one, how long the start
  // waits for them once there are enough for all tasks, and how numbers are assigned then.
  std::uint32_t spares{};
  time_limit last_call{15s};
  assignment assign{assignment::member};
  // How long the number of a task that has failed is kept for its own next process before it is
  // given to another. Zero: not at all.
  time_limit come_back{15s};
  // The number of tasks changes from epoch to epoch, between `min_tasks` and `num_tasks` (
  // §1.7).
  bool elastic{false};
  std::uint32_t min_tasks{1};
  growth grow{growth::boundary};
  rank_order ranks{rank_order::keep};
  // A member that does not call next_epoch within this time since another one did has failed. Zero:
  // never.
  time_limit epoch_timeout{10min};
  // How long a job waits for processes while it has fewer than `min_tasks`.
  time_limit min_wait{10min};
  // The job fails instead of beginning more epochs. Zero: without limit.
  std::uint64_t epochs_max{};
  // A barrier that waits longer is logged each time this passes. Zero: never.
  time_limit waiting_log_period{10s};
  // Warn when a task that has reported a step reports no further one for this long, not counting
  // time in which a call of it (other than a watch) waits for others; zero: off. And whether the
  // task fails.
  time_limit progress_timeout{};
  bool fail_without_progress{};
  // How long before a preemption the tasks stop (upstream's 15 min), and the time limit for
  // agreeing on a step.
  time_limit preemption_lead{15min};
  time_limit preemption_timeout{30s};

  std::size_t key_bytes_max{4 * 1024};
  std::size_t value_bytes_max{1024 * 1024 * 1024};
  // A longer value of a Put is volatile: a restart does not restore it, but removes its key. Zero:
  // none is.
  std::size_t volatile_above{};
  std::size_t label_bytes_max{256};
  // The length of a task's error message; a longer one is cut.
  std::size_t error_bytes_max{8 * 1024};
  std::size_t gather_bytes_max{64 * 1024 * 1024};
  // The core may own three quarters: stored values, changes, queued items, parked requests, kept
  // replies, gathered data and open rounds. Messages in transit take what it leaves. A server's
  // default is half of the memory that its process may use.
  std::size_t memory_bytes_max{std::size_t{4} * 1024 * 1024 * 1024};
  std::uint32_t open_requests_max{4096};
  std::uint32_t open_requests_max_per_task{16};
  // Of a reader, since one change may wake all of them.
  std::uint32_t open_requests_max_per_reader{256};
  // Outcomes of failed rounds still owed to stragglers; beyond it the oldest are discarded.
  std::size_t owed_outcomes_max{100'000};
  // Platforms for which topologies are exchanged; the result of each exchange is kept.
  std::size_t topology_platforms_max{64};
  // Remembered barrier names without an open round and without owed outcomes.
  std::size_t idle_barriers_max{1'024};
  // The events kept of each severity: beyond either limit its oldest are dropped. More than
  // `events_alike_max` events that differ only in task and numbers, each within a minute of the one
  // before, become one line with a count.
  std::size_t events_max{10'000};
  std::size_t event_bytes_max{4 * 1024 * 1024};
  std::uint64_t events_alike_max{16};

  // How many keys one call may name, and one of a reader.
  std::size_t keys_per_call_max{65'536};
  std::size_t keys_per_reader_call_max{1'024};
  // The key changes kept for watches: their number, and their bytes of keys and values; the last
  // one is always kept.
  std::size_t changes_max{65'536};
  std::size_t change_bytes_max{64 * 1024 * 1024};
  // The size limit of one watch reply, which has at least one change.
  std::size_t changes_per_answer_max{1'000};
  std::size_t change_bytes_per_answer_max{1024 * 1024};
  // How many changes one request examines; if none of them matches and there are more, an empty
  // reply states how far it got.
  std::size_t changes_looked_at_max{4'096};
  // The limits of one page, in keys or tasks, and in bytes of keys and values; it has at least one
  // key.
  std::size_t page_entries_max{1'000};
  std::size_t page_bytes_max{1024 * 1024};
  // How many participants of open rounds and other waits `why`, `inspect` and deadlock detection
  // examine: the oldest first, and at least one wait.
  std::size_t participants_per_picture_max{65'536};

  // How many requests of a session without a task may be open or unacknowledged.
  [[nodiscard]] std::uint32_t open_requests_max_of(role who) const noexcept {
    return who == role::reader ? std::min(open_requests_max, open_requests_max_per_reader)
                               : open_requests_max;
  }

  // The largest value: it must fit into the quarter of the memory that the core leaves for transit.
  [[nodiscard]] std::size_t largest_value() const noexcept {
    return std::min(value_bytes_max, std::max(memory_bytes_max / 5, std::size_t{1024} * 1024));
  }

  // The largest value that is not volatile.
  [[nodiscard]] std::size_t largest_lasting_value() const noexcept {
    return volatile_above == 0 ? largest_value() : std::min(volatile_above, largest_value());
  }

  // How long a client may hear nothing before it suspects its connection: another process may
  // continue the job since then, and the session must find it within the restart grace. Zero: no
  // process does.
  [[nodiscard]] duration suspect_after() const noexcept { return restart_grace / 3; }

  // The largest frame: a value and its envelope.
  [[nodiscard]] std::size_t frame_bytes_max() const noexcept { return largest_value() + 64 * 1024; }
};

}  // namespace coxswain::core
