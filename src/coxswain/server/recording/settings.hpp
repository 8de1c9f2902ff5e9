#pragma once
// The options of the core as names and texts, for recordings.

#include "coxswain/core/config.hpp"
#include "coxswain/wire/recording.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::server {

using settings = std::vector<std::pair<std::string, std::string>>;

// All options; each token as its `recorded_token`.
[[nodiscard]] settings settings_of(core::config const& o);

// Missing options keep their defaults; unknown names are ignored. Throws coxswain::error:
// INVALID_ARGUMENT, a value is malformed.
[[nodiscard]] core::config config_of(settings const& from);
// With the moment of its start.
[[nodiscard]] core::config config_of(wire::recording_head const& from);

// The setting "credentials", and the credentials it represents: none if it is malformed.
[[nodiscard]] std::string recorded(std::vector<core::credential> const& all);
[[nodiscard]] std::optional<std::vector<core::credential>> recorded_credentials(
    std::string const& text);

// The placeholder of a credential's token in a recording; any other text represents a wrong token.
[[nodiscard]] std::string recorded_token(std::size_t index);

}  // namespace coxswain::server
