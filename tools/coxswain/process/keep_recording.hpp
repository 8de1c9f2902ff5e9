#pragma once
// Files about jobs that have failed, kept in the user's state directory: the newest 20 of a kind.

#include "coxswain/base/status.hpp"
#include "coxswain/net/descriptor.hpp"

#include <memory>
#include <string>

namespace coxswain::tools {

// Writes a complete recording to a file, and logs its path or the error. Gives the path, empty
// after an error.
std::string keep_recording(std::string const& recording);

// A new file for output of processes; null if there can be none.
struct kept_output {
  std::string path;
  std::shared_ptr<net::descriptor const> file;
};
[[nodiscard]] kept_output keep_output();

// Reports in the log that a recording is not whole.
void log_failure(status const& of_recording);

}  // namespace coxswain::tools
