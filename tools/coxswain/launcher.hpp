#pragma once
// What the launcher says of this process, for options that nobody has given.

#include "coxswain/launch/detection.hpp"

namespace coxswain::tools {

// Detected once. Its values throw coxswain::error (INVALID_ARGUMENT) where a variable is wrong.
[[nodiscard]] launch::parameters const& launched();

}  // namespace coxswain::tools
