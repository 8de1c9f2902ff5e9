#pragma once
// Batches: the pieces in which a journal's records are written. Each has a number, a checksum, and
// the checksum of the batch before, so that a torn end and damage in the middle can be
// distinguished.
//
//   magic          4 bytes
//   length         4   of the payload
//   number         8   of the batch, from 1
//   coordinator    8   nanoseconds since the coordinator was started, of the last record
//   boot           8   identifies the boot of the machine
//   boot time      8   nanoseconds since then, when it was written
//   wall time      8   nanoseconds since 1970
//   behaviour      4   of the core that had the records (core/behaviour)
//   behind         4   how many batches before it were not durable yet when it was written
//   previous       4   the checksum of the batch before
//   checksum       4   of all of the above, and the payload
//   payload, padded to 8 bytes
//
// All numbers are little-endian.

#include "coxswain/base/time.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace coxswain::server {

constexpr std::size_t batch_head_bytes = 64;

// When a batch was written.
struct batch_time {
  duration coordinator{};  // since its start
  std::uint64_t boot{};
  duration since_boot{};
  duration since_1970{};
};

inline duration since_1970_now() { return std::chrono::system_clock::now().time_since_epoch(); }

struct batch {
  std::uint64_t number{};
  batch_time written;
  std::uint32_t behaviour{};
  std::uint64_t durable{};  // the last batch that was durable when it was written
  std::uint32_t previous{};
  std::uint32_t checksum{};
  std::string_view payload;

  // With its head and padding.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return batch_head_bytes + (payload.size() + 7) / 8 * 8;
  }
};

// Completes a batch in place: `bytes` is room for its head, and then its payload. Adds the padding,
// and returns the checksum. `durable`: as in batch.
std::uint32_t seal(std::string& bytes, std::uint64_t number, std::uint64_t durable,
                   std::uint32_t previous, batch_time written);

// The batch at the beginning of `bytes`, whose payload lies there; none if its magic, its length or
// its checksum is wrong.
[[nodiscard]] std::optional<batch> read_batch(std::string_view bytes);

// Whether these bytes are the beginning of a batch without its end.
[[nodiscard]] bool is_begun_batch(std::string_view bytes);

[[nodiscard]] std::uint32_t checksum_of(std::string_view bytes, std::uint32_t before = 0) noexcept;

}  // namespace coxswain::server
