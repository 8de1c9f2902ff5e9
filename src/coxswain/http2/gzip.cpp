#include "coxswain/http2/gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

namespace coxswain::http2 {
namespace {

constexpr int gzip_window_bits = MAX_WBITS + 16;
constexpr int memory_level = 8;  // zlib's default
constexpr std::size_t first_guess = 1024;
constexpr std::size_t usual_ratio = 4;
constexpr std::size_t step_max = std::numeric_limits<uInt>::max();

// zlib reads through a pointer to what is not const, and writes nothing there.
Bytef* input_of(std::string_view text) noexcept {
  return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
}

Bytef* at(std::string& buffer, std::size_t position) noexcept {
  return reinterpret_cast<Bytef*>(buffer.data() + position);
}

}  // namespace

inflation::inflation(std::string compressed, std::size_t bytes_max)
    : compressed_{std::move(compressed)},
      bytes_max_{bytes_max},
      stream_{std::make_unique<z_stream_s>()} {
  if (inflateInit2(stream_.get(), gzip_window_bits) != Z_OK) throw std::bad_alloc{};
  stream_->next_in = input_of(compressed_);
  stream_->avail_in = static_cast<uInt>(std::min(compressed_.size(), step_max));
}

inflation::~inflation() { inflateEnd(stream_.get()); }

std::size_t inflation::memory_bytes() const noexcept {
  constexpr std::size_t state_bytes = 48 * 1024;  // of zlib: its window and tables
  return sizeof(inflation) + state_bytes + compressed_.capacity() + content_.capacity();
}

status inflation::too_long() const {
  if (written_ >= bytes_max_) {
    return {errc::resource_exhausted,
            "the compressed message has more than " + std::to_string(bytes_max_) + " bytes"};
  }
  return {errc::resource_exhausted,
          "the compressed message of " + std::to_string(compressed_.size()) +
              " bytes decompresses to more than " + std::to_string(written_) + " bytes; above " +
              std::to_string(any_ratio_bytes) + " bytes at most " + std::to_string(ratio_max) +
              " times its length is accepted"};
}

result<bool> inflation::go_on(std::size_t step_bytes) {
  if (compressed_.size() > step_max) {
    written_ = bytes_max_;
    return too_long();
  }
  if (content_.size() == written_) {
    auto const wanted = std::max({first_guess, compressed_.size() * usual_ratio, 2 * written_});
    content_.resize(std::min(wanted, bytes_max_));
  }
  auto& s = *stream_;
  s.next_out = at(content_, written_);
  auto const room = std::min(content_.size() - written_, step_bytes);
  s.avail_out = static_cast<uInt>(room);
  auto const came_to = inflate(&s, Z_NO_FLUSH);
  written_ += room - s.avail_out;
  if (came_to == Z_MEM_ERROR) throw std::bad_alloc{};
  bool is_whole = came_to == Z_STREAM_END;
  if (!is_whole) {
    if (came_to != Z_OK && came_to != Z_BUF_ERROR) {
      return status{errc::internal, "the message is not compressed with gzip as it claims"};
    }
    if (s.avail_out > 0) return status{errc::internal, "the compressed message is cut off"};
    if (written_ > any_ratio_bytes && written_ / ratio_max > compressed_.size()) return too_long();
    if (written_ < bytes_max_) return false;
    // Its end may be all that is left.
    Bytef none{};
    s.next_out = &none;
    s.avail_out = 0;
    is_whole = inflate(&s, Z_NO_FLUSH) == Z_STREAM_END;
    if (!is_whole) return too_long();
  }
  if (s.avail_in > 0) {
    return status{errc::internal, "something follows the end of the compressed message"};
  }
  return true;
}

std::string inflation::take() {
  content_.resize(written_);
  return std::move(content_);
}

result<std::string> gunzip(std::string_view compressed, std::size_t bytes_max) {
  constexpr std::size_t at_once = 1024 * 1024;
  inflation inflation{std::string{compressed}, bytes_max};
  for (;;) {
    auto const is_whole = inflation.go_on(at_once);
    if (!is_whole) return is_whole.error();
    if (*is_whole) return inflation.take();
  }
}

std::string gzip(std::string_view content) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window_bits, memory_level,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc{};
  }
  std::string compressed(deflateBound(&stream, static_cast<uLong>(content.size())), '\0');
  stream.next_in = input_of(content);
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = at(compressed, 0);
  stream.avail_out = static_cast<uInt>(compressed.size());
  deflate(&stream, Z_FINISH);
  compressed.resize(stream.total_out);
  deflateEnd(&stream);
  return compressed;
}

}  // namespace coxswain::http2
