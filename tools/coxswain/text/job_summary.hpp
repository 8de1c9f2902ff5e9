#pragma once
// The result of a local job.

#include "process/local_job.hpp"

#include <string>

namespace coxswain::tools {

// Empty if all went well; else lines that begin with `prefix`: how the tasks ended, those that
// ended alike together; and last the cause, or, without one, the task that failed first.
[[nodiscard]] std::string failure_text(local_job const& job, std::string const& prefix);

// The failed task's, as a shell gives it; 1 if the job failed though no process did; else 0.
[[nodiscard]] int exit_code_of(local_job const& job);

}  // namespace coxswain::tools
