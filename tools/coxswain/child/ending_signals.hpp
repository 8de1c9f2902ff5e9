#pragma once
// The signals that ask a program to end.

#include "coxswain/net/asio.hpp"

namespace coxswain::tools {

// As by nohup: then it stays so, also for children.
[[nodiscard]] bool is_ignored(int signal) noexcept;

// SIGINT, SIGTERM, SIGQUIT, and SIGHUP unless it is ignored.
void add_ending_signals(asio::signal_set& to);

}  // namespace coxswain::tools
