#pragma once
// The value of grpc-timeout: up to 8 digits and a unit, one of H M S m u n.

#include "coxswain/base/time.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace coxswain::http2 {

// Nothing if the text is malformed. A timeout beyond the longest duration is `without_limit`.
[[nodiscard]] std::optional<duration> parse_grpc_timeout(std::string_view text) noexcept;

// The shortest timeout that can be written and is not below `timeout`; negative ones count as zero.
// `without_limit` cannot be written: such a call has no grpc-timeout.
[[nodiscard]] std::string format_grpc_timeout(duration timeout);

}  // namespace coxswain::http2
