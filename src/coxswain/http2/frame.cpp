#include "coxswain/http2/frame.hpp"

#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <array>

namespace coxswain::http2 {
namespace {

constexpr std::uint32_t id_mask = 0x7fff'ffff;  // the highest bit is reserved

unsigned char const* bytes_of(std::string_view text) noexcept {
  return reinterpret_cast<unsigned char const*>(text.data());
}

received_frame read_head(std::string_view nine) noexcept {
  received_frame found;
  found.length = boost::endian::load_big_u24(bytes_of(nine));
  found.kind = frame_kind{static_cast<std::uint8_t>(nine[3])};
  found.flags = static_cast<std::uint8_t>(nine[4]);
  found.stream = stream_id{static_cast<std::int32_t>(read_u32(nine.substr(5)) & id_mask)};
  return found;
}

}  // namespace

std::optional<received_frame> frame_splitter::next(std::string_view& input) {
  auto const fill = [&](std::size_t size) {
    auto const count = std::min(size - std::min(size, partial_.size()), input.size());
    partial_ += input.substr(0, count);
    input.remove_prefix(count);
    return partial_.size() >= size;
  };
  bool const is_in_input = partial_.empty() && input.size() >= frame_head_bytes;
  if (!is_in_input && !fill(frame_head_bytes)) return std::nullopt;
  auto found = read_head(is_in_input ? input : std::string_view{partial_});
  if (found.is_too_long()) return found;
  auto const size = frame_head_bytes + found.length;
  if (is_in_input && input.size() >= size) {
    found.payload = input.substr(frame_head_bytes, found.length);
    input.remove_prefix(size);
    return found;
  }
  if (!fill(size)) return std::nullopt;
  is_whole_ = true;
  found.payload = std::string_view{partial_}.substr(frame_head_bytes);
  return found;
}

void append_frame_head(std::string& out, std::size_t length, frame_kind kind, std::uint8_t flags,
                       stream_id stream) {
  std::array<unsigned char, frame_head_bytes> head{};
  boost::endian::store_big_u24(head.data(), static_cast<std::uint32_t>(length));
  head[3] = static_cast<unsigned char>(kind);
  head[4] = flags;
  boost::endian::store_big_u32(&head[5], static_cast<std::uint32_t>(stream.value));
  out.append(reinterpret_cast<char const*>(head.data()), head.size());
}

void fit_frame_head(std::string& out, std::size_t head) noexcept {
  auto const length = out.size() - head - frame_head_bytes;
  boost::endian::store_big_u24(reinterpret_cast<unsigned char*>(&out[head]),
                               static_cast<std::uint32_t>(length));
}

void append_u16(std::string& out, std::uint16_t value) {
  std::array<unsigned char, 2> two{};
  boost::endian::store_big_u16(two.data(), value);
  out.append(reinterpret_cast<char const*>(two.data()), two.size());
}

void append_u32(std::string& out, std::uint32_t value) {
  std::array<unsigned char, 4> four{};
  boost::endian::store_big_u32(four.data(), value);
  out.append(reinterpret_cast<char const*>(four.data()), four.size());
}

std::uint16_t read_u16(std::string_view two) noexcept {
  return boost::endian::load_big_u16(bytes_of(two));
}

std::uint32_t read_u32(std::string_view four) noexcept {
  return boost::endian::load_big_u32(bytes_of(four));
}

}  // namespace coxswain::http2
