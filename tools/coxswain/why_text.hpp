#pragma once
// What everybody waits for, for people and for programs.

#include "coxswain/core/messages.hpp"

#include <string>
#include <string_view>

namespace coxswain::tools {

// "barrier", "get_all".
[[nodiscard]] std::string_view name_of(core::why_answer::kind kind);

// Who is stuck, then a paragraph for each wait.
[[nodiscard]] std::string why_text(core::why_answer const& answer);

// One JSON object on one line, as that of status_json.
[[nodiscard]] std::string why_json(core::why_answer const& answer);

}  // namespace coxswain::tools
