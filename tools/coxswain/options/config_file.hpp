#pragma once
// A TOML file of options: keys at the top for all subcommands with that option, a section for each
// subcommand, which takes precedence. Not here: the meaning of values (subcommand).

#include <map>
#include <set>
#include <string>
#include <vector>

namespace coxswain::tools {

class config_file {
 public:
  using names = std::set<std::string>;
  using values = std::vector<std::string>;

  // `known` has the keys of each subcommand. Throws program_error (usage): the file cannot be read,
  // is not TOML, or has an unknown key.
  config_file(std::string const& path, std::map<std::string, names> const& known);

  // The value of a subcommand's key; null: none.
  [[nodiscard]] values const* find(std::string const& command, std::string const& key) const;

 private:
  std::map<std::string, std::map<std::string, values>> sections_;  // that of all has no name
};

// The values of an option as such a file has them.
[[nodiscard]] std::string in_config_file(config_file::values const& values);

}  // namespace coxswain::tools
