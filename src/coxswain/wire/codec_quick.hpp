#pragma once
// The fast ways of decoding and encoding a request, and decoding by Protobuf. Private to
// wire/codec.

#include "coxswain/base/status.hpp"
#include "coxswain/core/model/messages.hpp"

#include <string>
#include <string_view>

namespace coxswain::wire {

// The fast path, for frequent requests: from the bytes into the message, whose memory is used
// again. False if anything is unusual: then Protobuf decides, and the results are unspecified.
// `value` is where the payload has the value of a Put, Append, Push or Barrier. The payload has at
// most `request_bytes_max`.
[[nodiscard]] bool decode_quickly(std::string_view payload, core::client_message& to,
                                  std::string_view& value);

// Appends the frame of a simple request for a key or a barrier, as Protobuf would write it. False
// for all others, and nothing is appended.
[[nodiscard]] bool append_frame_quickly(std::string& out, core::client_message const& message);

// The decoded payload. It has at most `request_bytes_max` without its values.
[[nodiscard]] result<core::client_message> decode_with_protobuf(std::string_view payload);

}  // namespace coxswain::wire
