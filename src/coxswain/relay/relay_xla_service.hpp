#pragma once
// A relay's service for unmodified JAX processes (xla/xla_service): their connections end here, so
// they survive a restart of the coordinator. What the service knows dies with the relay. No I/O, no
// clock. Not here: sockets (relay_client), the sessions with the coordinator (core_links).
//
// Not thread-safe.

#include "coxswain/http2/server_session.hpp"
#include "coxswain/relay/relay_service.hpp"
#include "coxswain/relay/switchboard.hpp"
#include "coxswain/xla/xla_service.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace coxswain::relay {

class relay_xla_service final : public relay_service {
 public:
  // `board` must outlive it. `terms`: the coordinator's, for the trunk. `stalled_max`: how long a
  // client may read nothing while replies wait. `memory`: for messages in transit.
  relay_xla_service(switchboard& board, xla::xla_service_options o, core::hello_answer const& terms,
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

  [[nodiscard]] std::optional<time_point> next_deadline() const override;
  void advance(bool reads) override;
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

  void settle() override;
  [[nodiscard]] std::string const& peer_of(std::uint32_t number) const override {
    return clients_.at(number)->peer;
  }

  void take_input(std::uint32_t number, client& of);
  void admit_large(client& of);
  [[nodiscard]] bool is_full(connection_id of) const;
  void apply(xla::effect& what);
  void pump(std::uint32_t number, client& of, bool has_read = false);

  http2::limits limits_;
  xla::xla_service service_;
  http2::frame_buffer frames_;
  std::unordered_map<std::uint32_t, std::unique_ptr<client>> clients_;
  std::vector<std::uint32_t> going_on_;  // have input for the next iteration
  std::vector<xla::effect> effects_;
  std::vector<http2::server_event> found_;
};

}  // namespace coxswain::relay
