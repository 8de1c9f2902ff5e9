#pragma once
// What a coordinator may say of itself in its HelloReply. The ranges are documented in
// proto/coxswain/v1/coxswain.proto; the server's options keep to them.

#include "coxswain/core/model/messages.hpp"

#include <optional>
#include <string>

namespace coxswain {

// The first thing that is out of its range, such as "a heartbeat period of more than 30 days".
[[nodiscard]] std::optional<std::string> out_of_range(core::hello_answer const& said);

}  // namespace coxswain
