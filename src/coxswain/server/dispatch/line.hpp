#pragma once
// The byte-level state of one connection in dispatch, whose classes change it.

#include "coxswain/core/model/messages.hpp"
#include "coxswain/server/accepted_peer.hpp"
#include "coxswain/server/dispatch/step_scheduler.hpp"
#include "coxswain/server/outbox.hpp"
#include "coxswain/wire/frame.hpp"

#include <cstddef>
#include <memory>

namespace coxswain::server {

struct grpc_line;
struct route_line;
struct tcp_store_line;
struct trunk_line;

struct line {
  line(meter_ptr memory, std::size_t queued_bytes_max);
  ~line();

  // A larger frame that has not arrived completely needs permission.
  static constexpr std::size_t unasked_max = core::hello_frame_bytes_max;

  wire::frame_decoder decoder;
  outbox out;
  std::unique_ptr<grpc_line> grpc;            // null: a native connection
  std::unique_ptr<tcp_store_line> tcp_store;  // null: its peer is none of torch's TCPStore clients
  std::unique_ptr<trunk_line> trunk;          // null: it carries no others
  std::unique_ptr<route_line> route;          // null: it has a socket
  bool greeted{};                             // the limit of its frames was raised
  bool deaf{};                                // its input violated the protocol
  bool broken{};                              // it cannot be written to
  bool reading_paused{};                      // as the core knows
  bool blocked{};                             // its peer does not read, as the core knows
  bool dirty{};                               // it is among the changed ones (line_table)
  bool has_large{};                           // its large frame has permission to arrive
  bool waits_for_memory{};                    // its large frame, or all its requests
  protocols allowed{protocols::both};

  step_scheduler::account steps;
  time_point heard;  // when the core last knew that it lives

  // Its next large frame, or request of a TCPStore client: how much memory it needs before it may
  // arrive, and whether one arrives.
  [[nodiscard]] std::size_t asks_for() const noexcept;
  [[nodiscard]] bool allow() noexcept;
  [[nodiscard]] bool is_large() const noexcept;

  [[nodiscard]] bool takes_input() const noexcept { return !deaf && (broken || !out.ends()); }
};

}  // namespace coxswain::server
