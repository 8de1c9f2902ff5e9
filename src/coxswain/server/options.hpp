#pragma once
// What a server is told at its start.

#include "coxswain/core/config.hpp"
#include "coxswain/core/event.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace coxswain::server {

struct options {
  // `core.memory_bytes_max` becomes half of the machine's memory, or of the control group's if that
  // has less.
  options();

  core::config core;

  // Where to listen: "host:port" (port 0: any), "[v6]:port", ":port" (all addresses), or
  // "unix:/path".
  std::vector<std::string> listen{"127.0.0.1:0"};

  // Listen on addresses that others can reach although no token is configured.
  bool insecure{false};

  // What one session may have queued before further replies to it wait.
  std::size_t queued_bytes_max{64 * 1024 * 1024};

  // How many connections are taken at once; zero: the descriptor limit less 64.
  std::size_t connections_max{0};

  // How long a stop waits for the last bytes to be read by the peers.
  duration linger{2s};

  // Told each event, on the server's thread. Must not block.
  std::function<void(core::event const&)> log;
};

}  // namespace coxswain::server
