#pragma once
// The manual pages, from the text of --help.

#include <CLI/CLI.hpp>

#include <string>

namespace coxswain::tools {

// "coxswain", "coxswain-serve".
[[nodiscard]] std::string manual_name(CLI::App const& of);

// The page of the program or of a subcommand, for man.
[[nodiscard]] std::string manual_page(CLI::App const& of);

}  // namespace coxswain::tools
