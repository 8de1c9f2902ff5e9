#pragma once
// The jobs of this user that ended lately on this machine, in a file of the user's state directory:
// how each ended, and where its recording is. Not here: those that run (job_registry).

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace coxswain::tools {

struct ended_job {
  std::string job;
  std::uint32_t num_tasks{};
  pid_t pid{};
  std::chrono::system_clock::time_point started;
  std::chrono::system_clock::time_point ended;
  std::string how;
  std::string recording;  // a file; empty: there is none
};

// Adds it to the newest 20. If that is not possible, it is forgotten.
void remember(ended_job const& what);

// Those of the last seven days, the newest first.
[[nodiscard]] std::vector<ended_job> ended_jobs();

}  // namespace coxswain::tools
