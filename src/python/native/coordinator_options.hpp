#pragma once
// What an embedded coordinator is told at its start.

#include "coxswain/server/options.hpp"
#include "coxswain/status/options.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace coxswain::python {

struct coordinator_options {
  server::options server;
  std::string http;  // where the status page listens; empty: there is none
  std::size_t http_connections_max{256};
  std::string record_file;  // empty: there is none
};

// Those of the status page, which asks for the tokens and certificates that the coordinator asks
// for; none: there is to be no page.
[[nodiscard]] std::optional<status_page::options> page_options(coordinator_options const& o);

}  // namespace coxswain::python
