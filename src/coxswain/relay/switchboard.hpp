#pragma once
// The routes of a relay: which client has which number, how many bytes each side takes, and what is
// still to be written to each client (§18.3). No I/O, no clock, no randomness: messages of
// the trunk in, messages of the trunk and bytes for clients out. It knows nothing of sessions, and
// of frames only the heartbeats. Not here: the trunk's own session (trunk_link), sockets
// (relay_client).
//
// Not thread-safe.

#include "coxswain/base/status.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/relay/client_port.hpp"
#include "coxswain/relay/frame_tracker.hpp"
#include "coxswain/wire/routed.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace coxswain::relay {

class switchboard final : public client_port {
 public:
  // `heartbeat_reply`: the frame with which the coordinator replies to a heartbeat.
  explicit switchboard(std::string heartbeat_reply) : reply_{std::move(heartbeat_reply)} {}

  // A client has connected. `secret` is random, `peer` is cut if it is too long. Returns the number
  // of its route.
  std::uint32_t open(core::session_secret const& secret, std::string_view peer);

  [[nodiscard]] std::size_t room(std::uint32_t route) const override;
  void content(std::uint32_t route, std::string_view bytes) override;

  // Whether the coordinator is known to live, so that heartbeats need not reach it. The relay then
  // replies to those of a client from which it has only heard the same heartbeat since the
  // coordinator replied to that, and sent nothing else (which might be a probe).
  void reply_to_heartbeats(bool yes) noexcept { replies_ = yes; }

  // States to the coordinator which clients were heard since the last time.
  void report_living();

  // The client has gone, and perhaps its process, too. Its route is forgotten.
  void closed(std::uint32_t route, bool has_exited = false);

  // A message about routes was received over the trunk. INVALID_ARGUMENT: it violates the protocol,
  // so the trunk is of no use.
  [[nodiscard]] status received(std::string_view payload);

  // The routes that have more to write, more room, or an end since the last call; perhaps several
  // times. `into` is cleared first.
  void take_changed(std::vector<std::uint32_t>& into);

  [[nodiscard]] std::string_view to_write(std::uint32_t route) const override;
  void wrote(std::uint32_t route, std::size_t bytes) override;
  // The coordinator has closed the route.
  [[nodiscard]] bool ends(std::uint32_t route) const override;

  // Frames for the trunk. Whoever takes them leaves the string empty.
  [[nodiscard]] std::string& output() noexcept { return output_; }

  [[nodiscard]] std::size_t size() const noexcept { return routes_.size(); }

  // The trunk is lost: there are no routes any more.
  void reset();

 private:
  struct route {
    std::size_t room{wire::route_room_max};  // that the coordinator has
    std::string pending;                     // for the client, written up to `written`
    std::size_t written{};
    std::size_t unreported{};  // written since the coordinator was last notified of room
    bool ends{};
    bool was_heard{true};   // since the last report
    std::string heartbeat;  // the payload of the last one that was passed on
    bool awaits_reply{};    // nothing was passed on since, in either direction
    bool was_answered{};    // and its reply was the only thing that was
    std::size_t replied{};  // bytes of ours at the beginning of `pending`
    frame_tracker from_client;
    frame_tracker to_client;
  };

  [[nodiscard]] route const& at(std::uint32_t number) const { return routes_.at(number); }

  [[nodiscard]] status take_shared(wire::routed const& what);
  [[nodiscard]] status take_content(std::uint32_t number, route& r, std::string_view head,
                                    std::string_view rest);
  [[nodiscard]] bool takes_heartbeat(route& r, std::string_view bytes);
  void note_input(route& r, std::string_view bytes);

  std::string reply_;
  bool replies_{};
  std::unordered_map<std::uint32_t, route> routes_;
  std::uint32_t last_{};
  std::vector<std::uint32_t> changed_;
  std::string output_;
};

}  // namespace coxswain::relay
