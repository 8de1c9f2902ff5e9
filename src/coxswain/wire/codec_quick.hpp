#pragma once
// The two ways of decoding a request. Private to wire/codec.

#include "coxswain/base/status.hpp"
#include "coxswain/core/model/messages.hpp"

#include <string_view>

namespace coxswain::wire {

// The straight way, for the requests that come in masses: from the bytes into the message, which
// must be a new one. False if there is anything unusual: then Protobuf decides, and the message is
// in no certain state. The payload has at most `request_bytes_max`.
[[nodiscard]] bool decode_quickly(std::string_view payload, core::client_message& to);

// What the payload means. It has at most `request_bytes_max` beside its values.
[[nodiscard]] result<core::client_message> decode_with_protobuf(std::string_view payload);

}  // namespace coxswain::wire
