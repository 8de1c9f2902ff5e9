#pragma once
// Recordings of protocol version 1, in which Remove also removed a directory.

#include <string>
#include <string_view>

namespace coxswain::test {

// The same inputs in the current protocol. Throws coxswain::error if it is no recording of version
// 1.
[[nodiscard]] std::string from_version_1(std::string_view recording);

}  // namespace coxswain::test
