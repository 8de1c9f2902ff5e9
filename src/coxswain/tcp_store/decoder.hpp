#pragma once
// Finds the requests in what a TCPStore client sends. An incremental decoder for one connection: it
// looks at each byte once, and its memory grows with the bytes received, never with an announced
// length. Not here: what a request means (client).

#include "coxswain/base/bytes.hpp"
#include "coxswain/base/status.hpp"
#include "coxswain/tcp_store/request.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace coxswain::tcp_store {

class decoder {
 public:
  // A request may have up to `bytes_max` bytes. One that needs more than `unasked_max` waits for
  // `allow`. `meter` counts the decoder's memory as in transit.
  explicit decoder(std::size_t bytes_max, std::size_t unasked_max = SIZE_MAX,
                   memory_meter* meter = nullptr) noexcept
      : bytes_max_{bytes_max}, unasked_max_{unasked_max}, allowed_{unasked_max}, counted_{meter} {}

  // Takes bytes from the front of `input` up to the end of a request; none if it needs more than
  // those, or permission (`asks_for`). INVALID_ARGUMENT: it is no request, or larger than
  // `bytes_max`; then the decoder must not be used again.
  [[nodiscard]] result<std::optional<request>> next(std::string_view& input);

  // The size of the request that waits for `allow`, as far as it is known; else zero.
  [[nodiscard]] std::size_t asks_for() const noexcept { return asks_; }
  void allow() noexcept;

  // Whether a request that needed permission is arriving.
  [[nodiscard]] bool is_large() const noexcept { return allowed_ > unasked_max_; }

 private:
  enum class part : std::uint8_t { query, text_count, text_length, text, number };

  [[nodiscard]] status begin(char byte);
  [[nodiscard]] status count_texts(std::uint64_t count);
  [[nodiscard]] status begin_text(std::uint64_t length);
  void take_text(std::string_view& input);
  [[nodiscard]] std::optional<std::uint64_t> take_number(std::string_view& input,
                                                         std::size_t width);
  void end_text();
  [[nodiscard]] status too_large(std::uint64_t bytes) const;
  request finish();

  std::size_t bytes_max_;
  std::size_t unasked_max_;
  std::size_t allowed_;
  transit_bytes counted_;
  request made_;
  part next_{part::query};
  std::uint64_t texts_left_{};
  std::size_t number_width_{};  // of the number at the end; zero: there is none
  std::size_t length_{};        // of the text that arrives
  std::size_t bytes_{};         // of the request so far, and of that text
  std::size_t asks_{};
  std::string partial_;  // of a number
  bool is_whole_{};
};

}  // namespace coxswain::tcp_store
