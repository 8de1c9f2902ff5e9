#pragma once
// The two ways of decoding a request. Private to wire/codec.

#include "coxswain/base/status.hpp"
#include "coxswain/core/model/messages.hpp"

#include <string_view>

namespace coxswain::wire {

// The fast path, for frequent requests: from the bytes into the message, whose memory is used
// again. False if anything is unusual: then Protobuf decides, and the message is unspecified. The
// payload has at most `request_bytes_max`.
[[nodiscard]] bool decode_quickly(std::string_view payload, core::client_message& to);

// The decoded payload. It has at most `request_bytes_max` without its values.
[[nodiscard]] result<core::client_message> decode_with_protobuf(std::string_view payload);

}  // namespace coxswain::wire
