#pragma once
// What this process was given at its start, for launch::detect.

#include "coxswain/launch/environment.hpp"

namespace coxswain {

// Reads the environment and files when it is asked, not before. Not while another thread changes
// the environment.
[[nodiscard]] launch::environment process_environment();

}  // namespace coxswain
