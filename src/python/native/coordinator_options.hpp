#pragma once
// The options of an embedded coordinator.

#include "coxswain/server/options.hpp"
#include "coxswain/status/options.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace coxswain::python {

struct coordinator_options {
  server::options server;
  std::string http;  // where the status page listens; empty: no page
  std::size_t http_connections_max{256};
  std::string record_file;  // empty: none
};

// The options of the status page, with the coordinator's tokens and certificates; none: no page.
[[nodiscard]] std::optional<status_page::options> page_options(coordinator_options const& o);

}  // namespace coxswain::python
