#pragma once
// Completion scripts for shells: subcommands, options and their values. Not here: names known only
// to a coordinator, such as keys.

#include <CLI/CLI.hpp>

#include <string>

namespace coxswain::tools {

[[nodiscard]] std::string bash_completion(CLI::App const& program);
[[nodiscard]] std::string zsh_completion(CLI::App const& program);
[[nodiscard]] std::string fish_completion(CLI::App const& program);

}  // namespace coxswain::tools
