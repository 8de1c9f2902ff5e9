#pragma once
// Recordings of protocol version 1, in which a Remove took a directory, too.

#include <string>
#include <string_view>

namespace coxswain::test {

// The same inputs in the present protocol. Throws coxswain::error: it is no recording of version 1.
[[nodiscard]] std::string from_version_1(std::string_view recording);

}  // namespace coxswain::test
