#pragma once
// An event of the coordinator as a line for people.

#include "coxswain/core/messages.hpp"

#include <string>

namespace coxswain::tools {

// Without the end of the line.
[[nodiscard]] std::string event_text(core::events_answer::entry const& e);

}  // namespace coxswain::tools
