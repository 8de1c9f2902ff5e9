#pragma once
// The outcome of a call as trailers: grpc-status, grpc-message and
// grpc-status-details-bin. Not here: sending them (server_session, client_session).

#include "coxswain/base/status.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace coxswain::http2 {

// A whole block of headers, counted as HTTP/2 does: a client may close the connection for more than
// 8,192 bytes.
inline constexpr std::size_t header_block_bytes_max = 8'000;

// The overhead that HTTP/2 counts for each field besides its name and value.
inline constexpr std::size_t field_overhead_bytes = 32;

// Longer details are left out.
inline constexpr std::size_t details_bytes_max = 4'096;

struct status_fields {
  // The message is cut, so that the block of a response is below `header_block_bytes_max`.
  status_fields(errc code, std::string_view text, std::string_view details);

  std::string code;     // decimal
  std::string message;  // percent-encoded
  std::string details;  // base64; empty if there are none
};

// Of HTTP statuses as gRPC translates them, for responses without grpc-status.
[[nodiscard]] errc errc_of_http(int http_status) noexcept;

}  // namespace coxswain::http2
