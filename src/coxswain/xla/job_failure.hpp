#pragma once
// Why the job has failed. Private to xla.

#include "coxswain/base/ids.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/xla/methods.hpp"
#include "coxswain/xla/outcome.hpp"

#include <optional>

namespace coxswain::xla {

class job_failure {
 public:
  // The core pushes the job's error: the same message to all sessions.
  void took(core::answer_ptr const& pushed);

  [[nodiscard]] bool has_happened() const noexcept { return error_.has_value(); }

  // The outcome of a call of this task, or without one, of any caller. The job must have failed.
  [[nodiscard]] outcome as_outcome(generation of, std::optional<task_id> task) const;

 private:
  std::optional<job_error> error_;
  core::answer_ptr error_of_;  // the message that it came in
};

}  // namespace coxswain::xla
