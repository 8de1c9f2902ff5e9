#pragma once
// The state of a connection that speaks gRPC: its HTTP/2 session, and unread input.

#include "coxswain/http2/server_session.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace coxswain::server {

// Buffers that all connections share, one at a time.
struct grpc_events {
  std::vector<http2::server_event> all;
  http2::frame_buffer frames;
};

struct grpc_line {
  grpc_line(http2::limits const& l, memory_meter* memory, http2::frame_buffer& frames)
      : session{l, memory, &frames} {}

  http2::server_session session;
  std::string unread;          // input that waits for its quantum
  std::uint64_t sent_bytes{};  // of messages, when the window was last checked
  bool is_served{};            // by xla_service; else every call is refused
  bool leaves{};               // ends when its goodbye is written
};

}  // namespace coxswain::server
