#pragma once
// Prepared frames of many connections, in one piece of memory, in the order in which they are sent.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::bench {

class frame_list {
 public:
  void clear() {
    bytes_.clear();
    frames_.clear();
  }

  // Where the next frame is to be appended; `close` ends it.
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

}  // namespace coxswain::bench
