#pragma once
// The service manager that has started this process, if any: systemd, or another with its protocol
// (sd_notify, sd_listen_fds). Without one it does nothing. Not here: the unit
// (tools/deploy/coxswain@.service).

#include "coxswain/base/time.hpp"
#include "coxswain/net/asio.hpp"

#include <string>
#include <vector>

namespace coxswain::tools {

// The sockets that it has opened for us, as addresses to listen on: "fd://3".
[[nodiscard]] std::vector<std::string> inherited_listeners();

class service_manager {
 public:
  explicit service_manager(asio::io_context& io);

  // From now on the loop feeds the watchdog: a stalled loop does not.
  void ready(std::string const& status);
  void status(std::string const& text) { notify("STATUS=" + text); }
  // The start takes longer than its time-out, but not longer than `more` from now on.
  void starting(std::string const& status, duration more);
  void stopping(std::string const& why);

 private:
  void notify(std::string const& what) const noexcept;
  void feed_watchdog();

  std::string socket_path_;
  duration watchdog_{};  // zero: there is no watchdog
  asio::steady_timer timer_;
};

}  // namespace coxswain::tools
