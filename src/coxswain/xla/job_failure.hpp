#pragma once
// Why the job has failed, and which tasks had reported an error themselves. Private to xla.

#include "coxswain/base/ids.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/xla/methods.hpp"
#include "coxswain/xla/outcome.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace coxswain::xla {

class job_failure {
 public:
  explicit job_failure(std::uint32_t num_tasks) : reported_(num_tasks) {}

  // The task reports an error itself. A number that no task has is ignored.
  void reported_by(task_id task);

  // The core pushes the job's error: the same message to all sessions.
  void took(core::answer_ptr const& pushed);

  [[nodiscard]] bool has_happened() const noexcept { return error_.has_value(); }

  // The outcome of a call of this task, or without one, of any caller. The job must have failed.
  [[nodiscard]] outcome as_outcome(generation of, std::optional<task_id> task) const;

 private:
  std::vector<bool> reported_;  // by task
  std::optional<job_error> error_;
  core::answer_ptr error_of_;  // the message that it came in
};

}  // namespace coxswain::xla
