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

struct inflater {
  inflater() {
    if (inflateInit2(&stream, gzip_window_bits) != Z_OK) throw std::bad_alloc{};
  }
  ~inflater() { inflateEnd(&stream); }
  inflater(inflater const&) = delete;
  inflater& operator=(inflater const&) = delete;

  z_stream stream{};
};

status too_long(std::size_t bytes_max) {
  return {errc::resource_exhausted,
          "the compressed message has more than " + std::to_string(bytes_max) + " bytes"};
}

}  // namespace

result<std::string> gunzip(std::string_view compressed, std::size_t bytes_max) {
  if (compressed.size() > step_max) return too_long(bytes_max);
  inflater one;
  one.stream.next_in = input_of(compressed);
  one.stream.avail_in = static_cast<uInt>(compressed.size());
  std::string content;
  std::size_t written = 0;
  for (auto wanted = std::max(first_guess, compressed.size() * usual_ratio);; wanted *= 2) {
    content.resize(std::min({wanted, bytes_max, written + step_max}));
    one.stream.next_out = at(content, written);
    one.stream.avail_out = static_cast<uInt>(content.size() - written);
    auto const came_to = inflate(&one.stream, Z_NO_FLUSH);
    written = content.size() - one.stream.avail_out;
    if (came_to == Z_MEM_ERROR) throw std::bad_alloc{};
    if (came_to == Z_STREAM_END) break;
    if (came_to != Z_OK && came_to != Z_BUF_ERROR) {
      return status{errc::internal, "the message is not compressed with gzip as it claims"};
    }
    if (one.stream.avail_out > 0) {
      return status{errc::internal, "the compressed message is cut off"};
    }
    if (written >= bytes_max) {
      // Its end may be all that is left.
      Bytef none{};
      one.stream.next_out = &none;
      one.stream.avail_out = 0;
      if (inflate(&one.stream, Z_NO_FLUSH) == Z_STREAM_END) break;
      return too_long(bytes_max);
    }
  }
  if (one.stream.avail_in > 0) {
    return status{errc::internal, "something follows the end of the compressed message"};
  }
  content.resize(written);
  return content;
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
