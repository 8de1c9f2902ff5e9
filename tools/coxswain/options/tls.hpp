#pragma once
// The files of TLS, as options.

#include "coxswain/net/tls_options.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <utility>
#include <vector>

namespace coxswain::tools {

// For clients: --tls-ca, --tls-cert, --tls-key and --tls-peer-uri-prefix.
void add_tls_options(CLI::App& to, tls_options& into);

// The variables with the same options for a child process. Empty ones are not set.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> tls_variables(tls_options const& of);

}  // namespace coxswain::tools
