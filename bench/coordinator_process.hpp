#pragma once
// The coordinator as the benchmark's second server: as shipped, with its default options but
// for those that make the job.

#include "coxswain/core/config.hpp"

#include <functional>
#include <string>

namespace coxswain::bench {

// Serves until the process is killed, and prints what is amiss unless told to be quiet. `listening`
// is called once with the address that can be connected to. Throws coxswain::error: see
// server::server.
void serve_coordinator(std::string const& listen, core::config job, bool is_quiet,
                       std::function<void(std::string const&)> const& listening);

}  // namespace coxswain::bench
