#pragma once
// The percent coding of grpc-message: bytes outside of 0x20 to 0x7E, and '%', become %XX.

#include <cstddef>
#include <string>
#include <string_view>

namespace coxswain::http2 {

// The text, cut where the encoded form would be longer than `bytes_max`. It is cut between two
// characters of UTF-8, and ends with "..." then.
[[nodiscard]] std::string percent_encoded(std::string_view text, std::size_t bytes_max);

// Malformed sequences stay unchanged.
[[nodiscard]] std::string percent_decoded(std::string_view text);

}  // namespace coxswain::http2
