#include "coxswain/server/journal/batch.hpp"

#include "coxswain/core/behaviour.hpp"

#include <boost/endian/buffers.hpp>

#include <zlib.h>

#include <algorithm>
#include <cstring>

namespace coxswain::server {
namespace {

using boost::endian::little_int64_buf_t;
using boost::endian::little_uint32_buf_t;
using boost::endian::little_uint64_buf_t;

constexpr std::uint32_t magic = 0x314a5843;  // "CXJ1"

struct batch_head {
  little_uint32_buf_t magic;
  little_uint32_buf_t length;
  little_uint64_buf_t number;
  little_int64_buf_t coordinator_ns;
  little_uint64_buf_t boot;
  little_int64_buf_t since_boot_ns;
  little_int64_buf_t since_1970_ns;
  little_uint32_buf_t behaviour;
  little_uint32_buf_t behind;
  little_uint32_buf_t previous;
  little_uint32_buf_t checksum;
};
static_assert(sizeof(batch_head) == batch_head_bytes);

constexpr std::size_t checksum_at = offsetof(batch_head, checksum);

// `bytes` begins with a head and ends with the payload.
std::uint32_t checksum_of_batch(std::string_view bytes) noexcept {
  return checksum_of(bytes.substr(batch_head_bytes), checksum_of(bytes.substr(0, checksum_at)));
}

}  // namespace

std::uint32_t checksum_of(std::string_view bytes, std::uint32_t before) noexcept {
  return static_cast<std::uint32_t>(
      ::crc32_z(before, reinterpret_cast<unsigned char const*>(bytes.data()), bytes.size()));
}

std::uint32_t seal(std::string& bytes, std::uint64_t number, std::uint64_t durable,
                   std::uint32_t previous, batch_time written) {
  batch_head head;
  head.magic = magic;
  head.length = static_cast<std::uint32_t>(bytes.size() - batch_head_bytes);
  head.number = number;
  head.coordinator_ns = written.coordinator.count();
  head.boot = written.boot;
  head.since_boot_ns = written.since_boot.count();
  head.since_1970_ns = written.since_1970.count();
  head.behaviour = core::behaviour;
  head.behind = static_cast<std::uint32_t>(number - durable);
  head.previous = previous;
  std::memcpy(bytes.data(), &head, checksum_at);
  auto const checksum = checksum_of_batch(bytes);
  head.checksum = checksum;
  std::memcpy(bytes.data(), &head, sizeof(head));
  bytes.resize((bytes.size() + 7) / 8 * 8);
  return checksum;
}

std::optional<batch> read_batch(std::string_view bytes) {
  batch_head head;
  if (bytes.size() < sizeof(head)) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof(head));
  std::size_t const length = head.length.value();
  if (head.magic.value() != magic || length > bytes.size() - sizeof(head)) return std::nullopt;
  if (checksum_of_batch(bytes.substr(0, sizeof(head) + length)) != head.checksum.value()) {
    return std::nullopt;
  }
  return batch{head.number.value(),
               {duration{head.coordinator_ns.value()}, head.boot.value(),
                duration{head.since_boot_ns.value()}, duration{head.since_1970_ns.value()}},
               head.behaviour.value(),
               head.number.value() - head.behind.value(),
               head.previous.value(),
               head.checksum.value(),
               bytes.substr(sizeof(head), length)};
}

bool is_begun_batch(std::string_view bytes) {
  batch_head head{};
  std::memcpy(&head, bytes.data(), std::min(bytes.size(), sizeof(head)));
  if (bytes.size() < sizeof(head.magic)) return true;
  if (head.magic.value() != magic) return false;
  return bytes.size() < sizeof(head) || head.length.value() > bytes.size() - sizeof(head);
}

}  // namespace coxswain::server
