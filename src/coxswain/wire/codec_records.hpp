#pragma once
#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/codec_fields.hpp"

namespace coxswain::wire {
void append_frame_by_records(std::string& out, core::client_message const& message);
[[nodiscard]] status decode_client_by_records(std::string_view payload, core::client_message& to,
                                              decoded_payload& from);
void encode_by_records(core::answer const& answer, std::string& head, bytes& tail);
[[nodiscard]] result<server_message> decode_server_by_records(std::string_view payload);
}  // namespace coxswain::wire
