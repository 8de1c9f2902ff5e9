#pragma once
// SIGHUP to a process with a coordinator reloads the tokens, the certificates and the log level;
// all other options are fixed.

#include "options/coordinator_options.hpp"
#include "process/job_registry.hpp"

#include "coxswain/core/access/credential.hpp"
#include "coxswain/net/asio.hpp"
#include "coxswain/server/server.hpp"
#include "coxswain/server/standby/standby.hpp"
#include "coxswain/status/page.hpp"
#include "coxswain/status/standby_page.hpp"

#include <boost/asio/signal_set.hpp>

#include <functional>
#include <optional>
#include <vector>

namespace coxswain::tools {

// Reads the --token-file and the files of TLS, and the --log-level if it is the configuration
// file's to say, and replaces the current ones, also in the job registry. If one is wrong, nothing
// changes. The log has the outcome. The page may be null. The result: new tokens.
std::optional<std::vector<core::credential>> reload(coordinator_options const& given,
                                                    server::server& coordinator,
                                                    status_page::page* page,
                                                    job_registration& registered);

// The same for a standby; `given` gets the tokens.
void reload(coordinator_options& given, server::standby& waiting, status_page::standby_page* page);

// Waits for SIGHUP, which is also how a process learns that its terminal was closed. Under nohup
// nothing happens.
class hangup {
 public:
  hangup(asio::io_context& io, std::function<void()> reload, std::function<void()> end);

  // Restores the signal's default effect.
  void clear() { signals_.clear(); }

 private:
  void await();

  bool had_terminal_;  // whose hangup ends us
  asio::signal_set signals_;
  std::function<void()> reload_;
  std::function<void()> end_;
};

}  // namespace coxswain::tools
