#pragma once
// The shared secret of a job. It is never an argument: those are for everybody to see.

#include <CLI/CLI.hpp>

#include <string>

namespace coxswain::tools {

CLI::Option* add_token_file(CLI::App& to, std::string& into);

// What the file holds, space around it dropped; without a file, the variable COXSWAIN_TOKEN; else
// nothing. Throws program_error (usage): the file cannot be read or holds no token.
[[nodiscard]] std::string read_token(std::string const& file);

}  // namespace coxswain::tools
