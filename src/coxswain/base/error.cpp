#include "coxswain/base/error.hpp"

#include <utility>

namespace coxswain {

error::error(status s, std::optional<barrier_failure> details)
    : error{make_error_code(s.code()), std::move(s), std::move(details)} {}

error::error(boost::system::error_code code, status s, std::optional<barrier_failure> details)
    : system_error{code},
      outcome_{std::move(s)},
      text_{outcome_.text()},
      details_{std::move(details)} {}

std::string_view name(task_state state) noexcept {
  switch (state) {
    case task_state::never_connected: return "never connected";
    case task_state::joining: return "joining";
    case task_state::connected: return "connected";
    case task_state::failed: return "failed";
    case task_state::left: return "left";
    case task_state::returning: return "returning";
  }
  return "unknown";
}

}  // namespace coxswain
