#include "coxswain/http2/server_session.hpp"

#include "coxswain/http2/grpc_timeout.hpp"
#include "coxswain/http2/reply_headers.hpp"
#include "coxswain/http2/status_fields.hpp"

#include <algorithm>
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

server_session::server_session(limits const& l, memory_meter* meter)
    : server_connection{l, meter},
      meter_{meter},
      resets_{l.resets_at_once_max, l.resets_per_second_max} {}

server_session::~server_session() = default;

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
    if (unpacking_) {
      unpack();
    } else if (!rest.empty()) {
      take(now, rest);
    } else {
      break;
    }
  }
  return wants_read() ? input.size() - rest.size() : input.size();
}

bool server_session::reply(stream_id to, std::string text, bytes value) {
  verb const guard{*this};
  auto* const which = find_delivered(to);
  if (which == nullptr) return false;
  which->messages = outgoing{std::move(text), std::move(value), false};
  which->now = phase::answered;
  which->is_large = which->messages.left() > large_bytes;
  send_reply(*which);
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
  widen_window(which, allowed_window_bytes);
  consume(which, std::exchange(which.withheld, 0));
}

void server_session::refuse_calls(errc code, std::string text, std::string details) {
  refusal_.reset(new refusal{code, std::move(text), std::move(details)});
}

void server_session::field_found(server_stream& of, std::string_view name, std::string_view value) {
  auto const field_bytes = name.size() + value.size() + field_overhead_bytes;
  of.head.header_bytes += static_cast<std::uint32_t>(field_bytes);
  if (of.head.header_bytes > limited().header_block_bytes_max) return;
  if (name == ":path") {
    of.head.path = value.substr(0, path_bytes_max);
  } else if (name == ":method") {
    of.head.is_post = value == "POST";
  } else if (name == "content-type") {
    of.head.is_grpc = is_grpc_type(value);
  } else if (name == "grpc-encoding") {
    of.head.message_encoding = encoding_of(value);
  } else if (name == "grpc-timeout") {
    of.head.timeout = parse_grpc_timeout(value);
    of.head.has_bad_timeout = !of.head.timeout;
  } else if (name == "user-agent" && user_agent_.empty()) {
    user_agent_ = value;
  }
}

void server_session::headers_ended(server_stream& of) {
  of.now = phase::body;
  hold(of.head.path.size());
  if (of.head.header_bytes > limited().header_block_bytes_max) {
    refuse(of, {errc::resource_exhausted, "the headers have more than " +
                                              std::to_string(limited().header_block_bytes_max) +
                                              " bytes"});
  } else if (!of.head.is_post) {
    refuse_http(of, "405");
  } else if (!of.head.is_grpc) {
    refuse_http(of, "415");
  } else if (of.head.has_bad_timeout) {
    refuse(of, {errc::invalid_argument, "the grpc-timeout is malformed"});
  } else if (refusal_) {
    forget_request(of);
    end(of, refusal_->code, refusal_->text, refusal_->details);
    work(refusal_work);
  } else if (!has_room()) {
    refuse(of, no_room());
  }
}

void server_session::data_found(server_stream& of, std::string_view content) {
  if (of.now == phase::body) return take_content(of, content);
  consume(of, content.size());
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
    if (!of.asking.is_linked()) asking_.push_back(of);
    of.withheld += static_cast<std::uint32_t>(size);
  } else {
    consume(of, size);
  }
}

void server_session::half_closed(server_stream& of) {
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
  whole.now = phase::unpacking;
  if (auto const why = whole.body.check(whole.head.message_encoding); !why.ok()) {
    return refuse(whole, why);
  }
  bool const is_compressed = whole.body.is_compressed();
  auto received = whole.body.take_received();
  if (!is_compressed) return deliver(whole, std::move(received));
  unpacking_.reset(new unpacking{whole.id, {std::move(received), limited().message_bytes_max}});
}

void server_session::deliver(server_stream& whole, std::string message) {
  whole.now = phase::delivered;
  tell(call{whole.id, std::exchange(whole.head.path, {}), std::move(message), whole.head.timeout});
}

void server_session::unpack() {
  auto& of = *find(unpacking_->of);
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
}

// A connection that holds little always has room, so that its tasks live.
bool server_session::has_room(std::size_t bytes) const noexcept {
  return meter_ == nullptr || meter_->fits_in_transit(bytes) || memory_bytes() + bytes < room_min;
}

void server_session::stream_closed(server_stream& of, error_code why) {
  forget_request(of);
  if (unpacking_ && unpacking_->of == of.id) stop_unpacking();
  if (of.now == phase::answered || !is_served(of.id)) return;
  if (of.now == phase::delivered) tell(call_cancelled{of.id, why});
  if (events_ != nullptr && !resets_.allows(now())) refuse_flood("cancelled calls");
}

void server_session::ping_acknowledged(std::uint64_t payload) { tell(ping_answer{payload}); }

void server_session::peer_goes_away(stream_id last, error_code why, std::string_view text) {
  tell(peer_goodbye{last, why, std::string{text}});
}

server_stream* server_session::find_delivered(stream_id of) const noexcept {
  auto* const which = find(of);
  return which != nullptr && which->now == phase::delivered ? which : nullptr;
}

// Trailers only.
void server_session::end(server_stream& which, errc code, std::string_view text,
                         std::string_view details) {
  status_fields const outcome{code, text, details};
  auto& block = which.error_block;
  append_field(block, "grpc-status", outcome.code);
  if (!outcome.message.empty()) append_field(block, "grpc-message", outcome.message);
  if (!outcome.details.empty()) append_field(block, "grpc-status-details-bin", outcome.details);
  which.now = phase::answered;
  send_reply(which);
}

void server_session::refuse(server_stream& which, status const& why) {
  forget_request(which);
  which.head.path = {};
  which.body = message_decoder{0};
  if (why.code() == errc::unimplemented) {
    append_field(which.error_block, "grpc-accept-encoding", "identity,gzip");
  }
  end(which, why.code(), why.message(), {});
}

void server_session::refuse_http(server_stream& which, std::string_view http_status) {
  append_field(which.error_block, ":status", http_status);
  which.is_http_error = true;
  which.now = phase::answered;
  send_reply(which);
}

void server_session::forget_request(server_stream& of) noexcept {
  if (of.now != phase::body) return;
  auto const size = of.is_allowed ? of.body.length() : of.body.buffered_bytes();
  let_go(size + of.head.path.size());
  (of.is_allowed ? allowed_bytes_ : arriving_bytes_) -= size;
  if (of.asking.is_linked()) of.asking.unlink();
}

}  // namespace coxswain::http2
