#pragma once
// Connections that speak gRPC, between their bytes and the service for unmodified JAX processes
// (xla). The core gets their input only through xla_service, so recordings contain nothing of
// HTTP/2. Not here: streams and frames (http2), calls (xla/xla_service).

#include "coxswain/core/access/credential.hpp"
#include "coxswain/server/dispatch/backpressure.hpp"
#include "coxswain/server/dispatch/event_reporter.hpp"
#include "coxswain/server/dispatch/line_table.hpp"
#include "coxswain/server/dispatch/recorded_core.hpp"
#include "coxswain/server/dispatch/step_scheduler.hpp"
#include "coxswain/server/options.hpp"
#include "coxswain/xla/xla_service.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::server {

struct grpc_events;

class grpc_connections {
 public:
  // The parts of dispatch that it uses; they must outlive it.
  struct parts {
    recorded_core& core;
    line_table& lines;
    step_scheduler& steps;
    backpressure& memory;
    event_reporter& events;
  };
  grpc_connections(parts of, options const& o, incarnation self, time_point now);
  ~grpc_connections();

  // A loop iteration begins.
  void begin() noexcept { service_.begin(); }

  // The first bytes of the connection are those of HTTP/2. Returns its input so far. Where a token
  // is required, calls are refused until the Hello timeout.
  [[nodiscard]] std::string open(time_point now, connection_id from, line& on);

  // Bytes were received: call `begin_input`, then `receive` until one of them returns false, then
  // `end_input`. After each `receive`, move the core's output, then apply the effects.
  [[nodiscard]] bool begin_input(time_point now, connection_id from, line& on,
                                 std::string_view input);
  // Takes what it can from the front of `input`.
  [[nodiscard]] bool receive(time_point now, connection_id from, line& on, std::string_view& input);
  // The rest of `input` waits for the next quantum.
  void end_input(time_point now, connection_id from, line& on, std::string_view input);

  // The core sends this. `on` is null for sessions of tasks, which only connections with
  // xla_service have.
  void send(time_point now, line const* on, core::outgoing const& what);

  [[nodiscard]] bool has_effects() const noexcept { return service_.has_effects(); }
  // Moves xla_service's output to the connections.
  void apply_effects(time_point now);

  // Encodes output up to the limit of the queue. After the last byte of a goodbye the outbox ends.
  void pump(time_point now, connection_id to, line& on);

  // The connection is gone; before the core knows.
  void lost(time_point now, connection_id from, core::loss how) { service_.lost(now, from, how); }

  // The core requires other credentials from now on.
  void use(std::vector<core::credential> const& credentials);

  [[nodiscard]] std::optional<time_point> next_deadline() const {
    if (!had_clients_) return std::nullopt;
    return service_.next_deadline();
  }
  // Does nothing before `next_deadline`.
  void advance(time_point now);

  [[nodiscard]] xla::xla_service const& xla_service() const noexcept { return service_; }

  // Calls received and replies sent.
  [[nodiscard]] std::uint64_t calls_received() const noexcept { return calls_received_; }
  [[nodiscard]] std::uint64_t replies_sent() const noexcept { return replies_sent_; }

 private:
  [[nodiscard]] bool may_receive(connection_id from, line& on, std::string_view input) const;
  void take_events(time_point now, connection_id from, line& on);
  void make_effective(time_point now, xla::effect& what);
  [[nodiscard]] bool can_overtake(time_point now, connection_id to, line& on);
  static void overtake(line& on);
  void check_window(time_point now, connection_id to, line& on);

  recorded_core& core_;
  line_table& lines_;
  step_scheduler& steps_;
  backpressure& memory_;
  event_reporter& events_;
  xla::xla_service service_;
  bool had_clients_{};  // of xla_service; before the first, nothing is due in it
  std::vector<xla::effect> effects_;
  std::unique_ptr<grpc_events> found_;  // and not taken
  std::size_t queued_bytes_max_;
  std::uint64_t calls_received_{};
  std::uint64_t replies_sent_{};
};

}  // namespace coxswain::server
