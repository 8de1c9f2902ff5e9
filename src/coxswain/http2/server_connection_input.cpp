// The receiving side of server_connection.

#include "coxswain/http2/request_rules.hpp"
#include "coxswain/http2/server_connection.hpp"
#include "coxswain/http2/status_fields.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace coxswain::http2 {
namespace {

constexpr std::string_view preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

constexpr std::uint32_t connection_window_bytes = 4 * 1024 * 1024;
constexpr std::int64_t window_max = 0x7fff'ffff;
constexpr std::uint32_t id_mask = 0x7fff'ffff;  // the highest bit is reserved

constexpr std::size_t priority_bytes = 5;
constexpr std::size_t setting_bytes = 6;
constexpr std::size_t ping_bytes = 8;
constexpr std::size_t go_away_bytes_min = 8;

constexpr int continuations_max = 8;
// One byte can stand for a field of kilobytes.
constexpr std::size_t decoded_block_bytes_max = 128 * 1024;
constexpr std::size_t settings_entries_max = 32;

// Work besides the bytes: of a frame, and of a stream that a setting touches.
constexpr std::size_t frame_work = 512;
constexpr std::size_t touched_work = 64;

// More acknowledgements than the rate limit lets a peer ask for.
constexpr std::size_t queued_acknowledgements_max = 4'000;

enum class setting : std::uint16_t {
  header_table_size = 1,
  enable_push = 2,
  initial_window_size = 4,
  max_frame_size = 5,
};

constexpr std::uint32_t max_frame_size_max = 0xff'ffff;

// Whether a block names only what is in the tables, and so leaves them as they are: each byte is
// the index of a field.
bool leaves_table(std::string_view block) noexcept {
  return std::all_of(block.begin(), block.end(), [](char c) {
    auto const byte = static_cast<unsigned char>(c);
    return byte > 0x80 && byte < 0xff;
  });
}

bool is_of_client(stream_id which) noexcept { return which.value % 2 == 1; }

// Without padding and priority. Nothing: they are longer than the payload.
std::optional<std::string_view> content_of(received_frame const& f) noexcept {
  auto content = f.payload;
  std::size_t padding = 0;
  if (f.has(frame_flag::padded)) {
    if (content.empty()) return std::nullopt;
    padding = static_cast<unsigned char>(content.front());
    content.remove_prefix(1);
  }
  if (f.kind == frame_kind::headers && f.has(frame_flag::priority)) {
    if (content.size() < priority_bytes) return std::nullopt;
    content.remove_prefix(priority_bytes);
  }
  if (padding > content.size()) return std::nullopt;
  content.remove_suffix(padding);
  return content;
}

}  // namespace

void server_connection::take(time_point now, std::string_view& input) {
  now_ = now;
  if (preface_bytes_ < preface.size()) return take_preface(input);
  auto const found = splitter_.next(input);
  if (!found) return;
  if (found->is_too_long()) {
    return terminate(error_code::frame_size_error,
                     "the peer has sent a frame of " + std::to_string(found->length) + " bytes");
  }
  work(frame_work + found->length);
  take_frame(*found);
  splitter_.release();
}

void server_connection::take_preface(std::string_view& input) {
  auto const expected = preface.substr(preface_bytes_, input.size());
  if (!input.starts_with(expected)) return end("the peer does not speak HTTP/2");
  preface_bytes_ += expected.size();
  input.remove_prefix(expected.size());
}

void server_connection::take_frame(received_frame const& f) {
  if (!has_settings_ && (f.kind != frame_kind::settings || f.has(frame_flag::acknowledgement))) {
    return terminate(error_code::protocol_error, "the peer's first frame is not SETTINGS");
  }
  if (block_of_ != stream_id{} && f.kind != frame_kind::continuation) {
    return terminate(error_code::protocol_error, "a frame interrupts a block of headers");
  }
  switch (f.kind) {
    case frame_kind::data: return take_data(f);
    case frame_kind::headers: return take_headers(f);
    case frame_kind::reset: return take_reset(f);
    case frame_kind::settings: return take_settings(f);
    case frame_kind::ping: return take_ping(f);
    case frame_kind::go_away: return take_go_away(f);
    case frame_kind::window_update: return take_window(f);
    case frame_kind::continuation: return take_continuation(f);
    case frame_kind::push_promise:
      return terminate(error_code::protocol_error, "the peer has sent PUSH_PROMISE");
    case frame_kind::priority: break;
  }
  // Of PRIORITY and unknown frames.
}

bool server_connection::check_known(received_frame const& f) {
  if (is_of_client(f.stream) && f.stream <= last_) return true;
  terminate(error_code::protocol_error, "the peer has sent a frame of a stream that was not begun");
  return false;
}

void server_connection::take_data(received_frame const& f) {
  if (!check_known(f)) return;
  auto const content = content_of(f);
  if (!content) return terminate(error_code::protocol_error, "DATA has too much padding");
  unread_window_ += static_cast<std::uint32_t>(f.length);
  if (unread_window_ >= connection_window_bytes / 2) {
    append_window({}, std::exchange(unread_window_, 0));
  }
  auto* const of = find(f.stream);
  if (of == nullptr) return;  // it was closed
  if (of->is_half_closed) return reset(*of, error_code::stream_closed);
  of->unread_window += static_cast<std::uint32_t>(f.length);
  if (of->unread_window > of->read_window) {
    return terminate(error_code::flow_control_error, "the peer exceeds the window of a stream");
  }
  of->received += content->size();
  of->is_half_closed = f.has(frame_flag::end_stream);
  consume(*of, f.length - content->size());
  data_found(*of, *content);
  if (of->is_half_closed) end_request(*of);
}

void server_connection::end_request(server_stream& of) {
  if (of.head.announced && *of.head.announced != of.received)
    return reset(of, error_code::protocol_error);
  half_closed(of);
}

void server_connection::take_headers(received_frame const& f) {
  auto const content = content_of(f);
  if (!is_of_client(f.stream) || !content) {
    return terminate(error_code::protocol_error, "HEADERS are malformed");
  }
  bool const ends = f.has(frame_flag::end_stream);
  if (f.has(frame_flag::end_headers)) return take_block(f.stream, *content, ends);
  block_ = *content;
  block_of_ = f.stream;
  block_ends_stream_ = ends;
  continuations_ = 0;
}

void server_connection::take_continuation(received_frame const& f) {
  if (block_of_ == stream_id{} || f.stream != block_of_) {
    return terminate(error_code::protocol_error, "CONTINUATION continues nothing");
  }
  if (++continuations_ > continuations_max) return refuse_flood("CONTINUATION frames");
  block_ += f.payload;
  if (!f.has(frame_flag::end_headers)) return;
  auto const whole = std::exchange(block_, {});
  take_block(std::exchange(block_of_, {}), whole, block_ends_stream_);
}

void server_connection::take_block(stream_id id, std::string_view block, bool ends) {
  bool const is_new = id > last_;
  if (is_new) last_ = id;
  bool const is_beyond_limit = is_new && streams_.size() >= limits_.streams_max;
  if (is_beyond_limit && is_served(id)) refuse_beyond_limit(id);
  // Those of closed and excluded streams are decoded for the sake of the header table.
  auto* const of = is_new && !is_beyond_limit && is_served(id) ? &begin(id) : find(id);
  if (is_new && !block.empty() && block == known_block_) {
    if (of == nullptr) return;
    of->head = known_head_;
    return begin_request(*of, ends);
  }
  known_block_.clear();
  auto const whole = block;
  request_rules rules{!is_new};
  bool is_valid = is_new || ends;
  std::size_t decoded = 0;
  while (auto const field = decoder_.next(block)) {
    decoded += field->name.size() + field->value.size() + field_overhead_bytes;
    work(field->name.size() + field->value.size());
    if (decoded > decoded_block_bytes_max) return refuse_flood("headers");
    if (of == nullptr || !is_valid) continue;
    is_valid = rules.allow(field->name, field->value);
    if (is_valid && is_new) field_found(*of, field->name, field->value);
  }
  if (decoder_.is_damaged()) {
    return terminate(error_code::compression_error, "a block of headers is damaged");
  }
  if (of == nullptr) return;
  if (of->is_half_closed) return reset(*of, error_code::stream_closed);
  if (!is_valid || !rules.are_complete()) return reset(*of, error_code::protocol_error);
  if (is_new) {
    of->head.announced = rules.content_length();
    if (leaves_table(whole)) {
      known_block_ = whole;
      known_head_ = of->head;
    }
    return begin_request(*of, ends);
  }
  of->is_half_closed = ends;
  if (ends) end_request(*of);
}

void server_connection::refuse_beyond_limit(stream_id which) {
  if (!refused_.allows(now_)) return refuse_flood("calls beyond its limit of streams");
  std::string payload;
  append_u32(payload, static_cast<std::uint32_t>(error_code::refused_stream));
  append_control(frame_kind::reset, 0, which, payload);
}

void server_connection::begin_request(server_stream& of, bool ends) {
  of.is_half_closed = ends;
  headers_ended(of);
  if (ends) end_request(of);
}

void server_connection::take_reset(received_frame const& f) {
  if (f.length != sizeof(std::uint32_t)) {
    return terminate(error_code::frame_size_error, "RST_STREAM has a wrong length");
  }
  if (!check_known(f)) return;
  if (auto* const of = find(f.stream)) close(*of, error_code{read_u32(f.payload)});
}

void server_connection::take_settings(received_frame const& f) {
  bool const is_acknowledgement = f.has(frame_flag::acknowledgement);
  if (f.stream != stream_id{}) {
    return terminate(error_code::protocol_error, "SETTINGS are of a stream");
  }
  if (f.length % setting_bytes != 0 || (is_acknowledgement && f.length != 0)) {
    return terminate(error_code::frame_size_error, "SETTINGS have a wrong length");
  }
  if (is_acknowledgement) return;
  has_settings_ = true;
  if (f.length > settings_entries_max * setting_bytes || !settings_.allows(now_)) {
    return refuse_flood("SETTINGS");
  }
  // Each change of the windows touches all streams: of several, the last one counts.
  std::optional<std::uint32_t> window;
  for (auto rest = f.payload; !rest.empty(); rest.remove_prefix(setting_bytes)) {
    auto const value = read_u32(rest.substr(2));
    if (setting{read_u16(rest)} == setting::initial_window_size) {
      if (value > window_max) {
        return terminate(error_code::flow_control_error, "SETTINGS have an impossible window");
      }
      window = value;
    } else {
      take_setting(read_u16(rest), value);
    }
  }
  if (window && *window != stream_window_) change_windows(*window);
  if (is_refused_) return;
  append_control(frame_kind::settings, frame_flag::acknowledgement, {}, {});
  if (++acknowledgements_ > queued_acknowledgements_max) {
    refuse_flood("frames that want an answer");
  }
}

void server_connection::take_setting(std::uint16_t which, std::uint32_t value) {
  switch (setting{which}) {
    case setting::header_table_size: return encoder_.limit_table(value);
    case setting::enable_push:
      if (value <= 1) return;
      break;
    case setting::max_frame_size:
      if (value >= frame_bytes_max && value <= max_frame_size_max) return;
      break;
    default: return;
  }
  terminate(error_code::protocol_error, "SETTINGS have an impossible value");
}

void server_connection::change_windows(std::uint32_t value) {
  work(touched_work * streams_.size());
  auto const change = value - std::exchange(stream_window_, value);
  for (auto const& [_, one] : streams_) {
    one->window += change;
    if (one->window > window_max) {
      return terminate(error_code::flow_control_error, "SETTINGS exceed a stream's window");
    }
    window_changed(*one);
  }
}

void server_connection::take_ping(received_frame const& f) {
  if (f.stream != stream_id{}) {
    return terminate(error_code::protocol_error, "PING is of a stream");
  }
  if (f.length != ping_bytes) {
    return terminate(error_code::frame_size_error, "PING has a wrong length");
  }
  if (f.has(frame_flag::acknowledgement)) {
    return ping_acknowledged(std::uint64_t{read_u32(f.payload)} << 32 |
                             read_u32(f.payload.substr(sizeof(std::uint32_t))));
  }
  if (!pings_.allows(now_)) return refuse_flood("PING");
  append_control(frame_kind::ping, frame_flag::acknowledgement, {}, f.payload);
  if (++acknowledgements_ > queued_acknowledgements_max) {
    refuse_flood("frames that want an answer");
  }
}

void server_connection::take_go_away(received_frame const& f) {
  if (f.stream != stream_id{}) {
    return terminate(error_code::protocol_error, "GOAWAY is of a stream");
  }
  if (f.length < go_away_bytes_min) {
    return terminate(error_code::frame_size_error, "GOAWAY has a wrong length");
  }
  is_leaving_ = true;
  stream_id const last{static_cast<std::int32_t>(read_u32(f.payload) & id_mask)};
  peer_goes_away(last, error_code{read_u32(f.payload.substr(sizeof(std::uint32_t)))},
                 f.payload.substr(go_away_bytes_min));
}

void server_connection::take_window(received_frame const& f) {
  if (f.length != sizeof(std::uint32_t)) {
    return terminate(error_code::frame_size_error, "WINDOW_UPDATE has a wrong length");
  }
  auto const more = std::int64_t{read_u32(f.payload) & id_mask};
  if (f.stream == stream_id{}) {
    window_ += more;
    if (more != 0 && window_ <= window_max) return;
    return terminate(more == 0 ? error_code::protocol_error : error_code::flow_control_error,
                     "WINDOW_UPDATE is impossible");
  }
  if (!check_known(f)) return;
  auto* const of = find(f.stream);
  if (of == nullptr) return;
  of->window += more;
  if (more == 0) return reset(*of, error_code::protocol_error);
  if (of->window > window_max) return reset(*of, error_code::flow_control_error);
  window_changed(*of);
}

}  // namespace coxswain::http2
