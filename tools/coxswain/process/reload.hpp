#pragma once
// SIGHUP to a process that holds a coordinator: what may change while it runs is read again. That
// is the tokens, the certificates and the log level; all other options hold as long as the process.

#include "options/coordinator_options.hpp"
#include "process/job_registry.hpp"

#include "coxswain/net/asio.hpp"
#include "coxswain/server/server.hpp"
#include "coxswain/status/page.hpp"

#include <boost/asio/signal_set.hpp>

#include <functional>

namespace coxswain::tools {

// Reads the --token-file and the files of TLS, and the --log-level if it is the configuration
// file's to say, and has them replace those that hold, also where others find the job. If one is
// wrong all stay as they are. The log says what became of it. There may be no page.
void reload(coordinator_options const& given, server::server& coordinator, status_page::page* page,
            job_registration& registered);

// Waits for SIGHUP, which is also how a process learns that its terminal was closed. Under nohup
// nothing happens.
class hangup {
 public:
  hangup(asio::io_context& io, std::function<void()> reload, std::function<void()> end);

  // From here on the signal does what it always does.
  void clear() { signals_.clear(); }

 private:
  void await();

  bool had_terminal_;  // whose end is to be ours
  asio::signal_set signals_;
  std::function<void()> reload_;
  std::function<void()> end_;
};

}  // namespace coxswain::tools
