#pragma once
// A call of a server's connection, from its first header until its stream is closed.
// Private to http2.

#include "coxswain/base/recycling_allocator.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/http2/message_decoder.hpp"
#include "coxswain/http2/outgoing.hpp"
#include "coxswain/http2/stream_id.hpp"

#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace coxswain::http2 {

using stream_hook =
    boost::intrusive::list_member_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

// The request's headers.
struct request_head {
  bool is_post{};
  bool is_grpc{};
  bool has_bad_timeout{};
  encoding message_encoding{encoding::none};
  std::uint32_t header_bytes{};
  std::string path;
  std::optional<duration> timeout;
  std::optional<std::uint64_t> announced;  // bytes of its body, by content-length
};

struct server_stream {
  enum class phase : std::uint8_t { headers, body, unpacking, delivered, answered };

  server_stream(stream_id which, std::size_t message_bytes_max, std::int64_t window_) noexcept
      : id{which}, body{message_bytes_max}, window{window_} {}

  static void* operator new(std::size_t /*bytes*/) {
    return recycling_allocator<server_stream>{}.allocate(1);
  }
  static void operator delete(void* at) noexcept {
    recycling_allocator<server_stream>{}.deallocate(static_cast<server_stream*>(at), 1);
  }

  // The request.
  stream_id id;
  phase now{phase::headers};
  bool is_half_closed{};     // its client sends nothing more
  bool is_allowed{};         // to exceed the limit of requests without `allow`
  std::uint32_t withheld{};  // received bytes for which the window was not reopened
  request_head head;
  message_decoder body;
  stream_hook asking;

  // Its body in frames: received, and for which window.
  std::uint64_t received{};
  std::uint32_t unread_window{};  // received, and the window was not reopened
  std::uint32_t consumed{};       // of them, those that no longer count
  std::uint32_t read_window{65'535};

  // The reply: messages, or the header block of an error.
  outgoing messages;
  std::string error_block;
  bool is_http_error{};  // which has no headers of gRPC
  bool is_large{};       // it yields to others
  bool is_begun{};       // its headers are sent
  std::int64_t window;   // so many bytes of messages may be sent
  stream_hook sending;
};

}  // namespace coxswain::http2
