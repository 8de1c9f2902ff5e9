#pragma once
// The options of an embedded coordinator.

#include "coxswain/server/options.hpp"
#include "coxswain/status/options.hpp"

#include <optional>
#include <string>

namespace coxswain::python {

struct coordinator_options {
  server::options server;
  status_page::options page;  // without an address there is none
  std::string record_file;    // empty: none

  coordinator_options() { page.listen.clear(); }
};

// The options of the status page, with the coordinator's tokens and certificates; none: no page.
[[nodiscard]] std::optional<status_page::options> page_options(coordinator_options const& o);

}  // namespace coxswain::python
