#pragma once
// What connections sent in this iteration and the core has not been told: many are read one after
// another, and then all of it is told at once. The kernel's code and ours, each far larger than the
// first cache, so push each other out of it once for many reads, not with each of them. Not here:
// reading, and telling (connection).

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

  // Where the next bytes are to be read into; all of the buffer after `clear`.
  [[nodiscard]] std::span<char> room() noexcept { return std::span{buffer_}.subspan(used_); }

  // So many bytes of `room` came from this connection.
  void add(connection& from, std::size_t count) {
    pieces_.push_back({&from, {buffer_.data() + used_, count}});
    used_ += count;
  }

  // It is time to tell what is there, so that the next one finds room for a long message.
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
