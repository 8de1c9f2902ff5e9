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

struct server_stream {
  // `packed`: it has arrived and is to be decompressed.
  enum class phase : std::uint8_t { headers, body, packed, delivered, answered };

  server_stream(stream_id which, std::size_t message_bytes_max) noexcept
      : id{which}, body{message_bytes_max} {}

  static void* operator new(std::size_t /*bytes*/) {
    return recycling_allocator<server_stream>{}.allocate(1);
  }
  static void operator delete(void* at) noexcept {
    recycling_allocator<server_stream>{}.deallocate(static_cast<server_stream*>(at), 1);
  }

  stream_id id;
  phase now{phase::headers};
  bool is_half_closed{};  // its client sends nothing more
  bool is_allowed{};      // to exceed the limit of requests without `allow`

  // The request's headers.
  bool is_post{};
  bool is_grpc{};
  bool has_bad_timeout{};
  encoding message_encoding{encoding::none};
  std::uint32_t header_bytes{};
  std::string path;
  std::optional<duration> timeout;

  message_decoder body;
  std::uint32_t withheld{};  // received bytes for which the window was not reopened

  // The reply: messages, or only headers.
  std::uint32_t header_bytes_unsent{};
  outgoing messages;

  stream_hook open;     // of all
  stream_hook waiting;  // to be allowed, or to be decompressed
};

}  // namespace coxswain::http2
