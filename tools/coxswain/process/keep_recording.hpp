#pragma once
// Recordings of coordinators that nobody has asked for, kept for the day when somebody does.

#include "coxswain/base/status.hpp"

#include <string>

namespace coxswain::tools {

// Writes a whole recording to a file in the user's state directory, of which the newest 20 are
// kept, and says so in the log; also if that is not possible.
void keep_recording(std::string const& recording);

// Tells the log that a recording is not whole.
void log_failure(status const& of_recording);

}  // namespace coxswain::tools
