#pragma once
// Finds the frames in what a connection received, for a load: of a long frame it keeps only the
// beginning, so that thousands of connections may be sent megabytes each. Not here: what a payload
// means (peer). The client's own decoder is wire/frame.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace coxswain::bench {

struct received_frame {
  std::string_view beginning;  // of the payload; all of it unless `bytes` says otherwise
  std::size_t bytes{};         // the payload's size

  [[nodiscard]] bool is_whole() const noexcept { return beginning.size() == bytes; }
};

class frame_reader {
 public:
  // Of a longer payload only so much is kept.
  static constexpr std::size_t kept_bytes_max = std::size_t{16} * 1024;

  // Takes the next frame, or all there is of it, off the front of `input`. The frame is valid until
  // the next call, and as long as `input`'s memory is.
  [[nodiscard]] std::optional<received_frame> next(std::string_view& input);

 private:
  std::string kept_;       // the beginning of a frame that no single input holds, with its prefix
  std::size_t length_{};   // of its payload, once the prefix is whole
  std::size_t to_skip_{};  // what is still to come of it and is not kept
  bool is_taken_{};        // `kept_` was handed out
};

}  // namespace coxswain::bench
