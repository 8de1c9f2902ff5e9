#pragma once
// The nearest known name to an unknown one.

#include <set>
#include <string>
#include <string_view>

namespace coxswain::tools {

// The name that needs the fewest changes of a letter; empty if none is near.
[[nodiscard]] std::string nearest(std::string_view given, std::set<std::string> const& names);

}  // namespace coxswain::tools
