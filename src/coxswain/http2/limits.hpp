#pragma once
// What a session accepts from its peer.

#include <cstddef>
#include <cstdint>

namespace coxswain::http2 {

struct limits {
  // Of one message, also after it is inflated. A longer one is RESOURCE_EXHAUSTED.
  std::size_t message_bytes_max{4 * 1024 * 1024};

  // A request of a server that is longer waits for `allow` before more than its first window
  // arrives. It is rather below 64 KiB, the window of a stream at its beginning.
  std::size_t unasked_bytes_max{60 * 1024};

  // Requests that are arriving and not allowed may have so many bytes together. Those that pass it
  // are RESOURCE_EXHAUSTED.
  std::size_t arriving_bytes_max{16 * 1024 * 1024};

  // As HTTP/2 counts them: each field's name and value, and 32.
  std::size_t header_block_bytes_max{16 * 1024};

  // PING and SETTINGS, each, by the peer; more ends the connection.
  std::uint32_t control_frames_per_second_max{1'000};

  // Calls that the peer cancels before they are answered: at once, and over time. More ends the
  // connection. Many may be honest: a process that ends cancels all that it waits for.
  std::uint32_t resets_at_once_max{50'000};
  std::uint32_t resets_per_second_max{5'000};

  // `receive` stops after so many events, and up to 4 KiB of input more.
  std::size_t events_at_once{64};
};

}  // namespace coxswain::http2
