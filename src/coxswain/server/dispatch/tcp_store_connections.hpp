#pragma once
// Connections to torch's TCPStore clients, between their bytes and the core. Each has a session of
// its own in the core, of which a recording has the requests and nothing of their bytes. Not here:
// what requests mean (tcp_store).

#include "coxswain/core/access/credential.hpp"
#include "coxswain/server/dispatch/backpressure.hpp"
#include "coxswain/server/dispatch/event_reporter.hpp"
#include "coxswain/server/dispatch/line_table.hpp"
#include "coxswain/server/dispatch/recorded_core.hpp"
#include "coxswain/server/dispatch/step_scheduler.hpp"
#include "coxswain/server/options.hpp"
#include "coxswain/tcp_store/client.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::server {

class tcp_store_connections {
 public:
  // The parts of dispatch that it uses; they must outlive it.
  struct parts {
    recorded_core& core;
    line_table& lines;
    step_scheduler& steps;
    backpressure& memory;
    event_reporter& events;
  };
  tcp_store_connections(parts of, options const& o);

  // Whether the first bytes of the connection, which are no frame, are those of such a client.
  [[nodiscard]] static bool are_met(line const& on) noexcept;
  // Then this begins it, and returns its input so far. Where a token is required, which these
  // clients cannot send, it is refused; but not at an address of its own for such clients.
  [[nodiscard]] std::string open(time_point now, connection_id from, line& on);

  // Bytes were received, or those that waited may be taken: call `begin_input`, then `receive`
  // until it returns false, each time moving the core's output.
  void begin_input(line& on, std::string_view input) const;
  [[nodiscard]] bool receive(time_point now, connection_id from, line& on);

  // The core sends this.
  void send(time_point now, line& on, core::outgoing const& what);

  // Some of its output was written.
  void wrote(time_point now, connection_id to, line& on);

  // The client has closed the connection after it had received everything; `lost` follows.
  void closed_in_order(time_point now, connection_id from, line& on);

  // The connection is gone; before the core knows.
  void lost(time_point now, connection_id from);

  // The core requires other credentials from now on.
  void use(std::vector<core::credential> const& credentials);

  [[nodiscard]] std::uint64_t requests_received() const noexcept { return requests_received_; }
  [[nodiscard]] std::uint64_t replies_sent() const noexcept { return replies_sent_; }

 private:
  [[nodiscard]] bool is_full(line const& on) const noexcept;
  void apply(time_point now, connection_id of, line& on, tcp_store::output&& what);
  void end(time_point now, connection_id of, line& on, status const& why);

  recorded_core& core_;
  line_table& lines_;
  step_scheduler& steps_;
  backpressure& memory_;
  event_reporter& events_;
  std::string job_;
  std::string token_;  // a worker's, if the core requires one
  std::uint64_t requests_received_{};
  std::uint64_t replies_sent_{};
};

}  // namespace coxswain::server
