#pragma once
// Finds the messages of a protocol in what one connection received.

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

namespace coxswain::bench {

struct received_frame {
  std::string_view beginning;  // of the payload; all of it unless `bytes` says otherwise
  std::size_t bytes{};         // the payload's size

  [[nodiscard]] bool is_whole() const noexcept { return beginning.size() == bytes; }
};

class frame_source {
 public:
  virtual ~frame_source() = default;

  // Takes the next frame, or all there is of it, off the front of `input`. The frame is valid until
  // the next call, and as long as `input`'s memory is.
  [[nodiscard]] virtual std::optional<received_frame> next(std::string_view& input) = 0;
};

// Makes one for a new connection.
using frame_source_maker = std::unique_ptr<frame_source> (*)();

}  // namespace coxswain::bench
