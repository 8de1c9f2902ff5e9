#pragma once
// The exception of the public client API, and the figures of a failed barrier that it carries.

#include "coxswain/base/ids.hpp"
#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/base/wall_time.hpp"

#include <boost/system/system_error.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coxswain {

enum class task_state : std::uint8_t {
  never_connected,
  joining,
  connected,
  failed,
  left,
  returning,  // its process has left, and the next one is expected
};

// "never connected", "joining", "connected", "failed", "left", "returning".
[[nodiscard]] std::string_view name(task_state state) noexcept;

// A task that a barrier waits for, as the coordinator knows it.
struct missing_task {
  task_id task{};
  task_state state{task_state::never_connected};
  bool suspect{};                      // its connection is lost and its grace runs
  std::optional<duration> last_heard;  // how long ago; none if it never connected
  std::string label;                   // what its client calls itself, usually "host:pid"
  std::string waits_for;               // "barrier 'b'" or "key 'k'": where it waits instead
  std::optional<std::uint64_t> step;   // the last one that it reported

  // Only for those who look at the job. Its processes answer: they did when they were asked just
  // now. Or they have not answered for so long, although they should have.
  bool answers{};
  std::optional<duration> unanswered;
  std::string last_call;  // "put of key 'a'": what it asked last; may be cut
  std::optional<wall_time> last_call_at;

  friend bool operator==(missing_task const&, missing_task const&) = default;
};

// Why a barrier's round failed (§6.2).
struct barrier_failure {
  round_number round{};
  std::uint32_t arrived{};
  std::uint32_t expected{};
  std::string missing;              // ranges, such as "3,17-24,900"; at most 4 KiB
  std::uint32_t missing_cut{};      // how many missing tasks `missing` does not name
  std::vector<missing_task> known;  // at most 16 of the missing

  friend bool operator==(barrier_failure const&, barrier_failure const&) = default;
};

// What a call that failed reports besides its error_code.
struct diagnostics {
  std::string message;                     // without the code's name
  std::optional<barrier_failure> details;  // the figures of a failed barrier; none for other errors
};

// Thrown by the client's calls. `what()` begins with the code's name:
// "DEADLINE_EXCEEDED: Barrier timed out. Barrier 'ckpt-17' ...". `code()` is an `errc`, or
// boost::asio::error::operation_aborted if the caller cancelled the call through its cancellation
// slot: `outcome()` is CANCELLED then.
class error : public boost::system::system_error {
 public:
  explicit error(status s, std::optional<barrier_failure> details = {});
  error(boost::system::error_code code, status s, std::optional<barrier_failure> details = {});

  [[nodiscard]] char const* what() const noexcept override { return text_.c_str(); }
  [[nodiscard]] status const& outcome() const noexcept { return outcome_; }
  [[nodiscard]] std::string const& message() const noexcept { return outcome_.message(); }

  // The figures of a failed barrier; none for other errors.
  [[nodiscard]] std::optional<barrier_failure> const& details() const noexcept { return details_; }

 private:
  status outcome_;
  std::string text_;
  std::optional<barrier_failure> details_;
};

// A task's failure, or the job's if no task is to blame.
struct failure {
  std::optional<task_id> task;
  status why;
  bool is_reported{};  // by the task itself: `report_error`

  friend bool operator==(failure const&, failure const&) = default;
};

// Why the job failed: the first failure is the cause and stays (§5.1).
struct job_error {
  failure cause;
  std::vector<failure> later;   // the first 64 that came after it
  std::uint64_t later_count{};  // how many came after it in total

  friend bool operator==(job_error const&, job_error const&) = default;
};

}  // namespace coxswain
