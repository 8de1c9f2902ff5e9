#pragma once
// The coordinator as the benchmark's second server: as shipped, with its default options.

#include <cstdint>
#include <functional>
#include <string>

namespace coxswain::bench {

// Serves a job of `tasks` tasks until it is over or the process is killed. `listening` is called
// once with the address that can be connected to. Throws coxswain::error: see server::server.
void serve_coordinator(std::string const& listen, std::uint32_t tasks,
                       std::function<void(std::string const&)> const& listening);

}  // namespace coxswain::bench
