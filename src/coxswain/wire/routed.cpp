#include "coxswain/wire/routed.hpp"

#include "coxswain/wire/field_walk.hpp"
#include "coxswain/wire/field_writer.hpp"
#include "coxswain/wire/frame.hpp"

#include <algorithm>
#include <array>

namespace coxswain::wire {
namespace {

// The numbers of fields: of ClientMessage and ServerMessage, of Routed, and of RouteOpened.
constexpr int routed_field = 21;
constexpr int route_field = 1;
constexpr int opened_field = 2;
constexpr int closed_field = 3;
constexpr int room_field = 4;
constexpr int content_field = 5;
constexpr int secret_field = 1;
constexpr int peer_field = 2;

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
  while (auto const one = take_field(from)) {
    if (one->number == secret_field) {
      has_secret = one->content.size() == to.secret.size();
      if (!has_secret) return false;
      std::copy(one->content.begin(), one->content.end(), to.secret.begin());
    } else if (one->number == peer_field) {
      to.peer = one->content;
    }
  }
  return from.empty() && has_secret && to.peer.size() <= route_peer_max;
}

}  // namespace

result<routed> decode_routed(std::string_view payload) {
  auto const outer = take_field(payload);
  if (!outer || !payload.empty()) return malformed("is not its only field");
  routed found;
  auto rest = outer->content;
  auto const number = take_field(rest);
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
    case closed_field: found.what = routed::kind::closed; return found;
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

void append_closed(std::string& out, std::uint32_t route) {
  append_head(out, route, closed_field, 0);
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
