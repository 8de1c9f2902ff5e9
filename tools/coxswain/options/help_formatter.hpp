#pragma once
// --help of the program: of a subcommand with many options only those that most people use, and the
// examples. --help-all has everything.

#include <CLI/CLI.hpp>

#include <string>

namespace coxswain::tools {

class help_formatter : public CLI::Formatter {
 public:
  std::string make_help(CLI::App const* of, std::string name,
                        CLI::AppFormatMode mode) const override;
};

}  // namespace coxswain::tools
