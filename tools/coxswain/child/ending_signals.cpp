#include "child/ending_signals.hpp"

#include <csignal>

namespace coxswain::tools {

bool is_ignored(int signal) noexcept {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

void add_ending_signals(asio::signal_set& to) {
  for (int const signal : {SIGINT, SIGTERM, SIGQUIT}) to.add(signal);
  if (!is_ignored(SIGHUP)) to.add(SIGHUP);
}

}  // namespace coxswain::tools
