#pragma once
// The ranges of the values in a HelloReply. The ranges are documented in
// proto/coxswain/v1/coxswain.proto; the server's options keep to them.

#include "coxswain/core/model/messages.hpp"

#include <optional>
#include <string>

namespace coxswain::detail {

// The first value that is out of range, such as "a heartbeat period of more than 30 days".
[[nodiscard]] std::optional<std::string> out_of_range(core::hello_answer const& terms);

}  // namespace coxswain::detail
