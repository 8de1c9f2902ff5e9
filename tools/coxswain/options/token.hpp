#pragma once
// The tokens of a job. They are never arguments, which all users can see.

#include "options/subcommand.hpp"

#include "coxswain/core/access/credential.hpp"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::tools {

CLI::Option* add_token_file(CLI::App& to, std::string& into);

// The fallback of --token-file: that the variable COXSWAIN_TOKEN is set, without its content.
[[nodiscard]] std::optional<subcommand::origin> token_of_variable();

// The content of the file without surrounding space; without a file, the variable COXSWAIN_TOKEN;
// else empty. Throws program_error (usage): the file cannot be read or holds no token.
[[nodiscard]] std::string read_token(std::string const& file);

// The same for a coordinator, whose file may hold many tokens, each with its role.
CLI::Option* add_credentials_file(CLI::App& to, std::string& into);

// The variable's token is a worker's. Throws program_error (usage): as `credentials_in`, or the
// file cannot be read.
[[nodiscard]] std::vector<core::credential> read_credentials(std::string const& file);

// Parses a file: lines of a role and a token; or of a token alone, which is a worker's. Empty lines
// and those that begin with # are ignored. Throws program_error (usage): a line is wrong, which the
// text names by its number, or there is no token.
[[nodiscard]] std::vector<core::credential> credentials_in(std::string_view content,
                                                           std::string const& file);

// A warning, if all users of this machine can read the file; else empty. Those of its group may.
[[nodiscard]] std::string exposure_of(std::string const& file);

}  // namespace coxswain::tools
