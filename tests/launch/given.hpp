#pragma once
// A written environment, and what is detected in it.

#include "coxswain/launch/detection.hpp"

#include <map>
#include <string>

namespace coxswain::test {

using environment = std::map<std::string, std::string>;

inline launch::parameters detected(environment const& variables, environment const& files = {},
                                   std::string const& only = {}) {
  auto look_up = [](environment const& in) {
    return [&in](std::string const& name) -> std::optional<std::string> {
      auto const found = in.find(name);
      if (found == in.end()) return std::nullopt;
      return found->second;
    };
  };
  return launch::detect({look_up(variables), look_up(files)}, only);
}

// With further variables, which override.
inline environment with(environment variables, environment const& others) {
  for (auto const& [name, value] : others) variables[name] = value;
  return variables;
}

inline environment without(environment variables, std::string const& name) {
  variables.erase(name);
  return variables;
}

// "VALUE from VARIABLES", the text of the error, "missing: WHY", or "nothing".
template <class Value>
std::string text_of(launch::sourced_value<Value> const& what) {
  if (!what.why_missing().empty()) return "missing: " + what.why_missing();
  if (!what.is_there()) return "nothing";
  if (!what.problem().ok()) return what.problem().message();
  std::string value;
  if constexpr (std::is_same_v<Value, std::string>) {
    value = *what.value();
  } else {
    value = std::to_string(*what.value());
  }
  return value + " from " + what.from();
}

}  // namespace coxswain::test
