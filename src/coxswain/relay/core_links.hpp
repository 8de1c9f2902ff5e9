#pragma once
// The sessions of a relay's service, each on a route of its own. They outlive the trunk: when there
// is another, they resume, and requests that the coordinator does not know are sent again, so that
// the service notices nothing. No I/O, no clock, no randomness. Not here: JAX's calls
// (xla/xla_service), the bytes of routes (switchboard).
//
// A Bye ends a session after all of its requests: it is sent again, with them, until the
// coordinator has sent a goodbye.
//
// Not thread-safe.

#include "coxswain/base/fifo.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/relay/switchboard.hpp"
#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/frame.hpp"
#include "coxswain/xla/core_port.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace coxswain::relay {

class core_links final : public xla::core_port {
 public:
  // `board` must outlive it. Its first connection has the number `first`.
  core_links(switchboard& board, std::uint64_t first) : board_{board}, next_{first} {}

  // The service's inputs. Without a trunk they wait, except heartbeats.
  connection_id connected(time_point now, std::string peer,
                          core::session_secret const& secret) override;
  void received(time_point now, connection_id from, core::client_message&& what) override;
  void heard(time_point now, connection_id from) override;
  // `unreachable`: the route stays, and falls silent.
  void session_lost(time_point now, connection_id from, core::loss how) override;

  // Routes can be opened; and: all routes are gone.
  void trunk_up();
  void trunk_down();
  // There will be no trunk any more: all sessions have ended.
  void trunk_over(status const& why);

  // The route has more bytes, room, or an end. False: it is none of these sessions'.
  bool changed(time_point now, std::uint32_t route);

  // Sessions to which the coordinator has sent a goodbye for now try again.
  [[nodiscard]] std::optional<time_point> next_deadline() const;
  void advance(time_point now);

  // Replies to a session are not read while `is_held_back` is true of it; `read_held_back` reads
  // those for which it is no longer.
  void hold_back(std::function<bool(connection_id)> is_held_back) {
    is_held_back_ = std::move(is_held_back);
  }
  [[nodiscard]] bool has_held_back() const noexcept { return !held_back_.empty(); }
  void read_held_back(time_point now);

  // For `xla_service::sent`. Swapped with `into`, which is cleared first.
  void take_outgoing(std::vector<core::outgoing>& into);

  // The bytes of requests that were not answered, of all sessions or of this one.
  [[nodiscard]] std::size_t open_bytes() const noexcept { return open_bytes_; }
  [[nodiscard]] std::size_t open_bytes(connection_id of) const;
  [[nodiscard]] std::size_t size() const noexcept { return links_.size(); }

 private:
  struct open_request {
    std::optional<core::client_message> what;  // none: an earlier link of the session had it
    std::size_t bytes{};
    bool was_sent{};
  };

  struct link {
    std::string peer;
    core::session_secret secret{};
    std::uint32_t route{};   // zero: none
    bool is_up{};            // the handshake is complete
    bool service_resumes{};  // the service waits for the reply to its Resume
    bool leaves{};           // its Bye is to be sent, or was
    std::optional<core::client_message> hello;
    std::optional<core::resume_args> session;
    std::map<request_id, open_request> open;
    std::size_t open_bytes{};
    std::uint64_t received{};  // replies
    std::string out;           // what the route has no room for
    wire::frame_decoder decoder{wire::message_bytes_max};
  };

  void open_route(link& l, connection_id of);
  void close_route(link& l, bool has_exited);
  void greet(link& l);
  void send(link& l, open_request& request);
  void send(link& l, core::client_message& what);
  void say_bye(link& l);
  void push(link& l);
  void read(time_point now, connection_id id, link& l);
  void take(time_point now, connection_id id, link& l, wire::server_message what);
  void went_up(link& l, std::vector<request_id> const& unknown);
  void resumed(connection_id id, link& l, core::resume_answer const& what);
  void answered(link& l, request_id id);
  void try_later(time_point now, connection_id id, link& l);
  void deliver(connection_id to, request_id reply_to, core::answer what);
  void forget(connection_id id);

  switchboard& board_;
  std::uint64_t next_;
  std::unordered_map<connection_id, link> links_;
  std::unordered_map<std::uint32_t, connection_id> by_route_;
  std::unordered_set<std::uint32_t> silent_;     // routes of sessions that the service has detached
  std::unordered_set<std::uint32_t> held_back_;  // routes
  std::function<bool(connection_id)> is_held_back_;
  fifo<std::pair<time_point, connection_id>> later_;
  std::vector<core::outgoing> out_;
  std::size_t open_bytes_{};
  bool has_trunk_{};
};

}  // namespace coxswain::relay
