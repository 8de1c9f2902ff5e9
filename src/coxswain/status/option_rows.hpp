#pragma once
// The options of a status page that people can set.

#include "coxswain/base/option_row.hpp"
#include "coxswain/status/options.hpp"

#include <tuple>

namespace coxswain::status_page {

inline constexpr std::tuple option_rows{
    option_row("http", &options::listen, option_group::page,
               "Show the job over HTTP, for people, probes and scripts: port, :port, host:port or "
               "[v6]:port (port 0: any); without a host, that of the first --listen",
               {.type = "ADDRESS"}),
    option_row("http_connections_max", &options::connections_max, option_group::page,
               "Number of connections of the page", {.least = 1, .most = 1'000'000})};

}  // namespace coxswain::status_page
