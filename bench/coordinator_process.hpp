#pragma once
// The coordinator as the benchmark's second server: as shipped, with its default options but
// for those that make the job.

#include "process.hpp"

#include "coxswain/core/config.hpp"
#include "coxswain/net/tls_options.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace coxswain::bench {

struct coordinator_plan {
  std::string listen;
  core::config job;
  tls_options tls;
  bool is_quiet{};  // does not print what is amiss
  // So much of what it is told is kept, to be handed out; none: as much as the shipped one keeps.
  std::optional<std::size_t> record_bytes_max;
};

// Serves until the process is killed. Tells `control` the address that can be connected to, and
// what it was told when it is asked for it. Throws coxswain::error: see server::server.
void serve_coordinator(coordinator_plan plan, channel& control);

}  // namespace coxswain::bench
