#pragma once
// The messages of a trunk: what a relay and the coordinator exchange about routes (Routed in
// proto/coxswain/v1). They are encoded and found without Protobuf, since most of them only carry
// bytes. Not here: the state of a route (server, relay).

#include "coxswain/base/ids.hpp"
#include "coxswain/base/status.hpp"
#include "coxswain/core/model/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace coxswain::wire {

// The most bytes of a route that its receiver has room for, and that one message carries.
inline constexpr std::size_t route_room_max = 64 * 1024;
inline constexpr std::size_t route_content_max = 16'000;

// The most that a shared reply has besides its id. A route that is read has room for so much.
inline constexpr std::size_t route_shared_max = route_room_max / 2 - 32;

// The longest name of a route's peer.
inline constexpr std::size_t route_peer_max = 64;

struct routed {
  enum class kind : std::uint8_t { opened, closed, room, content, living, shared };

  std::uint32_t route{};  // zero for `living` and `shared`, which are about several
  kind what{};
  std::string_view content;       // of `content` and `shared`; valid as long as the payload
  std::uint32_t room{};           // of `room`
  core::session_secret secret{};  // of `opened`
  std::string_view peer;          // of `opened`; valid as long as the payload
  bool has_exited{};              // of `closed`
  std::string_view silent;        // of `living`: see take_route; valid as long as the payload
  std::string_view to;            // of `shared`: see take_receiver; valid as long as the payload
};

// Who gets a shared reply, and to which request.
struct receiver {
  std::uint32_t route{};
  request_id id;
};

// Whether the payload of a frame, of either direction, is such a message.
[[nodiscard]] constexpr bool is_routed(std::string_view payload) noexcept {
  return payload.starts_with("\xaa\x01");  // the tag of field 21
}

// Whether the payload of a client's frame is a heartbeat, which has at most a count of replies.
[[nodiscard]] bool is_heartbeat(std::string_view payload) noexcept;

// INVALID_ARGUMENT: the payload, which is_routed, is malformed or beyond a limit.
[[nodiscard]] result<routed> decode_routed(std::string_view payload);

// Takes the first route off those of `living`, which rise; none: there are no more, or they are
// malformed, and then `from` is not empty.
[[nodiscard]] std::optional<std::uint32_t> take_route(std::string_view& from);

// The same for the receivers of `shared`, in any order.
[[nodiscard]] std::optional<receiver> take_receiver(std::string_view& from);
void append_receiver(std::string& to, receiver const& which);

// Append a whole frame, with its length prefix.
void append_opened(std::string& out, std::uint32_t route, core::session_secret const& secret,
                   std::string_view peer);
void append_closed(std::string& out, std::uint32_t route, bool has_exited = false);
void append_room(std::string& out, std::uint32_t route, std::uint32_t bytes);

void append_living(std::string& out, std::span<std::uint32_t const> silent);

// The size of the frame that a receiver gets.
[[nodiscard]] std::size_t shared_frame_bytes(request_id id, std::size_t rest_bytes) noexcept;

// `rest`: at most route_shared_max. `to`: by append_receiver.
void append_shared(std::string& out, std::string_view rest, std::string_view to);

// Appends the beginning of a frame whose remaining `bytes`, at most route_content_max, are content.
void append_content_head(std::string& out, std::uint32_t route, std::size_t bytes);

}  // namespace coxswain::wire
