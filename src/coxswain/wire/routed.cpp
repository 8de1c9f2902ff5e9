#include "coxswain/wire/routed.hpp"

#include "coxswain/wire/field_walk.hpp"
#include "coxswain/wire/field_writer.hpp"
#include "coxswain/wire/frame.hpp"

#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <array>

namespace coxswain::wire {
namespace {

// The numbers of fields: of ClientMessage and ServerMessage, of Routed, and of its messages.
constexpr int answered_field = 2;
constexpr int routed_field = 21;
constexpr int route_field = 1;
constexpr int opened_field = 2;
constexpr int closed_field = 3;
constexpr int room_field = 4;
constexpr int content_field = 5;
constexpr int living_field = 6;
constexpr int shared_field = 7;
constexpr int secret_field = 1;
constexpr int peer_field = 2;
constexpr int exited_field = 1;
constexpr int silent_field = 1;
constexpr int rest_field = 1;
constexpr int to_field = 2;

constexpr std::size_t head_max = 4 + 2 * tag_bytes_max + 3 * number_field_bytes_max;

status malformed(std::string_view what) {
  return {errc::invalid_argument, "a message about a route " + std::string{what}};
}

// Appends the frame up to the field of Routed with `bytes` of content.
void append_head(std::string& out, std::uint32_t route, int field, std::size_t bytes) {
  std::size_t const inner = number_field_bytes(route) + 1 + varint_bytes(bytes) + bytes;
  append_length(out, 2 + varint_bytes(inner) + inner);
  std::array<char, head_max> room;
  field_writer to{room.data()};
  to.put_head(routed_field, inner);
  to.put_number(route_field, route);
  to.put_head(field, bytes);
  out += to.written();
}

bool read_opened(std::string_view from, routed& to) {
  bool has_secret = false;
  while (auto const field = take_field(from)) {
    if (field->number == secret_field) {
      has_secret = field->content.size() == to.secret.size();
      if (!has_secret) return false;
      std::copy(field->content.begin(), field->content.end(), to.secret.begin());
    } else if (field->number == peer_field) {
      to.peer = field->content;
    }
  }
  return from.empty() && has_secret && to.peer.size() <= route_peer_max;
}

bool read_closed(std::string_view from, routed& to) {
  while (auto const field = take_field(from)) {
    if (field->number == exited_field) to.has_exited = field->value != 0;
  }
  return from.empty();
}

bool read_living(std::string_view from, routed& to) {
  while (auto const field = take_field(from)) {
    if (field->number == silent_field) to.silent = field->content;
  }
  return from.empty();
}

bool read_shared(std::string_view from, routed& to) {
  while (auto const field = take_field(from)) {
    if (field->number == rest_field) to.content = field->content;
    if (field->number == to_field) to.to = field->content;
  }
  return from.empty() && to.content.size() <= route_shared_max;
}

void append_varint(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to += static_cast<char>(value | 0x80);
  to += static_cast<char>(value);
}

}  // namespace

std::optional<receiver> take_receiver(std::string_view& from) {
  auto rest = from;
  auto const route = take_varint(rest);
  auto const id = take_varint(rest);
  if (!route || !id || *route > UINT32_MAX) return std::nullopt;
  from = rest;
  return receiver{static_cast<std::uint32_t>(*route), request_id{*id}};
}

void append_receiver(std::string& to, receiver const& which) {
  append_varint(to, which.route);
  append_varint(to, which.id.value);
}

std::size_t shared_frame_bytes(request_id id, std::size_t rest_bytes) noexcept {
  return length_bytes + number_field_bytes(id.value) + rest_bytes;
}

void append_shared(std::string& out, std::string_view rest, std::string_view to) {
  std::size_t const shared = content_field_bytes(rest.size()) + content_field_bytes(to.size());
  std::size_t const inner = 1 + varint_bytes(shared) + shared;
  append_length(out, 2 + varint_bytes(inner) + inner);
  std::array<char, head_max + tag_bytes_max> room;
  field_writer head{room.data()};
  head.put_head(routed_field, inner);
  head.put_head(shared_field, shared);
  if (!rest.empty()) head.put_head(rest_field, rest.size());
  out += head.written();
  out += rest;
  if (to.empty()) return;
  field_writer list{room.data()};
  list.put_head(to_field, to.size());
  out += list.written();
  out += to;
}

bool is_heartbeat(std::string_view payload) noexcept {
  if (payload.empty()) return true;
  auto const only = take_field(payload);
  return only && only->number == answered_field && payload.empty();
}

std::optional<std::uint32_t> take_route(std::string_view& from) {
  if (from.size() < sizeof(std::uint32_t)) return std::nullopt;
  auto const value =
      boost::endian::load_little_u32(reinterpret_cast<unsigned char const*>(from.data()));
  from.remove_prefix(sizeof(value));
  return value;
}

result<routed> decode_routed(std::string_view payload) {
  auto const outer = take_field(payload);
  if (!outer || !payload.empty()) return malformed("is not its only field");
  routed found;
  auto rest = outer->content;
  auto const number = take_field(rest);
  if (number && number->number == shared_field && rest.empty()) {
    found.what = routed::kind::shared;
    if (!read_shared(number->content, found)) return malformed("is shared in no valid way");
    return found;
  }
  if (number && number->number == living_field && rest.empty()) {
    found.what = routed::kind::living;
    if (!read_living(number->content, found)) return malformed("lists routes in no valid way");
    return found;
  }
  if (!number || number->number != route_field || number->value == 0 ||
      number->value > UINT32_MAX) {
    return malformed("does not begin with its number");
  }
  found.route = static_cast<std::uint32_t>(number->value);
  auto const what = take_field(rest);
  if (!what || !rest.empty()) return malformed("has not exactly one meaning");
  switch (what->number) {
    case opened_field:
      found.what = routed::kind::opened;
      if (!read_opened(what->content, found)) return malformed("opens it in no valid way");
      return found;
    case closed_field:
      found.what = routed::kind::closed;
      if (!read_closed(what->content, found)) return malformed("closes it in no valid way");
      return found;
    case room_field:
      found.what = routed::kind::room;
      if (what->value > route_room_max) return malformed("makes too much room");
      found.room = static_cast<std::uint32_t>(what->value);
      return found;
    case content_field:
      found.what = routed::kind::content;
      if (what->content.size() > route_content_max) return malformed("has too much content");
      found.content = what->content;
      return found;
    default: return malformed("is of an unknown kind");
  }
}

void append_opened(std::string& out, std::uint32_t route, core::session_secret const& secret,
                   std::string_view peer) {
  std::array<char,
             2 * number_field_bytes_max + std::tuple_size_v<core::session_secret> + route_peer_max>
      room;
  field_writer content{room.data()};
  content.put_head(secret_field, secret.size());
  content.put({reinterpret_cast<char const*>(secret.data()), secret.size()});
  content.put_head(peer_field, peer.size());
  content.put(peer);
  append_head(out, route, opened_field, content.written().size());
  out += content.written();
}

void append_closed(std::string& out, std::uint32_t route, bool has_exited) {
  std::array<char, number_field_bytes_max> room;
  field_writer content{room.data()};
  content.put_number(exited_field, has_exited);
  append_head(out, route, closed_field, content.written().size());
  out += content.written();
}

void append_living(std::string& out, std::span<std::uint32_t const> silent) {
  std::size_t const routes = silent.size() * sizeof(std::uint32_t);
  std::size_t const living = routes == 0 ? 0 : 1 + varint_bytes(routes) + routes;
  std::size_t const inner = 1 + varint_bytes(living) + living;
  append_length(out, 2 + varint_bytes(inner) + inner);
  std::array<char, head_max + tag_bytes_max> room;
  field_writer to{room.data()};
  to.put_head(routed_field, inner);
  to.put_head(living_field, living);
  if (routes != 0) to.put_head(silent_field, routes);
  out += to.written();
  for (auto const route : silent) {
    std::array<unsigned char, sizeof(route)> bytes;
    boost::endian::store_little_u32(bytes.data(), route);
    out.append(bytes.begin(), bytes.end());
  }
}

void append_room(std::string& out, std::uint32_t route, std::uint32_t bytes) {
  std::size_t const inner = number_field_bytes(route) + 1 + varint_bytes(bytes);
  append_length(out, 2 + varint_bytes(inner) + inner);
  std::array<char, head_max> room;
  field_writer to{room.data()};
  to.put_head(routed_field, inner);
  to.put_number(route_field, route);
  to.put_present_number(room_field, bytes);
  out += to.written();
}

void append_content_head(std::string& out, std::uint32_t route, std::size_t bytes) {
  // The content is counted, and follows.
  append_head(out, route, content_field, bytes);
}

}  // namespace coxswain::wire
