#pragma once
// Scripts that have a shell complete the subcommands, their options and what these allow. Not here:
// what only a coordinator knows, such as keys.

#include <CLI/CLI.hpp>

#include <string>

namespace coxswain::tools {

[[nodiscard]] std::string bash_completion(CLI::App const& program);
[[nodiscard]] std::string zsh_completion(CLI::App const& program);
[[nodiscard]] std::string fish_completion(CLI::App const& program);

}  // namespace coxswain::tools
