#include "coxswain/http2/server_session.hpp"

#include "coxswain/http2/grpc_timeout.hpp"
#include "coxswain/http2/status_fields.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <iterator>
#include <utility>

namespace coxswain::http2 {
namespace {

// Replies with more do not keep others waiting.
constexpr std::size_t large_bytes = 16 * 1024;

// The window of a stream whose request was allowed.
constexpr std::uint32_t allowed_window_bytes = 1024 * 1024;

// No method has a longer name.
constexpr std::size_t path_bytes_max = 512;

// One request is decompressed at a time, and each time so much of it.
constexpr std::size_t unpacked_at_once = 64 * 1024;

// So much each connection may hold although memory is used up.
constexpr std::size_t room_min = 64 * 1024;

// The work of a call that is refused.
constexpr std::size_t refusal_work = 4'096;

// One byte can stand for a field of kilobytes.
constexpr std::size_t decoded_block_bytes_max = 128 * 1024;

// Of input: the shortest frame, and the shortest call.
constexpr std::size_t frame_bytes_min = 9;
constexpr std::size_t call_bytes_min = 32;

// Of the headers of a reply, besides an error.
constexpr std::uint32_t reply_header_bytes = 64;

constexpr header_field constant(std::string_view name, std::string_view value) noexcept {
  return {name, value, false, true};
}
constexpr header_field success = constant(":status", "200");
constexpr header_field type = constant("content-type", "application/grpc");
constexpr std::array reply_headers{success, type};
constexpr std::array reply_trailers{constant("grpc-status", "0")};

status no_room() {
  return {errc::resource_exhausted,
          "the memory for messages is used up (memory_bytes_max); repeat the call later"};
}

constexpr std::string_view grpc_type = "application/grpc";

bool is_grpc_type(std::string_view content_type) noexcept {
  if (!content_type.starts_with(grpc_type)) return false;
  auto const rest = content_type.substr(grpc_type.size());
  return rest.empty() || rest.front() == '+' || rest.front() == ';';
}

}  // namespace

server_session::server_session(limits const& l, memory_meter* meter, frame_buffer* shared)
    : peer_connection{side::server, l, meter, shared},
      meter_{meter},
      resets_{l.resets_at_once_max, l.resets_per_second_max} {}

server_session::~server_session() {
  open_.clear_and_dispose([](server_stream* stream) { delete stream; });
}

std::size_t server_session::receive(time_point now, std::string_view input,
                                    std::vector<server_event>& events) {
  verb const guard{*this};
  events.insert(events.end(), std::move_iterator{waiting_.begin()},
                std::move_iterator{waiting_.end()});
  waiting_.clear();
  events_ = &events;
  struct reset_events {
    ~reset_events() { of.events_ = nullptr; }
    server_session& of;
  } const at_end{*this};
  begin_work();
  auto rest = input;
  while (wants_read() && events.size() < limited().events_at_once &&
         work_bytes() < limited().work_at_once) {
    if (!packed_.empty()) {
      unpack();
    } else if (!rest.empty()) {
      auto const piece = rest.substr(0, next_piece(events.size()));
      feed(now, piece);
      rest.remove_prefix(piece.size());
    } else {
      break;
    }
  }
  return wants_read() ? input.size() - rest.size() : input.size();
}

// So little input that the limits are exceeded by no more than a frame.
std::size_t server_session::next_piece(std::size_t events) const noexcept {
  auto const work_left = limited().work_at_once - work_bytes();
  auto const by_work = work_left / (frame_work / frame_bytes_min);
  auto const by_events = (limited().events_at_once - events) * call_bytes_min;
  return std::max(frame_bytes_min, std::min(by_work, by_events));
}

bool server_session::reply(stream_id to, std::string text, bytes value) {
  verb const guard{*this};
  auto* const which = find_delivered(to);
  if (which == nullptr) return false;
  which->messages = outgoing{std::move(text), std::move(value), false};
  which->now = phase::answered;
  auto const size = which->messages.left();
  account(size);
  hold(which->messages.own_bytes());
  which->header_bytes_unsent = reply_header_bytes;
  header_bytes_unsent_ += reply_header_bytes;
  respond(to, reply_headers, true, size > large_bytes);
  return true;
}

bool server_session::fail(stream_id to, errc code, std::string_view text,
                          std::string_view details) {
  verb const guard{*this};
  auto* const which = find_delivered(to);
  if (which == nullptr) return false;
  end(*which, code, text, details);
  return true;
}

std::size_t server_session::asks_for() const noexcept {
  return asking_.empty() ? 0 : asking_.front().body.length();
}

std::optional<stream_id> server_session::asking() const noexcept {
  if (asking_.empty()) return std::nullopt;
  return asking_.front().id;
}

std::size_t server_session::arriving_bytes(stream_id of) const noexcept {
  auto const* const which = find(of);
  return which != nullptr && which->now == phase::body ? which->body.length() : 0;
}

bool server_session::refuse(stream_id which, status const& why) {
  verb const guard{*this};
  auto* const found = find(which);
  if (found == nullptr || found->now != phase::body) return false;
  refuse(*found, why);
  return true;
}

void server_session::allow() {
  assert(!asking_.empty());
  auto& which = asking_.front();
  which.body.reserve();
  verb const guard{*this};
  asking_.pop_front();
  which.is_allowed = true;
  arriving_bytes_ -= which.body.buffered_bytes();
  allowed_bytes_ += which.body.length();
  hold(which.body.length() - which.body.buffered_bytes());
  widen_window(which.id, allowed_window_bytes);
  consume(which.id, std::exchange(which.withheld, 0));
}

void server_session::refuse_calls(errc code, std::string text, std::string details) {
  refusal_.reset(new refusal{code, std::move(text), std::move(details)});
}

void server_session::stream_begun(stream_id of) {
  auto made = std::make_unique<server_stream>(of, limited().message_bytes_max);
  attach(of, made.get());
  open_.push_back(*made.release());
  ++streams_;
  hold(sizeof(server_stream));
}

void server_session::header_found(stream_id id, std::string_view name, std::string_view value) {
  auto* const found = find(id);
  if (found == nullptr) return;
  auto& of = *found;
  auto const field_bytes = name.size() + value.size() + field_overhead_bytes;
  work(field_bytes);
  of.header_bytes += static_cast<std::uint32_t>(field_bytes);
  if (of.header_bytes > decoded_block_bytes_max) return refuse_flood("headers");
  if (of.now != phase::headers || of.header_bytes > limited().header_block_bytes_max) return;
  if (name == ":path") {
    of.path = value.substr(0, path_bytes_max);
  } else if (name == ":method") {
    of.is_post = value == "POST";
  } else if (name == "content-type") {
    of.is_grpc = is_grpc_type(value);
  } else if (name == "grpc-encoding") {
    of.message_encoding = encoding_of(value);
  } else if (name == "grpc-timeout") {
    of.timeout = parse_grpc_timeout(value);
    of.has_bad_timeout = !of.timeout;
  } else if (name == "user-agent" && user_agent_.empty()) {
    user_agent_ = value;
  }
}

void server_session::headers_ended(stream_id id) {
  auto* const found = find(id);
  if (found == nullptr || found->now != phase::headers) return;
  auto& of = *found;
  of.now = phase::body;
  hold(of.path.size());
  if (of.header_bytes > limited().header_block_bytes_max) {
    refuse(of, {errc::resource_exhausted, "the headers have more than " +
                                              std::to_string(limited().header_block_bytes_max) +
                                              " bytes"});
  } else if (!of.is_post) {
    refuse_http(of, "405");
  } else if (!of.is_grpc) {
    refuse_http(of, "415");
  } else if (of.has_bad_timeout) {
    refuse(of, {errc::invalid_argument, "the grpc-timeout is malformed"});
  } else if (refusal_) {
    forget_request(of);
    end(of, refusal_->code, refusal_->text, refusal_->details);
    work(refusal_work);
  } else if (!has_room()) {
    refuse(of, no_room());
  }
}

void server_session::data_found(stream_id id, std::string_view content) {
  auto* const of = find(id);
  if (of != nullptr && of->now == phase::body) return take_content(*of, content);
  consume(id, content.size());
}

void server_session::take_content(server_stream& of, std::string_view content) {
  auto const size = content.size();
  auto const before = of.body.buffered_bytes();
  if (!of.body.is_whole()) {
    if (auto const failure = of.body.feed(content); !failure.ok()) return refuse(of, failure);
  }
  auto const more = of.body.buffered_bytes() - before;
  if (!of.is_allowed) {
    hold(more);
    arriving_bytes_ += more;
  }
  if (!content.empty()) {
    return refuse(of, {errc::internal, "a unary call has a second message"});
  }
  if (!of.is_allowed && !has_room()) return refuse(of, no_room());
  if (arriving_bytes_ > limited().arriving_bytes_max) {
    return refuse(of, {errc::resource_exhausted,
                       "too many requests of this connection arrive at "
                       "the same time"});
  }
  if (!of.is_allowed && of.body.length() > limited().unasked_bytes_max) {
    if (!of.waiting.is_linked()) asking_.push_back(of);
    of.withheld += static_cast<std::uint32_t>(size);
  } else {
    consume(of.id, size);
  }
}

void server_session::half_closed(stream_id id) {
  auto* const found = find(id);
  if (found == nullptr) return;
  auto& of = *found;
  of.is_half_closed = true;
  if (of.now != phase::body) return;
  if (of.body.is_whole()) {
    deliver(of);
  } else if (of.body.is_between_messages()) {
    refuse(of, {errc::internal, "a unary call has no message"});
  } else {
    refuse(of, {errc::internal, "the message is cut off"});
  }
}

void server_session::deliver(server_stream& whole) {
  forget_request(whole);
  whole.now = phase::packed;
  if (auto const why = whole.body.check(whole.message_encoding); !why.ok()) {
    return refuse(whole, why);
  }
  if (!whole.body.is_compressed()) return deliver(whole, whole.body.take_received());
  hold(whole.body.buffered_bytes());
  packed_.push_back(whole);
}

void server_session::deliver(server_stream& whole, std::string message) {
  whole.now = phase::delivered;
  emit(call{whole.id, std::exchange(whole.path, {}), std::move(message), whole.timeout});
}

void server_session::unpack() {
  auto& of = packed_.front();
  if (!unpacking_) {
    let_go(of.body.buffered_bytes());
    unpacking_.reset(new unpacking{{of.body.take_received(), limited().message_bytes_max}});
  }
  auto& content = unpacking_->content;
  auto const before = content.written();
  if (!has_room(2 * before)) {
    stop_unpacking();
    return refuse(of, no_room());
  }
  auto const is_whole = content.go_on(unpacked_at_once);
  work(content.written() - before + 1);
  let_go(std::exchange(unpacking_->held, content.memory_bytes()));
  hold(unpacking_->held);
  if (!is_whole) {
    stop_unpacking();
    refuse(of, is_whole.error());
  } else if (*is_whole) {
    auto message = content.take();
    stop_unpacking();
    deliver(of, std::move(message));
  }
}

void server_session::stop_unpacking() noexcept {
  let_go(unpacking_->held);
  unpacking_.reset();
  packed_.pop_front();
}

// A connection that holds little always has room, so that its tasks live.
bool server_session::has_room(std::size_t bytes) const noexcept {
  return meter_ == nullptr || meter_->fits_in_transit(bytes) || memory_bytes() + bytes < room_min;
}

// The client need not send the rest of a request that is answered already.
void server_session::headers_sent(stream_id id, bool ends) {
  auto* const of = find(id);
  if (of == nullptr) return;
  header_bytes_unsent_ -= std::exchange(of->header_bytes_unsent, 0);
  if (ends && !of->is_half_closed) reset(id, error_code::no_error);
}

void server_session::stream_closed(stream_id id, error_code why) {
  std::unique_ptr<server_stream> const of{find(id)};
  if (of == nullptr) return;
  last_ = nullptr;
  forget_request(*of);
  if (of->now == phase::packed) {
    if (unpacking_ && &packed_.front() == of.get()) {
      stop_unpacking();
    } else {
      let_go(of->body.buffered_bytes());
    }
  }
  forget(of->messages.left());
  header_bytes_unsent_ -= of->header_bytes_unsent;
  let_go(sizeof(server_stream) + of->messages.own_bytes());
  --streams_;
  if (of->now == phase::answered || !is_served(id)) return;
  if (of->now == phase::delivered) emit(call_cancelled{id, why});
  if (events_ != nullptr && !resets_.allows(now())) refuse_flood("cancelled calls");
}

void server_session::ping_acknowledged(std::uint64_t payload) { emit(ping_answer{payload}); }

void server_session::peer_goes_away(stream_id last, error_code why, std::string_view text) {
  emit(peer_goodbye{last, why, std::string{text}});
}

peer_connection::source server_session::source_of(stream_id of) {
  return {&find(of)->messages, true, reply_trailers};
}

server_stream* server_session::find(stream_id of) const noexcept {
  if (last_ == nullptr || last_->id != of) last_ = static_cast<server_stream*>(attached(of));
  return last_;
}

server_stream* server_session::find_delivered(stream_id of) const noexcept {
  auto* const which = find(of);
  return which != nullptr && which->now == phase::delivered ? which : nullptr;
}

// Trailers only.
void server_session::end(server_stream& which, errc code, std::string_view text,
                         std::string_view details) {
  status_fields const outcome{code, text, details};
  std::array<header_field, 6> fields{success, type, header_field{"grpc-status", outcome.code}};
  std::size_t number = 3;
  if (!outcome.message.empty()) fields[number++] = {"grpc-message", outcome.message, true};
  if (!outcome.details.empty()) {
    fields[number++] = {"grpc-status-details-bin", outcome.details, true};
  }
  if (code == errc::unimplemented) fields[number++] = {"grpc-accept-encoding", "identity,gzip"};
  send_headers(which, std::span{fields}.first(number));
}

void server_session::refuse(server_stream& which, status const& why) {
  forget_request(which);
  which.path = {};
  which.body = message_decoder{0};
  end(which, why.code(), why.message(), {});
}

void server_session::refuse_http(server_stream& which, std::string_view http_status) {
  forget_request(which);
  send_headers(which, std::array{header_field{":status", http_status}});
}

void server_session::send_headers(server_stream& to, std::span<header_field const> fields) {
  to.now = phase::answered;
  for (auto const& field : fields) {
    to.header_bytes_unsent += static_cast<std::uint32_t>(field.name.size() + field.value.size());
  }
  header_bytes_unsent_ += to.header_bytes_unsent;
  respond(to.id, fields, false);
}

void server_session::forget_request(server_stream& of) noexcept {
  if (of.now != phase::body) return;
  auto const size = of.is_allowed ? of.body.length() : of.body.buffered_bytes();
  let_go(size + of.path.size());
  (of.is_allowed ? allowed_bytes_ : arriving_bytes_) -= size;
  if (of.waiting.is_linked()) of.waiting.unlink();
}

}  // namespace coxswain::http2
