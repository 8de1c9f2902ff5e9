#include "tests/fuzz/wire_checks.hpp"

#include "coxswain/core/kernel/text.hpp"
#include "coxswain/v1/coxswain.pb.h"
#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/field_walk.hpp"
#include "coxswain/wire/frame.hpp"
#include "coxswain/wire/routed.hpp"
#include "tests/fuzz/violation.hpp"
#include "tests/wire/live_bytes.hpp"
#include "tests/wire/samples.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <vector>

namespace coxswain::wire {
namespace {

using test::random_source;
using test::report_violation;

// The memory that decoding a payload may take: a growing list of numbers takes several times its
// bytes, and a list of empty entries more.
std::size_t memory_bytes_max(std::string_view payload) { return 64 * 1024 + 200 * payload.size(); }

// Decodes; if that succeeds, the result must survive a round trip. True if it succeeded.
template <class Decode>
bool survives(Decode decode, std::string const& payload) {
  auto const before = test::live_bytes();
  test::watch_peak();
  auto const message = decode(payload);
  auto const taken = test::peak_bytes() - before;
  if (taken > memory_bytes_max(payload)) {
    report_violation("a payload of ", payload.size(), " bytes took ", taken, " bytes");
  }
  if (!message) return false;
  auto const again = decode(test::payload_of(*message));
  if (!again || *again != *message) report_violation("a message changed on its way");
  return true;
}

// Feeds the stream in random pieces to a decoder, and returns the frames before the stream ends
// or fails. No buffer may be larger than the input justifies.
std::vector<std::string> read_in_pieces(random_source& rng, std::string_view stream,
                                        std::size_t limit) {
  std::vector<std::string> payloads;
  frame_decoder decoder{limit};
  auto const piece_bytes_max = 1 + rng.size(stream.size());
  std::size_t fed = 0;
  while (fed < stream.size()) {
    auto const size = rng.is_spent() ? stream.size() : rng.upto(piece_bytes_max);
    auto const piece = stream.substr(fed, size);
    fed += piece.size();
    decoder.feed(piece);
    for (;;) {
      auto const payload = decoder.next();
      if (decoder.buffer_bytes() > std::min(limit, 2 * fed)) report_violation("too large a buffer");
      if (!payload) return payloads;
      if (!*payload) break;
      if ((*payload)->size() > limit) report_violation("a payload beyond the limit");
      payloads.emplace_back(**payload);
    }
  }
  return payloads;
}

// The same with the whole stream at once.
std::vector<std::string> read_at_once(std::string_view stream, std::size_t limit) {
  std::vector<std::string> payloads;
  while (stream.size() >= length_bytes) {
    std::size_t length = 0;
    for (char const byte : stream.substr(0, length_bytes)) {
      length = length * 256 + static_cast<unsigned char>(byte);
    }
    if (length > limit || length > stream.size() - length_bytes) break;
    payloads.emplace_back(stream.substr(length_bytes, length));
    stream.remove_prefix(length_bytes + length);
  }
  return payloads;
}

// Groups, which no message of ours has: we refuse them, and Protobuf skips them.
bool may_have_groups(std::string_view message) {
  while (!message.empty()) {
    auto const rest = message;
    auto tag = take_varint(message);
    if (!tag) return false;
    if ((*tag & 7) == 3) return true;
    message = rest;
    auto const one = take_field(message);
    if (!one) return false;
    if (may_have_groups(one->content)) return true;
  }
  return false;
}

// What only relays send and get is left to decode_routed.
bool has_routed(std::string_view message) {
  while (auto const one = take_field(message)) {
    if (one->number == v1::ClientMessage::kRoutedFieldNumber) return true;
  }
  return false;
}

// Protobuf merges a status in several pieces; we drop the text of the first ones if they have no
// code.
bool has_status_in_pieces(std::string_view message) {
  int pieces = 0;
  while (auto const one = take_field(message)) {
    pieces += one->number == v1::ServerMessage::kStatusFieldNumber ? 1 : 0;
  }
  return pieces > 1;
}

// Protobuf's parser accepts the same payloads, but for groups, unknown requests and
// secrets of the wrong size, and reads the same in them and in what we write, but for a status in
// pieces.
template <class Message, class Decode>
void compare_with_protobuf(Decode decode, std::string const& payload) {
  auto const ours = decode(payload);
  Message theirs;
  if (!theirs.ParseFromString(payload)) {
    if (ours && !has_routed(payload))
      report_violation("Protobuf refuses ", core::hexadecimal(payload));
    return;
  }
  if (!ours) {
    bool const is_malformed = ours.error().message().find("not a valid") != std::string::npos;
    if (is_malformed && !may_have_groups(payload))
      report_violation("Protobuf accepts ", core::hexadecimal(payload));
    return;
  }
  auto const is_ours = [&] {
    auto const read = decode(theirs.SerializeAsString());
    return read && *read == *ours;
  };
  bool const may_differ = std::same_as<Message, v1::ServerMessage> && has_status_in_pieces(payload);
  if (!may_differ && !is_ours())
    report_violation("Protobuf reads differently ", core::hexadecimal(payload));
  if (!theirs.ParseFromString(test::payload_of(*ours)) || !is_ours()) {
    report_violation("Protobuf reads differently what we write for ", core::hexadecimal(payload));
  }
}

}  // namespace

bool survives_in_some_direction(std::string const& payload) {
  auto const from_client = [](std::string_view from) { return decode_client(from); };
  compare_with_protobuf<v1::ClientMessage>(from_client, payload);
  compare_with_protobuf<v1::ServerMessage>(decode_server, payload);
  auto const client = survives(from_client, payload);
  auto const server = survives(decode_server, payload);
  return client || server;
}

bool survives_as_routed(std::string_view payload) {
  if (!is_routed(payload)) return false;
  auto const what = decode_routed(payload);
  if (!what) return false;
  std::string frame;
  using kind = routed::kind;
  switch (what->what) {
    case kind::opened: append_opened(frame, what->route, what->secret, what->peer); break;
    case kind::closed: append_closed(frame, what->route, what->has_exited); break;
    case kind::room: append_room(frame, what->route, what->room); break;
    case kind::content:
      append_content_head(frame, what->route, what->content.size());
      frame += what->content;
      break;
    case kind::living: {
      std::vector<std::uint32_t> silent;
      for (auto rest = what->silent; auto const one = take_route(rest);) silent.push_back(*one);
      append_living(frame, silent);
      break;
    }
    case kind::shared: {
      std::string to;
      for (auto rest = what->to; auto const one = take_receiver(rest);) append_receiver(to, *one);
      append_shared(frame, what->content, to);
      break;
    }
  }
  auto const again = decode_routed(std::string_view{frame}.substr(length_bytes));
  bool const is_same = again && again->what == what->what && again->route == what->route &&
                       again->content == what->content && again->room == what->room &&
                       again->peer == what->peer && again->has_exited == what->has_exited;
  if (!is_same) report_violation("a message about a route changed on its way");
  return true;
}

void check_pieces(random_source& rng, std::string_view stream, std::size_t limit) {
  if (read_in_pieces(rng, stream, limit) != read_at_once(stream, limit)) {
    report_violation("the pieces matter");
  }
}

}  // namespace coxswain::wire
