#pragma once
// Finds the frames in what a connection received, for a load: of a long frame it keeps only the
// beginning, so that thousands of connections may be sent megabytes each. Not here: what a payload
// means (peer). The client's own decoder is wire/frame.

#include "frame_source.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace coxswain::bench {

class frame_reader final : public frame_source {
 public:
  // Of a longer payload only so much is kept.
  static constexpr std::size_t kept_bytes_max = std::size_t{16} * 1024;

  [[nodiscard]] std::optional<received_frame> next(std::string_view& input) override;

 private:
  std::string kept_;       // the beginning of a frame that no single input holds, with its prefix
  std::size_t length_{};   // of its payload, once the prefix is whole
  std::size_t to_skip_{};  // what is still to come of it and is not kept
  bool is_taken_{};        // `kept_` was handed out
};

}  // namespace coxswain::bench
