#include "coxswain/http2/outgoing.hpp"

#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <utility>

namespace coxswain::http2 {
namespace {

std::array<char, message_prefix_bytes> prefix_of(std::size_t length, bool is_compressed) {
  std::array<char, message_prefix_bytes> prefix{};
  prefix[0] = is_compressed ? 1 : 0;
  boost::endian::store_big_u32(reinterpret_cast<unsigned char*>(&prefix[1]),
                               static_cast<std::uint32_t>(length));
  return prefix;
}

}  // namespace

outgoing::outgoing(std::string text, bytes value, bool is_compressed)
    : prefix_{prefix_of(text.size() + value.size(), is_compressed)},
      prefix_bytes_{message_prefix_bytes},
      text_{std::move(text)},
      value_{std::move(value)} {}

void outgoing::add(std::string_view message, bool is_compressed) {
  assert(value_.size() == 0);
  if (left() == 0) *this = {};
  auto const prefix = prefix_of(message.size(), is_compressed);
  text_.append(prefix.data(), prefix.size());
  text_ += message;
}

void outgoing::take(std::size_t count, std::string& out) {
  auto at = std::exchange(sent_, sent_ + count);
  std::array const parts{std::string_view{prefix_.data(), prefix_bytes_}, std::string_view{text_},
                         value_.view()};
  for (auto const part : parts) {
    auto const skipped = std::min(at, part.size());
    auto const taken = std::min(count, part.size() - skipped);
    out += part.substr(skipped, taken);
    at -= skipped;
    count -= taken;
  }
}

}  // namespace coxswain::http2
