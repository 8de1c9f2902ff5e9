#pragma once
// The protocol of Redis (RESP2 and RESP3), as far as the benchmark needs it: commands to it, and
// where its replies end. Not here: requests and the meaning of replies (redis_peer).

#include "load/frames.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace coxswain::bench {

void append_command(std::string& out, std::initializer_list<std::string_view> words);

// A frame is a whole reply, or a whole push, with all that is nested in it.
class resp_reader final : public frame_source {
 public:
  // Of a longer one only this much is kept.
  static constexpr std::size_t kept_bytes_max = std::size_t{16} * 1024;

  [[nodiscard]] std::optional<received_frame> next(std::string_view& input) override;

 private:
  bool take_line(std::string_view rest, std::size_t& used);
  void begin_value(std::string_view line);
  void keep(std::string_view bytes);

  std::string kept_;          // the beginning of a frame that no single input holds
  std::string line_;          // the beginning of a line that no single input holds
  std::uint64_t values_{1};   // how many are still to end before the frame does
  std::size_t body_bytes_{};  // of a string: how many are still to come, its line end among them
  std::size_t bytes_{};       // of the frame so far
  bool is_taken_{};           // `kept_` was handed out
};

}  // namespace coxswain::bench
