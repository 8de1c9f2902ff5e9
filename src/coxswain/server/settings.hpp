#pragma once
// The options of the core as names and texts, for recordings.

#include "coxswain/core/config.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::server {

using settings = std::vector<std::pair<std::string, std::string>>;

// All but the tokens, each of which is told as its `recorded_token`.
[[nodiscard]] settings settings_of(core::config const& o);

// What is not named keeps its default; names that are not known are left out. Throws
// coxswain::error: INVALID_ARGUMENT, a value is not one.
[[nodiscard]] core::config config_of(settings const& from);

// The setting "credentials", and the credentials that it stands for: none if it is none.
[[nodiscard]] std::string recorded(std::vector<core::credential> const& all);
[[nodiscard]] std::optional<std::vector<core::credential>> recorded_credentials(
    std::string const& text);

// What stands in a recording for the token of a credential; another text stands for a wrong one.
[[nodiscard]] std::string recorded_token(std::size_t index);

}  // namespace coxswain::server
