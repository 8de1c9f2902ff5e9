#pragma once
// What the floor sends: frames of zeros, made once for each size and shared by all connections.
// What a socket does not take at once waits here; a large frame waits without being copied.

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace coxswain::bench {

class floor_replies {
 public:
  // Answers are written by the next `flush`.
  void add(int fd, std::size_t payload_bytes);

  // Writes what was added: what goes to one connection in a row with one call. `blocked` are the
  // connections that did not take all of it, since the last flush. Throws bench_error.
  void flush(std::vector<int>& blocked);

  // The connection takes bytes again; true if nothing waits any more. Throws bench_error.
  bool resume(int fd);

  // The connection is closed.
  void forget(int fd);

 private:
  using frame_ptr = std::shared_ptr<std::string const>;
  struct reply {
    int fd{};
    frame_ptr frame;
  };
  struct rest {
    frame_ptr frame;
    std::size_t sent{};
  };

  frame_ptr const& frame_of(std::size_t payload_bytes);
  void write(int fd, frame_ptr const& frame, std::vector<int>& blocked);

  std::vector<reply> added_;
  std::unordered_map<std::size_t, frame_ptr> frames_;  // by their payload's size
  std::size_t last_bytes_{};                           // the size that was asked for last
  frame_ptr last_frame_;
  std::unordered_map<int, std::deque<rest>> waiting_;
};

}  // namespace coxswain::bench
