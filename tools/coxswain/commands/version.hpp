#pragma once
// The version of the software; CMake knows it.

namespace coxswain::tools {

inline constexpr auto version = COXSWAIN_VERSION;

}  // namespace coxswain::tools
