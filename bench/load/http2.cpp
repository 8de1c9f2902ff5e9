#include "load/http2.hpp"

#include "bench_error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace coxswain::bench {
namespace {

enum frame_type : std::uint8_t {
  data = 0,
  headers = 1,
  reset = 3,
  settings = 4,
  ping = 6,
  go_away = 7,
  window_update = 8,
};

constexpr std::uint8_t flag_end_stream = 0x1;
constexpr std::uint8_t flag_ack = 0x1;
constexpr std::uint8_t flag_end_headers = 0x4;
constexpr std::uint8_t flag_padded = 0x8;

constexpr std::size_t head_bytes = 9;
constexpr std::size_t message_head_bytes = 5;  // of gRPC: not compressed, and a length

constexpr std::uint32_t window_max = 0x7fff'ffff;
constexpr std::uint32_t window_by_default = 65'535;
constexpr std::uint64_t reported_bytes = std::uint64_t{1} << 30;

// In the table that HPACK begins with.
constexpr char method_post = '\x83';
constexpr char scheme_http = '\x86';
constexpr std::size_t static_table_entries = 61;

template <std::size_t Bytes>
void append_number(std::string& out, std::uint32_t number) {
  for (std::size_t i = Bytes; i-- > 0;) out += static_cast<char>(number >> (8 * i) & 0xff);
}

void append_frame(std::string& out, frame_type type, std::uint8_t flags, std::uint32_t stream,
                  std::string_view payload) {
  append_number<3>(out, static_cast<std::uint32_t>(payload.size()));
  out += static_cast<char>(type);
  out += static_cast<char>(flags);
  append_number<4>(out, stream);
  out += payload;
}

std::string window_update_payload(std::uint32_t by) {
  std::string payload;
  append_number<4>(payload, by);
  return payload;
}

// A string of HPACK, shorter than 127 bytes, as it is.
void append_text(std::string& block, std::string_view text) {
  block += static_cast<char>(text.size());
  block += text;
}

}  // namespace

void http2_writer::append_preface(std::string& out) {
  constexpr std::uint32_t initial_window_size = 4;
  out += "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  std::string payload;
  append_number<2>(payload, initial_window_size);
  append_number<4>(payload, window_max);
  append_frame(out, settings, 0, 0, payload);
  append_frame(out, window_update, 0, 0, window_update_payload(window_max - window_by_default));
}

std::uint32_t http2_writer::append_call(std::string& out, std::string_view path,
                                        std::string_view message, bool open) {
  auto const stream = std::exchange(next_stream_, next_stream_ + 2);
  std::string block{method_post, scheme_http};
  append_header(block, ":path", path);
  append_header(block, ":authority", "localhost");
  append_header(block, "content-type", "application/grpc");
  append_header(block, "te", "trailers");
  append_frame(out, headers, flag_end_headers, stream, block);

  std::string whole(1, '\0');
  append_number<4>(whole, static_cast<std::uint32_t>(message.size()));
  whole += message;
  append_frame(out, data, open ? 0 : flag_end_stream, stream, whole);
  return stream;
}

void http2_writer::append_header(std::string& block, std::string_view name,
                                 std::string_view value) {
  for (std::size_t i = 0; i < table_.size(); ++i) {
    if (table_[i].first != name || table_[i].second != value) continue;
    block += static_cast<char>(0x80 | (static_table_entries + table_.size() - i));
    return;
  }
  block += '\x40';  // new, and to be kept
  append_text(block, name);
  append_text(block, value);
  table_.emplace_back(name, value);
}

http2_item http2_item::from(received_frame const& frame) {
  return {frame.beginning.front() == 'm', read_number(frame.beginning.substr(1, 4)),
          frame.beginning.substr(5)};
}

std::optional<received_frame> http2_reader::next(std::string_view& input) {
  buffer_ += input;
  input = {};
  while (ready_.empty() && take_frame()) continue;
  if (ready_.empty()) {
    buffer_.erase(0, std::exchange(at_, 0));
    return std::nullopt;
  }
  current_ = std::move(ready_.front());
  ready_.pop_front();
  return received_frame{current_, current_.size()};
}

// False if the next one is not whole.
bool http2_reader::take_frame() {
  auto const rest = std::string_view{buffer_}.substr(at_);
  if (rest.size() < head_bytes) return false;
  auto const length = read_number(rest.substr(0, 3));
  if (rest.size() < head_bytes + length) return false;
  at_ += head_bytes + length;
  auto const type = static_cast<std::uint8_t>(rest[3]);
  auto const flags = static_cast<std::uint8_t>(rest[4]);
  auto const stream = read_number(rest.substr(5, 4)) & window_max;
  auto const payload = rest.substr(head_bytes, length);

  std::string reply;
  switch (type) {
    case data:
      if ((flags & flag_padded) != 0) throw bench_error{"it pads its data, which is not expected"};
      take_data(stream, payload);
      break;
    case headers:
      if ((flags & flag_end_stream) != 0) take_end(stream);
      break;
    case settings:
      if ((flags & flag_ack) == 0) append_frame(reply, settings, flag_ack, 0, {});
      break;
    case ping:
      if ((flags & flag_ack) == 0) append_frame(reply, ping, flag_ack, 0, payload);
      break;
    case reset: throw bench_error{"it has broken off a call"};
    case go_away: throw bench_error{"it ends the connection: " + std::string{payload.substr(8)}};
    default: break;
  }
  if (!reply.empty()) add(false, 0, reply);
  return true;
}

void http2_reader::take_data(std::uint32_t stream, std::string_view payload) {
  unreported_bytes_ += payload.size();
  if (unreported_bytes_ >= reported_bytes) {
    std::string more;
    append_frame(more, window_update, 0, 0,
                 window_update_payload(static_cast<std::uint32_t>(unreported_bytes_)));
    unreported_bytes_ = 0;
    add(false, 0, more);
  }
  auto& partial = partial_[stream];
  partial += payload;
  for (;;) {
    if (partial.size() < message_head_bytes) break;
    auto const length = read_number(std::string_view{partial}.substr(1, 4));
    if (partial.size() < message_head_bytes + length) break;
    add(true, stream, std::string_view{partial}.substr(message_head_bytes, length));
    partial.erase(0, message_head_bytes + length);
    answered_.insert(stream);
  }
  if (partial.empty()) partial_.erase(stream);
}

// Trailers: a call that failed had no message.
void http2_reader::take_end(std::uint32_t stream) {
  if (answered_.erase(stream) == 0) throw bench_error{"it refused a call, or ended a watch"};
}

void http2_reader::add(bool is_message, std::uint32_t stream, std::string_view content) {
  std::string item(1, is_message ? 'm' : 'r');
  append_number<4>(item, stream);
  item += content;
  ready_.push_back(std::move(item));
}

}  // namespace coxswain::bench
