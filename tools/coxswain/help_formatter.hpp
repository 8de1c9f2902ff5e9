#pragma once
// How --help looks: two columns, wrapped to the width of a page, without the name of each option's
// variable, which follows from the option's.

#include <CLI/CLI.hpp>

#include <string>

namespace coxswain::tools {

class help_formatter : public CLI::Formatter {
 public:
  std::string make_usage(CLI::App const* app, std::string name) const override;
  std::string make_option(CLI::Option const* option, bool is_positional) const override;
  std::string make_subcommand(CLI::App const* command) const override;
};

}  // namespace coxswain::tools
