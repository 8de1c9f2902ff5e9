// Streams and the sending side. The receiving side: server_connection_input.cpp.

#include "coxswain/http2/server_connection.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace coxswain::http2 {
namespace {

// Small requests need not wait for it; each stream has its own besides.
constexpr std::uint32_t connection_window_bytes = 4 * 1024 * 1024;
constexpr std::uint32_t initial_window_bytes = 65'535;

constexpr std::uint16_t setting_max_concurrent_streams = 3;
constexpr std::uint16_t setting_max_header_list_size = 6;
constexpr std::uint16_t setting_no_priorities = 9;  // of RFC 7540

// Memory that an idle connection may keep for its next frames.
constexpr std::size_t control_bytes_kept = 256;
constexpr std::size_t buckets_kept = 64;

// Output of a reply that no window limits.
std::size_t fresh_bytes(server_stream const& of) noexcept {
  constexpr std::size_t headers_bytes = 64;
  return headers_bytes + of.error_block.size();
}

}  // namespace

server_connection::server_connection(limits const& l, memory_meter* meter)
    : limits_{l},
      counted_{meter},
      pings_{l.control_frames_per_second_max, l.control_frames_per_second_max},
      settings_{l.control_frames_per_second_max, l.control_frames_per_second_max},
      refused_{l.refused_at_once_max, l.refused_per_second_max} {
  verb const guard{*this};
  // Of the table of headers, the frames and the window of a stream: as HTTP/2 has them.
  std::string own;
  append_u16(own, setting_no_priorities);
  append_u32(own, 1);
  append_u16(own, setting_max_concurrent_streams);
  append_u32(own, static_cast<std::uint32_t>(l.streams_max));
  append_u16(own, setting_max_header_list_size);
  append_u32(own, static_cast<std::uint32_t>(l.header_block_bytes_max));
  append_control(frame_kind::settings, 0, {}, own);
  append_window({}, connection_window_bytes - initial_window_bytes);
}

server_connection::~server_connection() = default;

std::size_t server_connection::memory_bytes() const noexcept {
  constexpr std::size_t entry_bytes = sizeof(std::pair<std::int32_t, void*>) + 1;
  return held_bytes_ + decoder_.memory_bytes() + splitter_.memory_bytes() + block_.capacity() +
         control_.capacity() + known_block_.capacity() + known_head_.path.capacity() +
         streams_.bucket_count() * entry_bytes;
}

bool server_connection::wants_write() const noexcept {
  if (is_over_) return false;
  if (!control_.empty()) return true;
  if (is_refused_) return false;
  return !fresh_.empty() || (window_ > 0 && (!sending_.empty() || !late_.empty()));
}

bool server_connection::wants_read() const noexcept {
  if (is_over_ || is_refused_) return false;
  return !is_leaving_ || !streams_.empty() || !control_.empty();
}

void server_connection::append_output(std::string& out, std::size_t bytes_max) {
  verb const guard{*this};
  if (is_over_) return;
  auto const size_max = out.size() + bytes_max;
  write_control(out, size_max);
  if (is_refused_) return;
  while (out.size() < size_max) {
    if (!fresh_.empty()) {
      auto& next = fresh_.front();
      fresh_.pop_front();
      fresh_bytes_ -= fresh_bytes(next);
      write_headers(next, out);
    } else if (window_ > 0 && !(sending_.empty() && late_.empty())) {
      auto& from = sending_.empty() ? late_ : sending_;
      auto& next = from.front();
      from.pop_front();
      write_data(next, out);
    } else {
      break;
    }
  }
}

void server_connection::ping(std::uint64_t payload) {
  verb const guard{*this};
  std::string bytes;
  append_u32(bytes, static_cast<std::uint32_t>(payload >> 32));
  append_u32(bytes, static_cast<std::uint32_t>(payload));
  append_control(frame_kind::ping, 0, {}, bytes);
}

void server_connection::go_away(stream_id last, error_code code, std::string_view text) {
  verb const guard{*this};
  if (is_over_ || is_refused_) return;
  last_served_ = std::min(last_served_, last);
  std::string payload;
  append_u32(payload, static_cast<std::uint32_t>(last_served_.value));
  append_u32(payload, static_cast<std::uint32_t>(code));
  payload += text;
  append_control(frame_kind::go_away, 0, {}, payload);
  is_leaving_ = true;
  std::vector<server_stream*> excluded;
  for (auto const& [_, one] : streams_) {
    if (!is_served(one->id)) excluded.push_back(one.get());
  }
  for (auto* const one : excluded) close(*one, error_code::refused_stream);
}

server_stream* server_connection::find(stream_id which) const noexcept {
  auto const at = streams_.find(which.value);
  return at == streams_.end() ? nullptr : at->second.get();
}

server_stream& server_connection::begin(stream_id which) {
  auto made = std::make_unique<server_stream>(which, limits_.message_bytes_max, stream_window_);
  auto& begun = *streams_.emplace(which.value, std::move(made)).first->second;
  hold(sizeof(server_stream));
  return begun;
}

void server_connection::close(server_stream& which, error_code why) {
  unsent_bytes_ -= which.messages.left();
  if (which.sending.is_linked() && !which.is_begun) fresh_bytes_ -= fresh_bytes(which);
  stream_closed(which, why);
  let_go(sizeof(server_stream) + which.messages.own_bytes() + which.error_block.size());
  streams_.erase(which.id.value);
  if (streams_.empty() && streams_.bucket_count() > buckets_kept) streams_ = {};
}

void server_connection::reset(server_stream& which, error_code why) {
  std::string payload;
  append_u32(payload, static_cast<std::uint32_t>(why));
  append_control(frame_kind::reset, 0, which.id, payload);
  close(which, why);
}

void server_connection::refuse_flood(std::string_view of_what) {
  terminate(error_code::enhance_your_calm,
            "the peer floods the connection with " + std::string{of_what});
}

void server_connection::terminate(error_code code, std::string_view why) {
  if (is_refused_) return;
  is_refused_ = true;
  error_ = why;
  std::string payload;
  append_u32(payload, static_cast<std::uint32_t>(std::min(last_, last_served_).value));
  append_u32(payload, static_cast<std::uint32_t>(code));
  payload += why;
  append_control(frame_kind::go_away, 0, {}, payload);
}

void server_connection::end(std::string_view why) noexcept {
  is_over_ = true;
  error_ = why;
}

void server_connection::send_reply(server_stream& of) {
  unsent_bytes_ += of.messages.left();
  hold(of.messages.own_bytes() + of.error_block.size());
  fresh_.push_back(of);
  fresh_bytes_ += fresh_bytes(of);
}

void server_connection::consume(server_stream& of, std::size_t count) {
  of.consumed += static_cast<std::uint32_t>(count);
  if (of.is_half_closed || of.consumed < of.read_window / 2) return;
  append_window(of.id, of.consumed);
  of.unread_window -= std::exchange(of.consumed, 0);
}

void server_connection::widen_window(server_stream& of, std::uint32_t bytes) {
  if (bytes <= of.read_window) return;
  append_window(of.id, bytes - std::exchange(of.read_window, bytes));
}

// Its reply goes on, or waits.
void server_connection::window_changed(server_stream& of) {
  if (!of.is_begun || of.sending.is_linked() == (of.window > 0)) return;
  if (of.window <= 0) return of.sending.unlink();
  (of.is_large ? late_ : sending_).push_back(of);
}

void server_connection::append_control(frame_kind kind, std::uint8_t flags, stream_id stream,
                                       std::string_view payload) {
  append_frame_head(control_, payload.size(), kind, flags, stream);
  control_ += payload;
}

void server_connection::append_window(stream_id of, std::size_t count) {
  append_frame_head(control_, sizeof(std::uint32_t), frame_kind::window_update, 0, of);
  append_u32(control_, static_cast<std::uint32_t>(count));
}

void server_connection::write_control(std::string& out, std::size_t size_max) {
  if (control_.empty() || out.size() >= size_max) return;
  auto const count = std::min(control_.size() - control_sent_, size_max - out.size());
  out.append(control_, control_sent_, count);
  control_sent_ += count;
  if (control_sent_ < control_.size()) return;
  control_.clear();
  control_sent_ = acknowledgements_ = 0;
  if (control_.capacity() > control_bytes_kept) std::string{}.swap(control_);
}

void server_connection::write_headers(server_stream& of, std::string& out) {
  auto const head = out.size();
  auto const has_error = !of.error_block.empty();
  auto const end = has_error ? frame_flag::end_stream : std::uint8_t{};
  append_frame_head(out, 0, frame_kind::headers, frame_flag::end_headers | end, of.id);
  if (!of.is_http_error) encoder_.append_beginning(out);
  out += of.error_block;
  fit_frame_head(out, head);
  of.is_begun = true;
  if (has_error) return write_end(of, out);
  if (window_ > 0 && of.window > 0 && !of.is_large) return write_data(of, out);
  window_changed(of);
}

// Its window and that of the connection must be open.
void server_connection::write_data(server_stream& of, std::string& out) {
  auto const open = static_cast<std::size_t>(std::min(of.window, window_));
  auto const count = std::min({of.messages.left(), open, frame_bytes_max});
  append_frame_head(out, count, frame_kind::data, 0, of.id);
  of.messages.take(count, out);
  of.window -= static_cast<std::int64_t>(count);
  window_ -= static_cast<std::int64_t>(count);
  unsent_bytes_ -= count;
  sent_bytes_ += count;
  if (of.messages.left() > 0) return window_changed(of);
  auto const head = out.size();
  append_frame_head(out, 0, frame_kind::headers, frame_flag::end_headers | frame_flag::end_stream,
                    of.id);
  encoder_.append_success(out);
  fit_frame_head(out, head);
  write_end(of, out);
}

// The client need not send the rest of a request that is answered already.
void server_connection::write_end(server_stream& of, std::string& out) {
  if (!of.is_half_closed) {
    append_frame_head(out, sizeof(std::uint32_t), frame_kind::reset, 0, of.id);
    append_u32(out, static_cast<std::uint32_t>(error_code::no_error));
  }
  close(of, error_code::no_error);
}

}  // namespace coxswain::http2
