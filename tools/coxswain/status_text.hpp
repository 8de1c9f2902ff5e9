#pragma once
// A picture of the job, for people and for programs.

#include "coxswain/core/messages.hpp"

#include <string>

namespace coxswain::tools {

// Tables, ended by a newline.
[[nodiscard]] std::string status_text(core::snapshot const& picture);

// One JSON object on one line. Times are milliseconds; 64-bit numbers that identify something are
// hexadecimal strings, because JSON's readers round large numbers; what is not known is null.
[[nodiscard]] std::string status_json(core::snapshot const& picture);

}  // namespace coxswain::tools
