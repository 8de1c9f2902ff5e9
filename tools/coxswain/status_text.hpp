#pragma once
// A picture of the job, for people.

#include "coxswain/core/messages.hpp"

#include <string>

namespace coxswain::tools {

// Tables, ended by a newline.
[[nodiscard]] std::string status_text(core::snapshot const& picture);

}  // namespace coxswain::tools
