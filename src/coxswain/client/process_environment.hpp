#pragma once
// The environment of this process, for launch::detect.

#include "coxswain/launch/environment.hpp"

namespace coxswain {

// Reads the environment and files on demand. Not while another thread changes the environment.
[[nodiscard]] launch::environment process_environment();

}  // namespace coxswain
