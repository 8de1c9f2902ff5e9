#pragma once
// Variables of the environment that are probably meant for Coxswain and have no effect.

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace coxswain::tools {

// A warning for each variable of this process that begins with COXSWAIN_, is not known to any
// subcommand of `program` or to the library, and has a name near to a known one. Names without a
// known one nearby are other programs' own.
[[nodiscard]] std::vector<std::string> warnings_of_misspelt_variables(CLI::App const& program);

}  // namespace coxswain::tools
