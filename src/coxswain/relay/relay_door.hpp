#pragma once
// A relay's door for unmodified JAX processes (xla/door): their connections end here, so they
// survive a restart of the coordinator. What the door knows dies with the relay. No I/O, no clock.
// Not here: sockets (relay_client), the sessions with the coordinator (core_links).
//
// Not thread-safe.

#include "coxswain/core/model/event.hpp"
#include "coxswain/http2/server_session.hpp"
#include "coxswain/relay/client_door.hpp"
#include "coxswain/relay/core_links.hpp"
#include "coxswain/relay/stalled_readers.hpp"
#include "coxswain/relay/switchboard.hpp"
#include "coxswain/xla/door.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace coxswain::relay {

class relay_door final : public client_door {
 public:
  using event_sink = std::function<void(core::severity, std::string const&)>;

  // `board` must outlive it. `terms`: the coordinator's, for the trunk. `stalled_max`: how long a
  // client may read nothing while replies wait. `memory`: for messages in transit.
  relay_door(switchboard& board, xla::door_options o, core::hello_answer const& terms,
             duration stalled_max, event_sink log,
             meter_ptr memory = make_meter(memory_max_default));

  void begin(time_point now) noexcept override;

  // A connection whose first bytes are those of HTTP/2.
  std::uint32_t open(std::string peer, core::session_secret const& secret) override;
  void close(std::uint32_t client, core::loss how) override;

  [[nodiscard]] std::size_t room(std::uint32_t client) const override;
  void content(std::uint32_t client, std::string_view bytes) override;
  [[nodiscard]] std::string_view to_write(std::uint32_t client) const override;
  void wrote(std::uint32_t client, std::size_t bytes) override;
  [[nodiscard]] bool ends(std::uint32_t client) const override;

  void trunk_up() override;
  void trunk_down() override;
  void trunk_over(status const& why) override;
  bool route_changed(std::uint32_t route) override;

  [[nodiscard]] std::optional<time_point> next_deadline() const override;
  void advance(bool reads) override;
  [[nodiscard]] std::optional<std::uint32_t> take_stalled() override;
  void take_changed(std::vector<std::uint32_t>& into) override;

  [[nodiscard]] std::size_t size() const noexcept { return clients_.size(); }

 private:
  struct client {
    client(http2::limits const& l, memory_meter* memory, http2::frame_buffer& frames,
           std::string who)
        : session{l, memory, &frames}, peer{std::move(who)} {}

    http2::server_session session;
    std::string peer;
    std::string unread;  // input for a later iteration
    std::string out;     // written up to `written`
    std::size_t written{};
    std::uint64_t sent_bytes{};  // of messages, at the last look
    bool leaves{};
  };

  void take_input(std::uint32_t number, client& of);
  void admit_large(client& of);
  [[nodiscard]] bool is_crowded(connection_id of) const;
  void read_held_back();
  void settle();
  void apply(xla::effect& what);
  void pump(std::uint32_t number, client& of, bool has_read = false);

  event_sink log_;
  http2::limits limits_;
  meter_ptr memory_;
  core_links links_;
  xla::door door_;
  http2::frame_buffer frames_;
  std::unordered_map<std::uint32_t, std::unique_ptr<client>> clients_;
  stalled_readers stalled_;
  std::vector<std::uint32_t> changed_;
  std::vector<std::uint32_t> going_on_;  // have input for the next iteration
  std::vector<xla::effect> effects_;
  std::vector<core::outgoing> outgoing_;
  std::vector<http2::server_event> found_;
  time_point now_{};
  mutable bool was_full_{};
};

}  // namespace coxswain::relay
