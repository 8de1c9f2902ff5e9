#include "coxswain/base/error.hpp"

namespace coxswain {

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
