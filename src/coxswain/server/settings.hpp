#pragma once
// The options of the core as names and texts, for recordings.

#include "coxswain/core/config.hpp"

#include <string>
#include <utility>
#include <vector>

namespace coxswain::server {

using settings = std::vector<std::pair<std::string, std::string>>;

// All but the token, of which only is told whether there is one: `recorded_token`.
[[nodiscard]] settings settings_of(core::config const& o);

// What is not named keeps its default; names that are not known are left out. Throws
// coxswain::error: INVALID_ARGUMENT, a value is not one.
[[nodiscard]] core::config config_of(settings const& from);

// What stands in a recording for the token; another text stands for a wrong one.
inline constexpr auto recorded_token = "right";

}  // namespace coxswain::server
