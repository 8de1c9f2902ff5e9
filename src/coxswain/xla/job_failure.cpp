#include "coxswain/xla/job_failure.hpp"

#include <string>
#include <utility>
#include <variant>

namespace coxswain::xla {

void job_failure::took(core::answer_ptr const& pushed) {
  if (error_of_ == pushed) return;
  error_of_ = pushed;
  error_ = std::get<job_error>(pushed->value);
}

outcome job_failure::as_outcome(generation of, std::optional<task_id> task) const {
  failure const& cause = error_->cause;
  culprit const who{cause.task, cause.is_reported};
  std::string text = cause.why.message();
  bool const is_lost = cause.task && !cause.is_reported && cause.why.code() == errc::unavailable;
  if (is_lost) {
    text = "Task " + std::to_string(cause.task->value) + " heartbeat timeout: " + text;
  } else if (cause.task) {
    text = "Task " + std::to_string(cause.task->value) + " failed: " + text;
  }
  if (error_->later_count > 0) {
    text += "; " + std::to_string(error_->later_count) + " more failures followed";
  }
  errc code = cause.why.code() == errc::cancelled ? errc::internal : cause.why.code();
  if (task && task == cause.task) code = errc::failed_precondition;
  return by_service(of, {code, std::move(text)}, who);
}

}  // namespace coxswain::xla
