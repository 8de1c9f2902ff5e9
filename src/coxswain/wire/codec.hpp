#pragma once
// Translates core/model/messages to the bytes of proto/coxswain/v1 and back. Not here: what a
// message means, whether its keys are well formed (core), and the length prefix on the way in
// (wire/frame). Text that is not UTF-8 is sent with '?' for each wrong byte, since a peer refuses a
// message with such text. Timeouts are rounded up to whole milliseconds, so that no deadline comes
// early; other times are rounded down. All functions may be called from several threads; each
// thread keeps about 4 KiB for them.

#include "coxswain/base/bytes.hpp"
#include "coxswain/base/ids.hpp"
#include "coxswain/base/status.hpp"
#include "coxswain/core/model/messages.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace coxswain::wire {

// Protobuf's limit for one message. Nothing larger may be encoded: the limits of the coordinator
// must be below it.
inline constexpr std::size_t message_bytes_max = 0x7fff'ffff;

// The size limit of a request without its values. While it is decoded, a list of numbers or of
// short keys takes up to sixty times its bytes, one of empty devices ninety times; so a frame must
// not be full of them. It has room for the ids of 800,000 open requests, or for a million
// participants.
inline constexpr std::size_t request_bytes_max = std::size_t{4} * 1024 * 1024;

// Appends the message as a whole frame, with its length prefix.
void append_frame(std::string& out, core::client_message const& message);

// The size of an encoded request without its values, limited by `request_bytes_max`.
[[nodiscard]] std::size_t bytes_beside_values(std::string_view payload);

// Appends an encoded Put, Append, Push or Barrier with `value` in the place of its own, which is
// not empty: faster than encoding it again. Returns false and appends nothing if it must be encoded
// again, because a field is missing or repeated.
[[nodiscard]] bool append_with_value(std::string& out, std::string_view payload,
                                     std::string_view value);

// The bytes that a message was decoded from.
struct decoded_payload {
  std::string_view whole{};
  // It has no texts but those of the message, as encoders write the frequent requests. False: it
  // may have others, in ignored fields.
  bool is_plain{};
  // Where a plain one has the value of a Put, Append, Push or Barrier.
  std::string_view value{};
};

// Decodes into `to`, whose memory is used again; after an error it and `from` are unspecified.
// INVALID_ARGUMENT: the payload is not a ClientMessage or exceeds `request_bytes_max`, a resume
// secret has the wrong size, or there is an id but no request that this version knows (without an
// id that is a heartbeat).
[[nodiscard]] status decode_client(std::string_view payload, core::client_message& to,
                                   decoded_payload& from);

[[nodiscard]] inline result<core::client_message> decode_client(std::string_view payload,
                                                                decoded_payload* from = nullptr) {
  result<core::client_message> decoded;
  decoded_payload known;
  status why = decode_client(payload, *decoded, known);
  if (from) *from = known;
  if (!why.ok()) decoded = std::move(why);
  return decoded;
}

// A ServerMessage without its id: `head`, then `tail`. The tail is a large value, shared instead of
// copied; otherwise it is empty.
struct encoded_answer {
  std::string head;
  bytes tail;

  [[nodiscard]] std::size_t size() const noexcept { return head.size() + tail.size(); }
};

// One encoding can answer many requests, since an id followed by it parses as one message.
[[nodiscard]] encoded_answer encode(core::answer const& answer);
// The same, appended to `head`. `tail` must be empty.
void encode(core::answer const& answer, std::string& head, bytes& tail);

// Appends the length prefix and the id of a frame whose remaining `body_bytes` are an
// encoded_answer's head and tail. Zero is the id of pushes and handshake answers.
void append_server_head(std::string& out, request_id id, std::size_t body_bytes);

struct server_message {
  request_id id{};
  core::answer what;

  friend bool operator==(server_message const&, server_message const&) = default;
};

// INVALID_ARGUMENT: the payload is not a ServerMessage, or a session's secret has the wrong size. A
// body unknown to this version is ignored; an unknown code becomes UNKNOWN, an unknown state
// `never_connected`.
[[nodiscard]] result<server_message> decode_server(std::string_view payload);

}  // namespace coxswain::wire
