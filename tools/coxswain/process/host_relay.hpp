#pragma once
// The relay that this user's tasks of a job share on this host (coxswain task --relay). Not here:
// the relay itself (coxswain/relay).

#include "coxswain/client/options.hpp"

#include <string>
#include <vector>

namespace coxswain::tools {

// Starts the relay unless it runs already. It is a process of its own, and ends with the job, or
// when it has had no clients for a while. Returns its addresses: for its clients, and for those of
// torch's TCPStore. Empty: it cannot be started.
[[nodiscard]] std::vector<std::string> start_host_relay(client_options const& to);

}  // namespace coxswain::tools
