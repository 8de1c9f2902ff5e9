#pragma once
// Every option and limit of the coordinator's core, with its default (semantics D24). Times of any
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

// The job of those who name none.
inline constexpr auto job_default = "default";

struct config {
  // The job that this coordinator serves, and its number of tasks.
  std::string job{job_default};
  std::uint32_t num_tasks{1};
  // The launcher's restart count; compared with a client's when both state one.
  std::optional<std::uint64_t> attempt;
  // The tokens, one of which a Hello must bring, and what each gives leave to; none: everybody is a
  // worker.
  std::vector<credential> credentials;
  // The software version that a Hello is answered with.
  std::string version{"0.0.0"};
  // The wall clock when the coordinator starts. Texts name moments by it; a server sets it.
  wall_time started{};

  // A task that was silent for so long has failed (JAX's default).
  time_limit heartbeat_timeout{100s};
  // How long the tasks of a lost connection are spared. Zero: not at all.
  time_limit reconnect_grace{2s};
  // Somebody sees the processes of all tasks end and says so (coordinator::task_ended). A client
  // that is destroyed without leaving has not failed then before its process has, or the grace is
  // over.
  bool reports_ends{false};
  // How long a client whose session it was takes refused connections for a restart, before it gives
  // this coordinator up. Zero: until the heartbeat timeout.
  time_limit coordinator_return{30s};
  // The task whose process this coordinator runs in, for the texts of clients that lose it.
  std::optional<std::uint32_t> hosted_by_task;
  // How long a new connection may take to say Hello.
  time_limit hello_timeout{10s};
  // A peer that read nothing for so long while something waits for it is cut off.
  time_limit stalled_reader_timeout{30s};
  // Join waits for all tasks. If false, a task is connected at once.
  bool join_barrier{true};
  // Leave waits for all tasks (the shutdown barrier). If false, each task leaves alone.
  bool leave_barrier{true};
  // A leave waits for the others at most this long, even if its caller would wait longer. Zero:
  // each task leaves alone.
  time_limit leave_timeout_max{without_limit};
  // The shutdown barrier exists even if all tasks are recoverable; otherwise those leave alone.
  bool leave_together{false};
  // A task that left to return has failed if no process of it joins within this time.
  time_limit return_timeout{10min};
  // Whether a task is recoverable that does not say so when it joins: its failure does not fail the
  // job, and it may join again (semantics D12).
  bool recoverable{false};
  // A barrier that waits longer is logged each time this passes. Zero: never.
  time_limit waiting_log_period{10s};
  // A task that has reported a step and then none beyond it for so long makes no progress; the time
  // during which a call of it waits for others (no watch) does not count. Zero: nobody looks. And
  // whether it fails.
  time_limit progress_timeout{};
  bool fail_without_progress{};
  // How long before a task is taken away the others stop for it (upstream's 15 min), and how long
  // they may take to agree on a step.
  time_limit preemption_lead{15min};
  time_limit preemption_timeout{30s};

  std::size_t key_bytes_max{4 * 1024};
  std::size_t value_bytes_max{1024 * 1024 * 1024};
  std::size_t label_bytes_max{256};
  // What a task may say of its error; a longer text is cut.
  std::size_t error_bytes_max{8 * 1024};
  std::size_t gather_bytes_max{64 * 1024 * 1024};
  // The core may own three quarters: stored values, changes, queued items, parked requests, kept
  // replies, gathered data and open rounds. Messages in transit take what it leaves. A server's
  // default is half of the memory that its process may use.
  std::size_t memory_bytes_max{std::size_t{4} * 1024 * 1024 * 1024};
  std::uint32_t open_requests_max{4096};
  std::uint32_t open_requests_max_per_task{16};
  // Of a reader, at most: one change may wake all of them.
  std::uint32_t open_requests_max_per_reader{256};
  // Failed rounds' outcomes that are still owed to a straggler: beyond, the oldest are forgotten.
  std::size_t owed_outcomes_max{100'000};
  // Platforms for which topologies are exchanged; what comes of an exchange is kept.
  std::size_t topology_platforms_max{64};
  // Barrier names without an open round and with nothing owed whose last round is remembered.
  std::size_t idle_barriers_max{1'024};
  // The events that are kept of each severity: beyond either, the oldest of that severity are
  // dropped. More events than `events_alike_max` that are alike but for their task and their
  // numbers, each within a minute of the one before, become one line with a count.
  std::size_t events_max{10'000};
  std::size_t event_bytes_max{4 * 1024 * 1024};
  std::uint64_t events_alike_max{16};

  // How many keys a call of several may name, and one of a reader.
  std::size_t keys_per_call_max{65'536};
  std::size_t keys_per_reader_call_max{1'024};
  // The changes of keys that are remembered for those who watch: so many, and so many bytes of keys
  // and values; but the last one in any case.
  std::size_t changes_max{65'536};
  std::size_t change_bytes_max{64 * 1024 * 1024};
  // What one answer to a watch holds at most; but one change in any case.
  std::size_t changes_per_answer_max{1'000};
  std::size_t change_bytes_per_answer_max{1024 * 1024};
  // How many changes one request looks through; if none of them concerns it and there are more, an
  // empty reply tells how far it came.
  std::size_t changes_looked_at_max{4'096};
  // One page: so many keys or tasks, and so many bytes of keys and values; but one key in any case.
  std::size_t page_entries_max{1'000};
  std::size_t page_bytes_max{1024 * 1024};
  // How many participants of open rounds and other waits `why`, `inspect` and the search for
  // deadlocks look at: the oldest first, and one wait in any case.
  std::size_t participants_per_picture_max{65'536};

  // How many requests of a session without a task may be open or not acknowledged.
  [[nodiscard]] std::uint32_t open_requests_max_of(role who) const noexcept {
    return who == role::reader ? std::min(open_requests_max, open_requests_max_per_reader)
                               : open_requests_max;
  }

  // The largest value: what arrives must fit into the quarter that the core leaves to transit.
  [[nodiscard]] std::size_t largest_value() const noexcept {
    return std::min(value_bytes_max, std::max(memory_bytes_max / 5, std::size_t{1024} * 1024));
  }

  // The largest frame: a value and what surrounds it.
  [[nodiscard]] std::size_t frame_bytes_max() const noexcept { return largest_value() + 64 * 1024; }
};

}  // namespace coxswain::core
