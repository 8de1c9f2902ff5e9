#include "coxswain/http2/client_connection.hpp"

#include <nghttp2/nghttp2.h>

#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

void nghttp2_session_deleter::operator()(nghttp2_session* session) const noexcept {
  nghttp2_session_del(session);
}

namespace coxswain::http2 {
namespace {

// Small requests need not wait for it; each stream has its own besides.
constexpr std::int32_t connection_window_bytes = 4 * 1024 * 1024;

// More acknowledgements than the rate limit lets a peer ask for.
constexpr std::size_t queued_acknowledgements_max = 4'000;
constexpr std::size_t settings_entries_max = 32;

struct option_deleter {
  void operator()(nghttp2_option* one) const noexcept { nghttp2_option_del(one); }
};
using option_ptr = std::unique_ptr<nghttp2_option, option_deleter>;

option_ptr make_options() {
  nghttp2_option* made = nullptr;
  if (nghttp2_option_new(&made) != 0) throw std::bad_alloc{};
  option_ptr options{made};
  nghttp2_option_set_no_auto_window_update(made, 1);
  // Without a limit of concurrent streams nghttp2 would keep all that have ended.
  nghttp2_option_set_no_closed_streams(made, 1);
  nghttp2_option_set_max_send_header_block_length(made, 16 * 1024);
  nghttp2_option_set_max_settings(made, settings_entries_max);
  nghttp2_option_set_max_outbound_ack(made, queued_acknowledgements_max);
  // It reads a clock; `limits` has ours.
  constexpr auto without_limit_of_rate = std::numeric_limits<std::uint64_t>::max();
  nghttp2_option_set_stream_reset_rate_limit(made, without_limit_of_rate, without_limit_of_rate);
  // Calls are sent at once, also before the peer has said how many it takes.
  nghttp2_option_set_peer_max_concurrent_streams(made, std::numeric_limits<std::int32_t>::max());
  return options;
}

stream_id id_of(nghttp2_frame const* frame) noexcept { return stream_id{frame->hd.stream_id}; }

std::string_view text_of(std::uint8_t const* bytes, std::size_t length) noexcept {
  return {reinterpret_cast<char const*>(bytes), length};
}

}  // namespace

// No exception passes nghttp2, which is C: it is kept, and the session fails.
struct session_callbacks {
  template <class Work>
  static int guarded(void* user, Work work) noexcept {
    auto& self = *static_cast<client_connection*>(user);
    try {
      work(self);
      return 0;
    } catch (...) {
      self.thrown_ = std::current_exception();
      return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
  }

  static int on_header(nghttp2_session*, nghttp2_frame const* frame, std::uint8_t const* name,
                       std::size_t name_bytes, std::uint8_t const* value, std::size_t value_bytes,
                       std::uint8_t, void* user) {
    return guarded(user, [&](client_connection& self) {
      self.header_found(id_of(frame), text_of(name, name_bytes), text_of(value, value_bytes));
    });
  }

  static int on_data(nghttp2_session*, std::uint8_t, std::int32_t stream, std::uint8_t const* data,
                     std::size_t length, void* user) {
    return guarded(user, [&](client_connection& self) {
      self.consume(length);
      self.data_found(stream_id{stream}, text_of(data, length));
    });
  }

  static int on_frame(nghttp2_session*, nghttp2_frame const* frame, void* user) {
    return guarded(user, [&](client_connection& self) { take_frame(self, *frame); });
  }

  static void take_frame(client_connection& self, nghttp2_frame const& frame) {
    auto const is_acknowledgement = (frame.hd.flags & NGHTTP2_FLAG_ACK) != 0;
    switch (frame.hd.type) {
      case NGHTTP2_HEADERS: self.headers_ended(id_of(&frame)); break;
      case NGHTTP2_SETTINGS:
        if (!is_acknowledgement && !self.settings_.allows(self.now_)) self.refuse_flood("SETTINGS");
        break;
      case NGHTTP2_PING:
        if (is_acknowledgement) {
          self.ping_acknowledged(boost::endian::load_big_u64(frame.ping.opaque_data));
        } else if (!self.pings_.allows(self.now_)) {
          self.refuse_flood("PING");
        }
        break;
      case NGHTTP2_GOAWAY:
        self.peer_goes_away(stream_id{frame.goaway.last_stream_id},
                            static_cast<error_code>(frame.goaway.error_code),
                            text_of(frame.goaway.opaque_data, frame.goaway.opaque_data_len));
        break;
      default: break;
    }
  }

  static int on_sent(nghttp2_session*, nghttp2_frame const* frame, void* user) {
    return guarded(user, [&](client_connection& self) {
      if (frame->hd.type == NGHTTP2_GOAWAY && self.error_.empty() &&
          frame->goaway.error_code != NGHTTP2_NO_ERROR) {
        // nghttp2 reports the peer's error by itself.
        self.error_ = text_of(frame->goaway.opaque_data, frame->goaway.opaque_data_len);
      }
    });
  }

  static int on_close(nghttp2_session*, std::int32_t stream, std::uint32_t code, void* user) {
    return guarded(user, [&](client_connection& self) {
      self.stream_closed(stream_id{stream}, static_cast<error_code>(code));
    });
  }

  // How much of a stream's messages goes into the next frame: `send` puts it there.
  static ssize_t read(nghttp2_session*, std::int32_t stream, std::uint8_t*, std::size_t length,
                      std::uint32_t* flags, nghttp2_data_source*, void* user) {
    ssize_t count = 0;
    auto const came_to = guarded(user, [&](client_connection& self) {
      auto const from = self.source_of(stream_id{stream});
      assert(from.messages != nullptr);
      auto const left = from.messages->left();
      if (left == 0 && !from.ends) {
        count = NGHTTP2_ERR_DEFERRED;
        return;
      }
      *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
      count = static_cast<ssize_t>(std::min(left, length));
      if (left <= length && from.ends) *flags |= NGHTTP2_DATA_FLAG_EOF;
    });
    return came_to == 0 ? count : came_to;
  }

  static int send(nghttp2_session*, nghttp2_frame* frame, std::uint8_t const* head,
                  std::size_t length, nghttp2_data_source*, void* user) {
    constexpr std::size_t frame_head_bytes = 9;
    auto const& self = *static_cast<client_connection*>(user);
    if (self.out_->size() >= self.out_bytes_max_) return NGHTTP2_ERR_WOULDBLOCK;
    return guarded(user, [&](client_connection& me) {
      *me.out_ += text_of(head, frame_head_bytes);
      me.source_of(id_of(frame)).messages->take(length, *me.out_);
      me.unsent_bytes_ -= length;
      me.sent_bytes_ += length;
    });
  }

  static nghttp2_session_callbacks* make() {
    nghttp2_session_callbacks* made = nullptr;
    if (nghttp2_session_callbacks_new(&made) != 0) throw std::bad_alloc{};
    nghttp2_session_callbacks_set_on_header_callback(made, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(made, on_frame);
    nghttp2_session_callbacks_set_on_frame_send_callback(made, on_sent);
    nghttp2_session_callbacks_set_on_stream_close_callback(made, on_close);
    nghttp2_session_callbacks_set_send_data_callback(made, send);
    return made;
  }
};

namespace {

constexpr std::size_t fields_max = 16;

using name_values = std::array<nghttp2_nv, fields_max>;

std::uint8_t* bytes_of(std::string_view text) noexcept {
  // nghttp2 reads through a pointer to what is not const.
  return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
}

name_values to_name_values(std::span<header_field const> fields) {
  assert(fields.size() <= fields_max);
  name_values made{};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    auto const& one = fields[i];
    made[i] = {bytes_of(one.name), bytes_of(one.value), one.name.size(), one.value.size(),
               NGHTTP2_NV_FLAG_NONE};
  }
  return made;
}

constexpr nghttp2_data_provider provider() noexcept { return {{}, session_callbacks::read}; }

nghttp2_session* make_session(counted_memory& memory, client_connection* self) {
  static auto const options = make_options();
  static auto* const callbacks = session_callbacks::make();
  auto functions = memory.functions();
  nghttp2_session* made = nullptr;
  if (nghttp2_session_client_new3(&made, callbacks, self, options.get(), &functions) != 0) {
    throw std::bad_alloc{};
  }
  return made;
}

}  // namespace

client_connection::client_connection(limits const& l, memory_meter* meter)
    : limits_{l},
      counted_{meter},
      pings_{l.control_frames_per_second_max, l.control_frames_per_second_max},
      settings_{l.control_frames_per_second_max, l.control_frames_per_second_max},
      raw_{make_session(library_memory_, this)} {
  verb const guard{*this};
  // Of the table of headers, the frames and the window of a stream: as HTTP/2 has them.
  std::array const own{nghttp2_settings_entry{NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
                       nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE,
                                              static_cast<std::uint32_t>(l.header_block_bytes_max)},
                       nghttp2_settings_entry{NGHTTP2_SETTINGS_ENABLE_PUSH, 0}};
  check(nghttp2_submit_settings(raw(), NGHTTP2_FLAG_NONE, own.data(), own.size()));
  check(
      nghttp2_session_set_local_window_size(raw(), NGHTTP2_FLAG_NONE, 0, connection_window_bytes));
}

client_connection::~client_connection() {
  if (library_memory_.is_exhausted()) static_cast<void>(raw_.release());  // and its memory goes
}

void client_connection::feed(time_point now, std::string_view input) {
  if (!wants_read()) return;
  verb const guard{*this};
  now_ = now;
  auto const taken = nghttp2_session_mem_recv(raw(), bytes_of(input), input.size());
  if (library_memory_.is_exhausted()) throw std::bad_alloc{};
  if (taken >= 0) return;
  switch (taken) {
    case NGHTTP2_ERR_FLOODED: return refuse_flood("frames that want an answer");
    case NGHTTP2_ERR_TOO_MANY_CONTINUATIONS: return refuse_flood("CONTINUATION frames");
    case NGHTTP2_ERR_TOO_MANY_SETTINGS: return refuse_flood("SETTINGS");
    case NGHTTP2_ERR_BAD_CLIENT_MAGIC: return end("the peer does not speak HTTP/2");
    default: fail(static_cast<int>(taken));
  }
}

void client_connection::append_output(std::string& out, std::size_t bytes_max) {
  verb const guard{*this};
  out_ = &out;
  out_bytes_max_ = out.size() + bytes_max;
  while (out.size() < out_bytes_max_ && !is_over_) {
    std::uint8_t const* frame = nullptr;
    auto const length = nghttp2_session_mem_send(raw(), &frame);
    if (library_memory_.is_exhausted()) throw std::bad_alloc{};
    if (length == 0) break;
    if (length < 0) fail(static_cast<int>(length));
    out += text_of(frame, static_cast<std::size_t>(length));
  }
}

bool client_connection::wants_write() const noexcept {
  return !is_over_ && nghttp2_session_want_write(raw()) != 0;
}

bool client_connection::wants_read() const noexcept {
  return !is_over_ && !is_refused_ && nghttp2_session_want_read(raw()) != 0;
}

void client_connection::ping(std::uint64_t payload) {
  verb const guard{*this};
  std::array<std::uint8_t, 8> bytes{};
  boost::endian::store_big_u64(bytes.data(), payload);
  check(nghttp2_submit_ping(raw(), NGHTTP2_FLAG_NONE, bytes.data()));
}

void client_connection::go_away(stream_id last, error_code code, std::string_view text) {
  verb const guard{*this};
  check(nghttp2_submit_goaway(raw(), NGHTTP2_FLAG_NONE, last.value,
                              static_cast<std::uint32_t>(code), bytes_of(text), text.size()));
}

void client_connection::refuse_flood(std::string_view of_what) {
  if (is_refused_) return;
  is_refused_ = true;
  error_ = "the peer floods the connection with " + std::string{of_what};
  check(nghttp2_session_terminate_session(raw(), NGHTTP2_ENHANCE_YOUR_CALM));
}

void client_connection::reset(stream_id which, error_code why) {
  check(nghttp2_submit_rst_stream(raw(), NGHTTP2_FLAG_NONE, which.value,
                                  static_cast<std::uint32_t>(why)));
}

void client_connection::consume(std::size_t count) {
  check(nghttp2_session_consume_connection(raw(), count));
}

void client_connection::consume(stream_id of, std::size_t count) {
  check(nghttp2_session_consume_stream(raw(), of.value, count));
}

std::optional<stream_id> client_connection::submit_request(std::span<header_field const> fields) {
  auto const block = to_name_values(fields);
  auto const body = provider();
  auto const id =
      nghttp2_submit_request(raw(), nullptr, block.data(), fields.size(), &body, nullptr);
  if (id == NGHTTP2_ERR_STREAM_ID_NOT_AVAILABLE) return std::nullopt;
  check(std::min(id, 0));
  return stream_id{id};
}

void client_connection::resume(stream_id which) {
  // A stream that is not waiting goes on by itself.
  nghttp2_session_resume_data(raw(), which.value);
  check(0);
}

void client_connection::check([[maybe_unused]] int came_to) const {
  if (library_memory_.is_exhausted()) throw std::bad_alloc{};
  assert(came_to == 0);
}

void client_connection::fail(int came_to) {
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, {}));
  end(nghttp2_strerror(came_to));
}

void client_connection::end(std::string_view why) noexcept {
  is_over_ = true;
  error_ = why;
}

}  // namespace coxswain::http2
