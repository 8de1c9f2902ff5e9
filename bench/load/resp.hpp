#pragma once
// The protocol of Redis (RESP2 and RESP3), as far as the benchmark needs it: writing commands, and
// finding the end of replies. Not here: requests and the meaning of replies (redis_peer).

#include "load/frames.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace coxswain::bench {

void append_command(std::string& out, std::initializer_list<std::string_view> words);

// A frame is a complete reply or push, with everything nested in it.
class resp_reader final : public frame_source {
 public:
  // Of a longer frame only this much is kept.
  static constexpr std::size_t kept_bytes_max = std::size_t{16} * 1024;

  [[nodiscard]] std::optional<received_frame> next(std::string_view& input) override;

 private:
  bool take_line(std::string_view rest, std::size_t& used);
  void begin_value(std::string_view line);
  void keep(std::string_view bytes);

  std::string kept_;          // the beginning of a frame split over several inputs
  std::string line_;          // the beginning of a line split over several inputs
  std::uint64_t values_{1};   // number of unfinished elements in the frame
  std::size_t body_bytes_{};  // of a string: bytes still to come, including its line end
  std::size_t bytes_{};       // of the frame so far
  bool is_taken_{};           // `kept_` was handed out
};

}  // namespace coxswain::bench
