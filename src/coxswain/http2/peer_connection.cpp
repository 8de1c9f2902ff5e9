#include "coxswain/http2/peer_connection.hpp"

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

constexpr std::size_t settings_entries_max = 32;

// So that a block is one frame, and nothing stays in the buffer of frames between two outputs.
constexpr std::size_t header_block_encoded_max = 16 * 1024;

// The work of a stream that a setting touches.
constexpr std::size_t touched_work = 64;

// Memory that an idle connection may keep for its next frames.
constexpr std::size_t control_bytes_kept = 256;

struct option_deleter {
  void operator()(nghttp2_option* option) const noexcept { nghttp2_option_del(option); }
};
using option_ptr = std::unique_ptr<nghttp2_option, option_deleter>;

option_ptr make_options() {
  nghttp2_option* made = nullptr;
  if (nghttp2_option_new(&made) != 0) throw std::bad_alloc{};
  option_ptr options{made};
  nghttp2_option_set_no_auto_window_update(made, 1);
  // Without a limit of concurrent streams nghttp2 would keep all that have ended.
  nghttp2_option_set_no_closed_streams(made, 1);
  nghttp2_option_set_max_send_header_block_length(made, header_block_encoded_max);
  nghttp2_option_set_max_settings(made, settings_entries_max);
  // It reads a clock; `limits` has ours.
  constexpr auto without_limit_of_rate = std::numeric_limits<std::uint64_t>::max();
  nghttp2_option_set_stream_reset_rate_limit(made, without_limit_of_rate, without_limit_of_rate);
  // Calls are sent at once, also before the peer has announced how many it takes.
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
    auto& self = *static_cast<peer_connection*>(user);
    try {
      work(self);
      return 0;
    } catch (...) {
      self.thrown_ = std::current_exception();
      return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
  }

  // The same for input, of which nothing more is looked at once the peer is refused.
  template <class Work>
  static int guarded_input(void* user, Work work) noexcept {
    auto const came_to = guarded(user, work);
    auto const is_refused = static_cast<peer_connection*>(user)->is_refused_;
    return came_to == 0 && is_refused ? NGHTTP2_ERR_CALLBACK_FAILURE : came_to;
  }

  static int on_begin(nghttp2_session*, nghttp2_frame_hd const* head, void* user) {
    static_cast<peer_connection*>(user)->work(peer_connection::frame_work + head->length);
    return 0;
  }

  static int on_begin_headers(nghttp2_session*, nghttp2_frame const* frame, void* user) {
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    return guarded_input(user, [&](peer_connection& self) { self.stream_begun(id_of(frame)); });
  }

  // Such fields would be skipped.
  static int on_invalid_header(nghttp2_session*, nghttp2_frame const*, std::uint8_t const*,
                               std::size_t, std::uint8_t const*, std::size_t, std::uint8_t, void*) {
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }

  static int on_invalid_frame(nghttp2_session*, nghttp2_frame const*, int why, void* user) {
    return guarded_input(user, [&](peer_connection& self) {
      if (why == NGHTTP2_ERR_REFUSED_STREAM && !self.refused_.allows(self.now_)) {
        self.refuse_flood("calls beyond its limit of streams");
      }
    });
  }

  static int on_header(nghttp2_session*, nghttp2_frame const* frame, std::uint8_t const* name,
                       std::size_t name_bytes, std::uint8_t const* value, std::size_t value_bytes,
                       std::uint8_t, void* user) {
    return guarded_input(user, [&](peer_connection& self) {
      self.header_found(id_of(frame), text_of(name, name_bytes), text_of(value, value_bytes));
    });
  }

  static int on_data(nghttp2_session*, std::uint8_t, std::int32_t stream, std::uint8_t const* data,
                     std::size_t length, void* user) {
    return guarded_input(user, [&](peer_connection& self) {
      self.consume(length);
      self.data_found(stream_id{stream}, text_of(data, length));
    });
  }

  static int on_frame(nghttp2_session*, nghttp2_frame const* frame, void* user) {
    return guarded_input(user, [&](peer_connection& self) { take_frame(self, *frame); });
  }

  static void take_frame(peer_connection& self, nghttp2_frame const& frame) {
    auto const is_acknowledgement = (frame.hd.flags & NGHTTP2_FLAG_ACK) != 0;
    auto const ends = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    switch (frame.hd.type) {
      case NGHTTP2_HEADERS:
        self.headers_ended(id_of(&frame));
        if (ends) self.half_closed(id_of(&frame));
        break;
      case NGHTTP2_DATA:
        if (ends) self.half_closed(id_of(&frame));
        break;
      case NGHTTP2_SETTINGS:
        if (is_acknowledgement) break;
        // Of several entries nghttp2 keeps the last, and it changes the windows of all streams.
        self.work(touched_work * self.streams());
        if (!self.settings_.allows(self.now_)) self.refuse_flood("SETTINGS");
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
    return guarded(user, [&](peer_connection& self) {
      if (frame->hd.type == NGHTTP2_GOAWAY && self.error_.empty() &&
          frame->goaway.error_code != NGHTTP2_NO_ERROR) {
        // nghttp2 reports the peer's error by itself.
        self.error_ = text_of(frame->goaway.opaque_data, frame->goaway.opaque_data_len);
        if (self.error_.empty()) self.error_ = "the peer breaks HTTP/2";
      }
      if (frame->hd.type == NGHTTP2_HEADERS) {
        self.headers_sent(id_of(frame), (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0);
      }
    });
  }

  static int on_close(nghttp2_session*, std::int32_t stream, std::uint32_t code, void* user) {
    return guarded(user, [&](peer_connection& self) {
      self.stream_closed(stream_id{stream}, static_cast<error_code>(code));
    });
  }

  // How much of a stream's messages goes into the next frame: `send` puts it there.
  static ssize_t read(nghttp2_session* raw, std::int32_t stream, std::uint8_t*, std::size_t length,
                      std::uint32_t* flags, nghttp2_data_source*, void* user);

  static int send(nghttp2_session*, nghttp2_frame* frame, std::uint8_t const* head,
                  std::size_t length, nghttp2_data_source*, void* user) {
    constexpr std::size_t frame_head_bytes = 9;
    auto const came_to = guarded(user, [&](peer_connection& self) {
      *self.out_ += text_of(head, frame_head_bytes);
      self.source_of(id_of(frame)).messages->take(length, *self.out_);
      self.unsent_bytes_ -= length;
      self.sent_bytes_ += length;
    });
    auto const& self = *static_cast<peer_connection*>(user);
    if (came_to == 0 && self.out_->size() >= self.out_size_max_) return NGHTTP2_ERR_PAUSE;
    return came_to;
  }

  static nghttp2_session_callbacks* make() {
    nghttp2_session_callbacks* made = nullptr;
    if (nghttp2_session_callbacks_new(&made) != 0) throw std::bad_alloc{};
    nghttp2_session_callbacks_set_on_begin_frame_callback(made, on_begin);
    nghttp2_session_callbacks_set_on_begin_headers_callback(made, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(made, on_header);
    nghttp2_session_callbacks_set_on_invalid_header_callback(made, on_invalid_header);
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(made, on_invalid_frame);
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

std::uint8_t* bytes_of(std::string_view text) noexcept {
  // nghttp2 reads through a pointer to what is not const.
  return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
}

class name_values {
 public:
  explicit name_values(std::span<header_field const> fields) noexcept {
    assert(fields.size() <= fields_max);
    auto* to = all_.data();
    for (auto const& field : fields) {
      unsigned flags = NGHTTP2_NV_FLAG_NONE;
      if (field.varies) flags |= NGHTTP2_NV_FLAG_NO_INDEX;
      if (field.lasts) flags |= NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE;
      *to++ = {bytes_of(field.name), bytes_of(field.value), field.name.size(), field.value.size(),
               static_cast<std::uint8_t>(flags)};
    }
  }

  [[nodiscard]] nghttp2_nv const* data() const noexcept { return all_.data(); }

 private:
  std::array<nghttp2_nv, fields_max> all_;
};

constexpr nghttp2_data_provider provider() noexcept { return {{}, session_callbacks::read}; }

nghttp2_session* make_session(bool is_server, counted_memory& memory, peer_connection* self) {
  static auto const options = make_options();
  static auto* const callbacks = session_callbacks::make();
  auto functions = memory.functions();
  auto* const make = is_server ? nghttp2_session_server_new3 : nghttp2_session_client_new3;
  nghttp2_session* made = nullptr;
  if (make(&made, callbacks, self, options.get(), &functions) != 0) throw std::bad_alloc{};
  return made;
}

}  // namespace

ssize_t session_callbacks::read(nghttp2_session* raw, std::int32_t stream, std::uint8_t*,
                                std::size_t length, std::uint32_t* flags, nghttp2_data_source*,
                                void* user) {
  if (static_cast<peer_connection*>(user)->out_ == nullptr) return NGHTTP2_ERR_PAUSE;
  ssize_t count = 0;
  auto const came_to = guarded(user, [&](peer_connection& self) {
    auto const from = self.source_of(stream_id{stream});
    assert(from.messages != nullptr);
    auto const left = from.messages->left();
    if (left == 0 && !from.ends) {
      count = NGHTTP2_ERR_DEFERRED;
      return;
    }
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    count = static_cast<ssize_t>(std::min(left, length));
    if (left > length || !from.ends) return;
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (from.trailers.empty()) return;
    *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
    name_values const block{from.trailers};
    self.check(nghttp2_submit_trailer(raw, stream, block.data(), from.trailers.size()));
  });
  return came_to == 0 ? count : came_to;
}

peer_connection::peer_connection(side which, limits const& l, memory_meter* meter,
                                 frame_buffer* shared)
    : limits_{l},
      counted_{meter},
      pings_{l.control_frames_per_second_max, l.control_frames_per_second_max},
      settings_{l.control_frames_per_second_max, l.control_frames_per_second_max},
      refused_{l.refused_at_once_max, l.refused_per_second_max},
      library_memory_{shared != nullptr ? std::span{*shared} : std::span<std::byte>{}},
      raw_{make_session(which == side::server, library_memory_, this)} {
  verb const guard{*this};
  auto const own_limit = which == side::server
                             ? nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS,
                                                      static_cast<std::uint32_t>(l.streams_max)}
                             : nghttp2_settings_entry{NGHTTP2_SETTINGS_ENABLE_PUSH, 0};
  // Of the table of headers, the frames and the window of a stream: as HTTP/2 has them.
  std::array const own{
      nghttp2_settings_entry{NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1}, own_limit,
      nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE,
                             static_cast<std::uint32_t>(l.header_block_bytes_max)}};
  check(nghttp2_submit_settings(raw(), NGHTTP2_FLAG_NONE, own.data(), own.size()));
  check(
      nghttp2_session_set_local_window_size(raw(), NGHTTP2_FLAG_NONE, 0, connection_window_bytes));
}

peer_connection::~peer_connection() {
  if (library_memory_.is_exhausted()) static_cast<void>(raw_.release());  // and its memory goes
}

void peer_connection::feed(time_point now, std::string_view input) {
  if (!wants_read()) return;
  verb const guard{*this};
  now_ = now;
  auto const taken = nghttp2_session_mem_recv(raw(), bytes_of(input), input.size());
  if (library_memory_.is_exhausted()) throw std::bad_alloc{};
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, {}));
  if (taken < 0 && !is_refused_) {
    switch (taken) {
      case NGHTTP2_ERR_FLOODED: refuse_flood("frames that want an answer"); break;
      case NGHTTP2_ERR_TOO_MANY_CONTINUATIONS: refuse_flood("CONTINUATION frames"); break;
      case NGHTTP2_ERR_TOO_MANY_SETTINGS: refuse_flood("SETTINGS"); break;
      case NGHTTP2_ERR_BAD_CLIENT_MAGIC: return end("the peer does not speak HTTP/2");
      default: fail(static_cast<int>(taken));
    }
  }
  encode_control();
}

// Encoded frames take less memory than those that nghttp2 queues, and the peer's error is known
// only once the GOAWAY is encoded.
void peer_connection::encode_control() {
  if (is_over_ || nghttp2_session_get_outbound_queue_size(raw()) == 0) return;
  std::uint8_t const* frame = nullptr;
  ssize_t length = 0;
  while ((length = nghttp2_session_mem_send(raw(), &frame)) > 0) {
    control_ += text_of(frame, static_cast<std::size_t>(length));
  }
  if (library_memory_.is_exhausted()) throw std::bad_alloc{};
  if (length < 0) fail(static_cast<int>(length));
}

void peer_connection::append_output(std::string& out, std::size_t bytes_max) {
  verb const guard{*this};
  out_size_max_ = out.size() + bytes_max;
  write_control(out, out_size_max_);
  if (is_over_ || is_refused_) return;
  out_ = &out;
  while (out.size() < out_size_max_) {
    std::uint8_t const* frame = nullptr;
    auto const length = nghttp2_session_mem_send(raw(), &frame);
    if (library_memory_.is_exhausted()) throw std::bad_alloc{};
    if (length == 0) break;
    if (length < 0) {
      fail(static_cast<int>(length));
      break;
    }
    out += text_of(frame, static_cast<std::size_t>(length));
  }
  out_ = nullptr;
}

void peer_connection::write_control(std::string& out, std::size_t size_max) {
  if (control_.empty() || is_over_ || out.size() >= size_max) return;
  auto const count = std::min(control_bytes(), size_max - out.size());
  out.append(control_, control_sent_, count);
  control_sent_ += count;
  if (control_sent_ < control_.size()) return;
  control_.clear();
  control_sent_ = 0;
  if (control_.capacity() > control_bytes_kept) std::string{}.swap(control_);
}

bool peer_connection::wants_write() const noexcept {
  if (is_over_) return false;
  return !control_.empty() || (!is_refused_ && nghttp2_session_want_write(raw()) != 0);
}

bool peer_connection::wants_read() const noexcept {
  return !is_over_ && !is_refused_ && nghttp2_session_want_read(raw()) != 0;
}

void peer_connection::ping(std::uint64_t payload) {
  verb const guard{*this};
  std::array<std::uint8_t, 8> bytes{};
  boost::endian::store_big_u64(bytes.data(), payload);
  check(nghttp2_submit_ping(raw(), NGHTTP2_FLAG_NONE, bytes.data()));
}

void peer_connection::go_away(stream_id last, error_code code, std::string_view text) {
  verb const guard{*this};
  if (is_over_ || is_refused_) return;
  last_served_ = std::min(last_served_, last);
  check(nghttp2_submit_goaway(raw(), NGHTTP2_FLAG_NONE, last_served_.value,
                              static_cast<std::uint32_t>(code), bytes_of(text), text.size()));
  encode_control();
}

void peer_connection::refuse_flood(std::string_view of_what) {
  if (is_refused_) return;
  is_refused_ = true;
  error_ = "the peer floods the connection with " + std::string{of_what};
  auto const last = std::min(nghttp2_session_get_last_proc_stream_id(raw()), last_served_.value);
  check(nghttp2_submit_goaway(raw(), NGHTTP2_FLAG_NONE, last, NGHTTP2_ENHANCE_YOUR_CALM,
                              bytes_of(error_), error_.size()));
}

void peer_connection::reset(stream_id which, error_code why) {
  check(nghttp2_submit_rst_stream(raw(), NGHTTP2_FLAG_NONE, which.value,
                                  static_cast<std::uint32_t>(why)));
}

void peer_connection::consume(std::size_t count) {
  check(nghttp2_session_consume_connection(raw(), count));
}

void peer_connection::consume(stream_id of, std::size_t count) {
  check(nghttp2_session_consume_stream(raw(), of.value, count));
}

void peer_connection::widen_window(stream_id of, std::uint32_t bytes) {
  check(nghttp2_session_set_local_window_size(raw(), NGHTTP2_FLAG_NONE, of.value,
                                              static_cast<std::int32_t>(bytes)));
}

std::optional<stream_id> peer_connection::submit_request(std::span<header_field const> fields) {
  name_values const block{fields};
  auto const body = provider();
  auto const id =
      nghttp2_submit_request(raw(), nullptr, block.data(), fields.size(), &body, nullptr);
  if (id == NGHTTP2_ERR_STREAM_ID_NOT_AVAILABLE) return std::nullopt;
  check(std::min(id, 0));
  return stream_id{id};
}

void peer_connection::respond(stream_id to, std::span<header_field const> fields, bool has_messages,
                              bool yields) {
  name_values const block{fields};
  auto const body = provider();
  if (yields) {
    nghttp2_extpri const last{NGHTTP2_EXTPRI_URGENCY_LOW, 1};
    check(nghttp2_session_change_extpri_stream_priority(raw(), to.value, &last, 1));
  }
  check(nghttp2_submit_response(raw(), to.value, block.data(), fields.size(),
                                has_messages ? &body : nullptr));
}

void peer_connection::resume(stream_id which) {
  // A stream that is not waiting goes on by itself.
  nghttp2_session_resume_data(raw(), which.value);
  check(0);
}

void peer_connection::attach(stream_id to, void* object) {
  check(nghttp2_session_set_stream_user_data(raw(), to.value, object));
}

void* peer_connection::attached(stream_id to) const noexcept {
  return nghttp2_session_get_stream_user_data(raw(), to.value);
}

void peer_connection::check([[maybe_unused]] int came_to) const {
  if (library_memory_.is_exhausted()) throw std::bad_alloc{};
  assert(came_to == 0);
}

void peer_connection::fail(int came_to) {
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, {}));
  end(nghttp2_strerror(came_to));
}

void peer_connection::end(std::string_view why) noexcept {
  is_over_ = true;
  error_ = why;
}

}  // namespace coxswain::http2
