#pragma once
// Frames that a load sends and receives. Not here: the meaning of payloads (peer).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::bench {

// The number in these bytes, big-endian.
[[nodiscard]] inline std::uint32_t read_number(std::string_view bytes) {
  std::uint32_t number = 0;
  for (char const byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

struct received_frame {
  std::string_view beginning;  // of the payload; all of it unless `bytes` says otherwise
  std::size_t bytes{};         // the payload's size

  [[nodiscard]] bool is_whole() const noexcept { return beginning.size() == bytes; }
};

// Finds the messages of a protocol in what one connection received.
class frame_source {
 public:
  virtual ~frame_source() = default;

  // Takes the next frame, or the available part of it, from the front of `input`. The frame is
  // valid until the next call, and as long as `input`'s memory.
  [[nodiscard]] virtual std::optional<received_frame> next(std::string_view& input) = 0;

  // Bytes that the connection itself must send in reply to its input so far.
  [[nodiscard]] virtual std::string take_output() { return {}; }
};

// Prepared frames of many connections, in one buffer, in sending order.
class frame_list {
 public:
  void clear() {
    bytes_.clear();
    frames_.clear();
  }

  // The buffer to which the next frame is appended; `close` ends it.
  [[nodiscard]] std::string& open() noexcept { return bytes_; }
  void close(std::size_t connection) { frames_.push_back({connection, bytes_.size()}); }

  [[nodiscard]] std::size_t size() const noexcept { return frames_.size(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_.size(); }
  [[nodiscard]] std::size_t connection(std::size_t i) const { return frames_[i].connection; }

  // The frames from `first` to before `end`, one after another.
  [[nodiscard]] std::string_view slice(std::size_t first, std::size_t end) const {
    auto const begin = first == 0 ? 0 : frames_[first - 1].end;
    return std::string_view{bytes_}.substr(begin, frames_[end - 1].end - begin);
  }

 private:
  struct frame {
    std::size_t connection{};
    std::size_t end{};
  };
  std::string bytes_;
  std::vector<frame> frames_;
};

// Finds the frames of Coxswain and of the baseline: of a long one it keeps only the beginning, so
// that thousands of connections can receive megabytes each. The client's own decoder is wire/frame.
class frame_reader final : public frame_source {
 public:
  // Of a longer payload only this much is kept.
  static constexpr std::size_t kept_bytes_max = std::size_t{16} * 1024;

  [[nodiscard]] std::optional<received_frame> next(std::string_view& input) override;

 private:
  std::string kept_;       // the beginning of a frame split over several inputs, with its prefix
  std::size_t length_{};   // of its payload, once the prefix is whole
  std::size_t to_skip_{};  // the rest of it, which is not kept
  bool is_taken_{};        // `kept_` was handed out
};

}  // namespace coxswain::bench
