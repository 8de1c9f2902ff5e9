#include "tests/http2/frames.hpp"

#include <nghttp2/nghttp2.h>

#include <stdexcept>

namespace coxswain::http2::test {
namespace {

constexpr std::size_t head_bytes = 9;

std::uint32_t read_number(std::string_view bytes) {
  std::uint32_t value = 0;
  for (char const c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

// A plain HPACK string. A length of 127 or more continues in groups of seven bits.
std::string text(std::string_view content) {
  std::string made;
  auto length = content.size();
  if (length < 127) {
    made += static_cast<char>(length);
  } else {
    made += '\x7f';
    for (length -= 127; length >= 128; length >>= 7) {
      made += static_cast<char>(0x80 | (length & 0x7f));
    }
    made += static_cast<char>(length);
  }
  return made.append(content);
}

}  // namespace

std::string number(std::uint64_t value, int bytes) {
  std::string made;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    made += static_cast<char>(value >> shift & 0xff);
  }
  return made;
}

std::string hex(std::string_view digits) {
  constexpr std::string_view all = "0123456789abcdef";
  std::string made;
  unsigned value = 1;
  for (char const c : digits) {
    auto const digit = all.find(c);
    if (digit == std::string_view::npos) continue;
    value = value << 4 | static_cast<unsigned>(digit);
    if (value < 0x100) continue;
    made += static_cast<char>(value & 0xff);
    value = 1;
  }
  return made;
}

std::string frame(frame_type type, std::uint8_t flags, std::uint32_t stream,
                  std::string_view payload) {
  auto made = number(payload.size(), 3) + static_cast<char>(type) + static_cast<char>(flags) +
              number(stream, 4);
  return made.append(payload);
}

std::string preface() {
  return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(frame_type::settings, 0, 0);
}

std::string header_block(fields const& all) {
  std::string block;
  for (auto const& [name, value] : all) block += '\0' + text(name) + text(value);
  return block;
}

fields call_fields(std::string_view path) {
  return {{":path", path},
          {":authority", "localhost"},
          {":method", "POST"},
          {":scheme", "http"},
          {"content-type", "application/grpc"},
          {"te", "trailers"},
          {"grpc-encoding", "gzip"},
          {"grpc-accept-encoding", "identity, deflate, gzip"},
          {"user-agent", "grpc-c++/1.51.1 grpc-c/29.0.0 (linux; chttp2)"}};
}

std::string message(std::string_view content, bool is_compressed) {
  return std::string(1, is_compressed ? '\1' : '\0') + number(content.size(), 4) +
         std::string{content};
}

std::string whole_call(std::uint32_t stream, std::string_view path, std::string_view content) {
  return frame(frame_type::headers, end_headers, stream, header_block(call_fields(path))) +
         frame(frame_type::data, end_stream, stream, message(content));
}

std::vector<read_frame> read_frames(std::string_view written) {
  std::vector<read_frame> frames;
  while (!written.empty()) {
    if (written.size() < head_bytes) throw std::runtime_error{"a frame is cut off"};
    auto const length = read_number(written.substr(0, 3));
    if (written.size() - head_bytes < length) throw std::runtime_error{"a frame is cut off"};
    frames.push_back({static_cast<frame_type>(written[3]), static_cast<std::uint8_t>(written[4]),
                      read_number(written.substr(5, 4)),
                      std::string{written.substr(head_bytes, length)}});
    written.remove_prefix(head_bytes + length);
  }
  return frames;
}

header_reader::header_reader() {
  if (nghttp2_hd_inflate_new(&inflater_) != 0) throw std::bad_alloc{};
}

header_reader::~header_reader() { nghttp2_hd_inflate_del(inflater_); }

std::string header_reader::read(std::string_view block) {
  std::string text;
  for (;;) {
    nghttp2_nv found{};
    int flags = 0;
    auto const taken = nghttp2_hd_inflate_hd2(inflater_, &found, &flags,
                                              reinterpret_cast<std::uint8_t const*>(block.data()),
                                              block.size(), 1);
    if (taken < 0) throw std::runtime_error{"the headers are damaged"};
    block.remove_prefix(static_cast<std::size_t>(taken));
    if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0) {
      text.append(reinterpret_cast<char const*>(found.name), found.namelen).append(": ");
      text.append(reinterpret_cast<char const*>(found.value), found.valuelen).append("\n");
    }
    if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0) break;
  }
  nghttp2_hd_inflate_end_headers(inflater_);
  return text;
}

}  // namespace coxswain::http2::test
