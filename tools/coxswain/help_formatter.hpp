#pragma once
// How --help looks: two columns, wrapped to the width of a page, without the name of each option's
// variable, which follows from the option's.

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace coxswain::tools {

class help_formatter : public CLI::Formatter {
 public:
  std::string make_usage(CLI::App const* app, std::string name) const override;
  std::string make_option(CLI::Option const* option, bool is_positional) const override;
  std::string make_subcommand(CLI::App const* command) const override;
};

// What stands in the two columns of an option: "-n,--num-tasks N", and what it is for.
[[nodiscard]] std::string option_head(CLI::Option const& option);
[[nodiscard]] std::string option_text(CLI::Option const& option);

// The values that it allows, if these can be counted.
[[nodiscard]] std::vector<std::string> option_choices(CLI::Option const& option);

}  // namespace coxswain::tools
