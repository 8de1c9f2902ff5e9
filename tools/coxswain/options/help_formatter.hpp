#pragma once
// How --help looks: at most 79 columns wide, options and subcommands in two of them, the options
// that many subcommands have in a group of their own at the end, and without the name of each
// option's variable, which follows from the option's.

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace coxswain::tools {

// The last group: the coordinator's address, credentials, --config and --help.
inline constexpr auto common_options = "Common options";

class help_formatter : public CLI::Formatter {
 public:
  help_formatter();

  std::string make_usage(CLI::App const* app, std::string name) const override;
  std::string make_description(CLI::App const* app) const override;
  std::string make_help(CLI::App const* app, std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_expanded(CLI::App const* group) const override;
  std::string make_footer(CLI::App const* app) const override;
  std::string make_option(CLI::Option const* option, bool is_positional) const override;
  std::string make_subcommand(CLI::App const* command) const override;

 private:
  [[nodiscard]] std::string options_in(CLI::App const& app, std::string const& group) const;
};

// The groups of its options in the order in which they are shown.
[[nodiscard]] std::vector<std::string> groups_of(CLI::App const& app);

// The two columns of an option: "-n,--num-tasks N", and its description.
[[nodiscard]] std::string option_head(CLI::Option const& option);
[[nodiscard]] std::string option_text(CLI::Option const& option);

// The values that it allows, if these can be counted.
[[nodiscard]] std::vector<std::string> option_choices(CLI::Option const& option);

}  // namespace coxswain::tools
