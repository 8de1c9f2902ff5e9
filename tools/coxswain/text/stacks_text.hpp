#pragma once
// The stacks of processes that hold up others, for people.

#include "coxswain/core/model/messages.hpp"

#include <string>

namespace coxswain::tools {

// A paragraph for each group of tasks with the same stack: who, for how long they have been
// missing, and the frames.
[[nodiscard]] std::string stacks_text(core::stacks_answer const& answer);

}  // namespace coxswain::tools
