#pragma once
// Error codes of HTTP/2 (RFC 9113, section 7).

#include <cstdint>

namespace coxswain::http2 {

enum class error_code : std::uint32_t {
  no_error = 0,
  protocol_error = 1,
  internal_error = 2,
  flow_control_error = 3,
  stream_closed = 5,
  frame_size_error = 6,
  refused_stream = 7,
  cancel = 8,
  compression_error = 9,
  enhance_your_calm = 11,
};

}  // namespace coxswain::http2
