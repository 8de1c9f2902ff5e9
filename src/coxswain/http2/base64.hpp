#pragma once
// Base64 (RFC 4648) as gRPC writes binary headers: without padding, and read with or without it.

#include <optional>
#include <string>
#include <string_view>

namespace coxswain::http2 {

// Without padding.
[[nodiscard]] std::string to_base64(std::string_view content);

// Nothing if the text is not base64. What fills up the last character is not looked at.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

}  // namespace coxswain::http2
