#pragma once
// The launcher's parameters of this process, for options not given.

#include "options/subcommand.hpp"

#include "coxswain/launch/detection.hpp"

#include <fmt/format.h>

#include <optional>

namespace coxswain::tools {

// Detected once. Its values throw coxswain::error (INVALID_ARGUMENT) where a variable is wrong.
[[nodiscard]] launch::parameters const& launched();

// Why the launcher does not provide a parameter, and what to set, after a space; empty if unknown.
template <class Value>
[[nodiscard]] std::string why_missing(launch::sourced_value<Value> launch::parameters::*what) {
  auto const& why = (launched().*what).why_missing();
  return why.empty() ? "" : " " + why;
}

// One of its parameters, as the fallback of an option.
template <class Value>
[[nodiscard]] subcommand::fallback from_launcher(
    launch::sourced_value<Value> launch::parameters::*what) {
  return [what]() -> std::optional<subcommand::origin> {
    auto const& found = launched().*what;
    if (!found.value()) return std::nullopt;
    return subcommand::origin{fmt::format("{}", *found.value()), "launcher " + found.from()};
  };
}

}  // namespace coxswain::tools
