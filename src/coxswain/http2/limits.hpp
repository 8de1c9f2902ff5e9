#pragma once
// The limits of a session on its peer.

#include <cstddef>
#include <cstdint>

namespace coxswain::http2 {

struct limits {
  // Of one message, also after decompression. A longer one is RESOURCE_EXHAUSTED.
  std::size_t message_bytes_max{4 * 1024 * 1024};

  // A longer request waits for `allow` after its first window. Below 64 KiB, the initial window of
  // a stream.
  std::size_t unasked_bytes_max{60 * 1024};

  // Of all arriving requests without `allow`; the request that exceeds it is RESOURCE_EXHAUSTED.
  std::size_t arriving_bytes_max{16 * 1024 * 1024};

  // As HTTP/2 counts them: each field's name and value, and 32.
  std::size_t header_block_bytes_max{16 * 1024};

  // Calls at a time, as announced to the peer. Until it has acknowledged that, further ones are
  // refused unseen, so that it can repeat them, but not more than so many at once and over time.
  // After that, or once it has acknowledged the limit, they end its connection.
  std::size_t streams_max{4'096 + 128};
  std::uint32_t refused_at_once_max{10'000};
  std::uint32_t refused_per_second_max{1'000};

  // The rates of PING and of SETTINGS from the peer; beyond them the connection ends.
  std::uint32_t control_frames_per_second_max{1'000};

  // Calls that the peer cancels before their reply: at once, and over time. Beyond that the
  // connection ends. Many can be legitimate: a process that ends cancels all its calls.
  std::uint32_t resets_at_once_max{50'000};
  std::uint32_t resets_per_second_max{5'000};

  // `receive` stops after this many events, or this much work (`work_bytes`), at most a frame of
  // input later.
  std::size_t events_at_once{64};
  std::size_t work_at_once{256 * 1024};
};

}  // namespace coxswain::http2
