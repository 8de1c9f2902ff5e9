#pragma once
// The reply to why, for people.

#include "coxswain/core/model/messages.hpp"

#include <string>

namespace coxswain::tools {

// How the job is, the tasks that are stuck, then a paragraph for each wait.
[[nodiscard]] std::string why_text(core::why_answer const& answer);

}  // namespace coxswain::tools
