#pragma once
// Input of this iteration not yet passed to the core: many connections are read one after another,
// and then all input is passed on at once. So the kernel's code and ours, each far larger than the
// L1 cache, evict each other once for many reads, not with each of them. Not here: reading, and
// passing on (connection).

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace coxswain::server {

class connection;

class intake {
 public:
  struct piece {
    connection* from;
    std::string_view bytes;
  };

  intake() : buffer_(buffer_bytes) {}

  // Space for the next read; the whole buffer after `clear`.
  [[nodiscard]] std::span<char> room() noexcept { return std::span{buffer_}.subspan(used_); }

  // This many bytes of `room` were read from this connection.
  void add(connection& from, std::size_t count) {
    pieces_.push_back({&from, {buffer_.data() + used_, count}});
    used_ += count;
  }

  // Pass the content on now, so that there is room for a long message.
  [[nodiscard]] bool is_full() const noexcept {
    return pieces_.size() == pieces_max || used_ > buffer_bytes / 2;
  }

  [[nodiscard]] std::span<piece const> pieces() const noexcept { return pieces_; }

  void clear() noexcept {
    pieces_.clear();
    used_ = 0;
  }

  static constexpr std::size_t buffer_bytes = 64 * 1024;

 private:
  static constexpr std::size_t pieces_max = 64;

  std::vector<char> buffer_;
  std::size_t used_{};
  std::vector<piece> pieces_;
};

}  // namespace coxswain::server
