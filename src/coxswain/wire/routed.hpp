#pragma once
// The messages of a trunk: what a relay and the coordinator exchange about routes (Routed in
// proto/coxswain/v1). They are encoded and found without Protobuf, since most of them only carry
// bytes. Not here: the state of a route (server, relay).

#include "coxswain/base/ids.hpp"
#include "coxswain/base/status.hpp"
#include "coxswain/core/model/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace coxswain::wire {

// The most bytes of a route that its receiver has room for, and that one message carries.
inline constexpr std::size_t route_room_max = 64 * 1024;
inline constexpr std::size_t route_content_max = 16'000;

// The longest name of a route's peer.
inline constexpr std::size_t route_peer_max = 64;

struct routed {
  enum class kind : std::uint8_t { opened, closed, room, content };

  std::uint32_t route{};
  kind what{};
  std::string_view content;       // of `content`; valid as long as the payload
  std::uint32_t room{};           // of `room`
  core::session_secret secret{};  // of `opened`
  std::string_view peer;          // of `opened`; valid as long as the payload
};

// Whether the payload of a frame, of either direction, is such a message.
[[nodiscard]] constexpr bool is_routed(std::string_view payload) noexcept {
  return payload.starts_with("\xaa\x01");  // the tag of field 21
}

// INVALID_ARGUMENT: the payload, which is_routed, is malformed or beyond a limit.
[[nodiscard]] result<routed> decode_routed(std::string_view payload);

// Append a whole frame, with its length prefix.
void append_opened(std::string& out, std::uint32_t route, core::session_secret const& secret,
                   std::string_view peer);
void append_closed(std::string& out, std::uint32_t route);
void append_room(std::string& out, std::uint32_t route, std::uint32_t bytes);

// Appends the beginning of a frame whose remaining `bytes`, at most route_content_max, are content.
void append_content_head(std::string& out, std::uint32_t route, std::size_t bytes);

}  // namespace coxswain::wire
