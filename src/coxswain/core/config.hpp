#pragma once
// Every option and limit of the coordinator's core, with its default. What they mean is in their
// rows (option_rows.hpp). Times of any unit and length may be given: see time_limit.

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
  std::string job{job_default};
  std::uint32_t num_tasks{1};
  std::optional<std::uint64_t> attempt;
  // The tokens, one of which a Hello must present, and the role of each; none: every client is a
  // worker.
  std::vector<credential> credentials;
  // The software version in the reply to a Hello.
  std::string version{"0.0.0"};
  // The wall clock when the coordinator starts. Texts name moments by it; a server sets it.
  wall_time started{};

  // JAX's default.
  time_limit heartbeat_timeout{100s};
  time_limit reconnect_grace{2s};
  // Shorter: the client of an unmodified JAX program never resumes a connection that has ended.
  time_limit xla_reconnect_grace{200ms};
  time_limit relay_grace{5s};
  bool reports_ends{false};
  time_limit coordinator_return{30s};
  time_limit restart_grace{};
  // The term in which the coordinator starts: how many processes have served this job, including
  // this one. Rises with each restart that restores it, and distinguishes the coordinator from one
  // that was replaced. At least 1.
  std::uint64_t term{1};
  std::optional<std::uint32_t> hosted_by_task;
  time_limit hello_timeout{10s};
  time_limit stalled_reader_timeout{30s};
  // Join waits for all tasks. If false, a task is connected at once.
  bool join_barrier{true};
  time_limit join_timeout_max{without_limit};
  // Leave waits for all tasks (the shutdown barrier). If false, each task leaves alone.
  bool leave_barrier{true};
  time_limit leave_timeout_max{without_limit};
  bool leave_together{false};
  time_limit return_timeout{10min};
  bool recoverable{false};
  std::uint32_t spares{};
  time_limit last_call{15s};
  assignment assign{assignment::member};
  time_limit come_back{15s};
  bool elastic{false};
  std::uint32_t min_tasks{1};
  growth grow{growth::boundary};
  rank_order ranks{rank_order::keep};
  time_limit epoch_timeout{10min};
  time_limit min_wait{10min};
  std::uint64_t epochs_max{};
  time_limit waiting_log_period{10s};
  time_limit progress_timeout{};
  bool fail_without_progress{};
  // Upstream's.
  time_limit preemption_lead{15min};
  time_limit preemption_timeout{30s};

  std::size_t key_bytes_max{4 * 1024};
  std::size_t value_bytes_max{1024 * 1024 * 1024};
  std::size_t volatile_above{};
  std::size_t label_bytes_max{256};
  std::size_t error_bytes_max{8 * 1024};
  std::size_t gather_bytes_max{64 * 1024 * 1024};
  // A server's default is half of the memory that its process may use.
  std::size_t memory_bytes_max{std::size_t{4} * 1024 * 1024 * 1024};
  std::uint32_t open_requests_max{4096};
  std::uint32_t open_requests_max_per_task{16};
  std::uint32_t open_requests_max_per_reader{256};
  std::size_t owed_outcomes_max{100'000};
  std::size_t topology_platforms_max{64};
  std::size_t idle_barriers_max{1'024};
  std::size_t events_max{10'000};
  std::size_t event_bytes_max{4 * 1024 * 1024};
  std::uint64_t events_alike_max{16};
  std::size_t keys_per_call_max{65'536};
  std::size_t keys_per_reader_call_max{1'024};
  std::size_t changes_max{65'536};
  std::size_t change_bytes_max{64 * 1024 * 1024};
  std::size_t changes_per_answer_max{1'000};
  std::size_t change_bytes_per_answer_max{1024 * 1024};
  std::size_t changes_looked_at_max{4'096};
  std::size_t page_entries_max{1'000};
  std::size_t page_bytes_max{1024 * 1024};
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
