#pragma once
// gzip (RFC 1952) in memory, by zlib. Not here: which messages are compressed (message_decoder).

#include "coxswain/base/status.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

struct z_stream_s;

namespace coxswain::http2 {

// Decompresses one message, step by step. A message of more than `any_ratio_bytes` may be at most
// `ratio_max` times as long as its compressed form.
class inflation {
 public:
  static constexpr std::size_t any_ratio_bytes = 4 * 1024 * 1024;
  static constexpr std::size_t ratio_max = 200;

  // Throws std::bad_alloc.
  inflation(std::string compressed, std::size_t bytes_max);
  ~inflation();
  inflation(inflation const&) = delete;
  inflation& operator=(inflation const&) = delete;

  // Decompresses about `step_bytes` more. True: the message is whole. RESOURCE_EXHAUSTED: it
  // exceeds `bytes_max` bytes or the ratio; no larger buffer is ever allocated. INTERNAL: the input
  // is not gzip, is truncated, or has trailing bytes. Not to be called after an error.
  [[nodiscard]] result<bool> go_on(std::size_t step_bytes);

  // The bytes decompressed so far.
  [[nodiscard]] std::size_t written() const noexcept { return written_; }
  // The memory of both forms.
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

  // The whole message.
  [[nodiscard]] std::string take();

 private:
  [[nodiscard]] status too_long() const;

  std::string compressed_;
  std::string content_;
  std::size_t bytes_max_;
  std::size_t written_{};
  std::unique_ptr<z_stream_s> stream_;
};

// Decompresses. RESOURCE_EXHAUSTED: the content exceeds `bytes_max` bytes; no larger buffer is ever
// allocated. INTERNAL: the input is not gzip, is truncated, or has trailing bytes.
[[nodiscard]] result<std::string> gunzip(std::string_view compressed, std::size_t bytes_max);

// Throws std::bad_alloc.
[[nodiscard]] std::string gzip(std::string_view content);

}  // namespace coxswain::http2
