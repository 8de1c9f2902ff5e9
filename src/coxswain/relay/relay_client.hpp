#pragma once
// One connection to a relay: reads what its route has room for, and writes what comes. It ends with
// the connection, or when the process that opened it has. Not here: routes (switchboard), foreign
// protocols (relay_service), and when it is destroyed (relay).

#include "coxswain/net/byte_stream.hpp"
#include "coxswain/net/owned_coroutine.hpp"
#include "coxswain/net/poller.hpp"
#include "coxswain/net/readiness.hpp"
#include "coxswain/net/socket.hpp"
#include "coxswain/relay/client_port.hpp"
#include "coxswain/relay/peer_process.hpp"
#include "coxswain/server/accepted_peer.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace coxswain::relay {

class relay_client;

class client_owner {
 public:
  // Nothing is read from clients for now; `go_on` follows.
  [[nodiscard]] virtual bool is_full() const noexcept = 0;
  // It has closed its connection, and its process may be about to end: `give_up` follows.
  virtual void client_gone(relay_client& who) = 0;
  // This is what its first bytes say. It may be attached to another port.
  virtual void client_begins(relay_client& who, server::protocols what) = 0;
  // It has ended: destroy it, but not from within this call.
  virtual void client_ended(relay_client& who) noexcept = 0;

 protected:
  ~client_owner() = default;
};

class relay_client final : private net::watched {
 public:
  // It waits until `attach`. `is_vouched`: the relay's token may speak for it. Throws as
  // net::readiness does.
  relay_client(net::poller& by, net::socket socket, server::accepted_peer who, bool is_vouched,
               client_owner& owner);
  relay_client(relay_client const&) = delete;
  relay_client& operator=(relay_client const&) = delete;

  // From now on it has this number at the port, which must outlive it.
  void attach(client_port& to, std::uint32_t route);
  [[nodiscard]] std::uint32_t route() const noexcept { return route_; }
  [[nodiscard]] std::string const& peer() const noexcept { return who_.peer; }
  // What its listener serves.
  [[nodiscard]] server::protocols speaks() const noexcept { return who_.speaks; }
  [[nodiscard]] bool is_vouched() const noexcept { return is_vouched_; }
  [[nodiscard]] bool has_ended() const noexcept { return has_ended_; }
  // Its process has ended.
  [[nodiscard]] bool has_exited() const noexcept { return process_.has_ended; }

  // It has closed its connection already, as one that has gone on at another address: what it has
  // sent is stale.
  [[nodiscard]] bool has_left() const noexcept;

  // It has no route any more, and will be destroyed.
  void detach() noexcept { route_ = 0; }

  // Its route has changed: writes, and goes on.
  void changed() noexcept;
  // Reads on in the next iteration, if there was no room.
  void go_on();

  // Its process did not end soon after its connection; or it does not read.
  void give_up() noexcept { end(); }

  // Its last bytes, for a client without a route; then it ends.
  void dismiss(std::string_view goodbye) noexcept;

 private:
  enum class next : std::uint8_t { wait, another_iteration, stop };

  net::owned_coroutine read();
  net::owned_coroutine watch();
  [[nodiscard]] next gone();
  [[nodiscard]] next read_ready();
  void take(std::string_view bytes);
  void write();
  void end() noexcept;
  void has_room() noexcept override;

  client_owner& owner_;
  server::accepted_peer who_;
  bool is_vouched_;
  peer_process process_;
  client_port* board_{};
  std::uint32_t route_{};
  bool has_begun_{};   // its first bytes were read
  std::string begin_;  // those, until they say what it speaks
  bool has_ended_{};
  bool write_blocked_{};
  bool read_paused_{};
  bool is_deaf_{};  // writing has failed: what it has sent is still read
  bool is_gone_{};  // everything was read
  bool leaves_{};   // everything was written, and its end waits for that of the client
  net::socket_stream stream_;
  net::readiness ready_;
  net::owned_coroutine loop_;
  std::optional<net::readiness> death_;
  net::owned_coroutine watch_;
};

}  // namespace coxswain::relay
