#include "options/misspelt_variables.hpp"

#include "options/nearest.hpp"
#include "options/subcommand.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace coxswain::tools {
namespace {

constexpr std::string_view prefix = "COXSWAIN_";

// Kubernetes sets PORT and SERVICE variables for a Service that is called coxswain. Other words of
// so few letters are near to a known name by chance.
bool may_be_others(std::string_view name) {
  return name.starts_with("PORT") || name.starts_with("SERVICE_") || name.size() < 4;
}

// Without the prefix. Those of no option are the token, and what is set for a command or a task.
std::set<std::string> known_names(CLI::App const& program) {
  std::set<std::string> names{
      "CONFIG",      "EPOCH",     "ITEM",     "ITEM_NUMBER",      "ITEM_REDELIVERIES",
      "LOCK_TOKEN",  "PLACEMENT", "RESTARTS", "TASK_INCARNATION", "TASK_SECRET",
      "TASK_SOCKET", "TOKEN"};
  for (auto const* one : program.get_subcommands([](CLI::App const*) { return true; })) {
    for (auto const& variable : dynamic_cast<subcommand const&>(*one).variables()) {
      names.insert(variable.substr(prefix.size()));
    }
  }
  return names;
}

}  // namespace

std::vector<std::string> warnings_of_misspelt_variables(CLI::App const& program) {
  auto const known = known_names(program);
  std::vector<std::string> found;
  for (char** one = environ; *one != nullptr; ++one) {
    std::string_view const entry{*one};
    if (!entry.starts_with(prefix)) continue;
    auto const name = entry.substr(prefix.size(), entry.find('=') - prefix.size());
    if (known.contains(std::string{name}) || may_be_others(name)) continue;
    auto const near = nearest(name, known);
    if (near.empty()) continue;
    found.push_back(fmt::format("warning: {0}{1} is set and has no effect; did you mean {0}{2}?",
                                prefix, name, near));
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace coxswain::tools
