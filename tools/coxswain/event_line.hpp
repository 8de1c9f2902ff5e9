#pragma once
// An event of the coordinator as a line, for people or for programs.

#include "coxswain/core/messages.hpp"

#include <string>
#include <string_view>

namespace coxswain::tools {

// Of "info", "warning" and "error", in which case it has the least of them for anything else.
[[nodiscard]] core::severity severity_of(std::string_view text);

// Without the end of the line.
[[nodiscard]] std::string event_text(core::events_answer::entry const& e);
[[nodiscard]] std::string event_json(core::events_answer::entry const& e);

}  // namespace coxswain::tools
