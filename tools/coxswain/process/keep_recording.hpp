#pragma once
// Recordings that are kept without a request, for later analysis.

#include "coxswain/base/status.hpp"

#include <string>

namespace coxswain::tools {

// Writes a complete recording to a file in the user's state directory, where the newest 20 are
// kept, and logs its path or the error.
void keep_recording(std::string const& recording);

// Reports in the log that a recording is not whole.
void log_failure(status const& of_recording);

}  // namespace coxswain::tools
