#include "coxswain/http2/server_session.hpp"

#include "coxswain/http2/grpc_timeout.hpp"
#include "coxswain/http2/status_fields.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <iterator>
#include <memory>
#include <span>
#include <utility>

namespace coxswain::http2 {
namespace {

// Input is taken in pieces, so that few events are found beyond the number that is wanted.
constexpr std::size_t piece_bytes = 4 * 1024;

// Replies with more do not keep others waiting.
constexpr std::size_t large_bytes = 16 * 1024;

// The window of a stream whose request was allowed.
constexpr std::size_t allowed_window_bytes = 1024 * 1024;

constexpr std::string_view grpc_type = "application/grpc";

bool is_grpc_type(std::string_view content_type) noexcept {
  if (!content_type.starts_with(grpc_type)) return false;
  auto const rest = content_type.substr(grpc_type.size());
  return rest.empty() || rest.front() == '+' || rest.front() == ';';
}

}  // namespace

server_session::server_session(limits const& l, memory_meter* meter)
    : session{side::server, l, meter}, resets_{l.resets_at_once_max, l.resets_per_second_max} {}

server_session::~server_session() { streams_.clear_and_dispose(std::default_delete<stream>{}); }

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
  std::size_t taken = 0;
  while (taken < input.size() && events.size() < limited().events_at_once) {
    auto const piece = input.substr(taken, piece_bytes);
    feed(now, piece);
    taken += piece.size();
  }
  return taken;
}

bool server_session::reply(stream_id to, std::string text, bytes value) {
  verb const guard{*this};
  auto* const which = find_delivered(to);
  if (which == nullptr) return false;
  which->messages = outgoing{std::move(text), std::move(value), false};
  which->now = phase::answered;
  account(which->messages.left());
  hold(which->messages.own_bytes());
  if (which->messages.left() > large_bytes) yield_to_others(to);
  std::array const fields{header_field{":status", "200"}, header_field{"content-type", grpc_type}};
  submit_response(to, fields, true);
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
  hold(which.body.length() - which.body.buffered_bytes());
  widen_window(which.id, allowed_window_bytes);
  consume(which.id, std::exchange(which.withheld, 0));
}

void server_session::headers_begun(stream_id of, bool is_first) {
  if (!is_first) return;
  auto made = std::make_unique<stream>(of, limited().message_bytes_max);
  remember(of, made.get());
  streams_.push_back(*made.release());
  hold(sizeof(stream));
}

void server_session::header_found(stream_id of, std::string_view name, std::string_view value) {
  auto* const to = find(of);
  if (to == nullptr || to->now != phase::headers) return;
  auto const field_bytes = name.size() + value.size() + field_overhead_bytes;
  to->header_bytes += static_cast<std::uint32_t>(field_bytes);
  if (to->header_bytes > limited().header_block_bytes_max) return;
  if (name == ":path") {
    to->path = value;
  } else if (name == ":method") {
    to->is_post = value == "POST";
  } else if (name == "content-type") {
    to->is_grpc = is_grpc_type(value);
  } else if (name == "grpc-encoding") {
    to->message_encoding = encoding_of(value);
  } else if (name == "grpc-timeout") {
    to->timeout = parse_grpc_timeout(value);
    to->has_bad_timeout = !to->timeout;
  } else if (name == "user-agent" && user_agent_.empty()) {
    user_agent_ = value;
  }
}

void server_session::headers_ended(stream_id of, bool ends_stream) {
  auto* const which = find(of);
  if (which == nullptr) return;
  which->is_half_closed = ends_stream;
  if (which->now != phase::headers) {  // trailers
    if (ends_stream) half_closed(of);
    return;
  }
  which->now = phase::body;
  if (which->header_bytes > limited().header_block_bytes_max) {
    refuse(*which, {errc::resource_exhausted, "the headers have more than " +
                                                  std::to_string(limited().header_block_bytes_max) +
                                                  " bytes"});
  } else if (!which->is_post) {
    refuse_http(*which, "405");
  } else if (!which->is_grpc) {
    refuse_http(*which, "415");
  } else if (which->has_bad_timeout) {
    refuse(*which, {errc::invalid_argument, "the grpc-timeout is malformed"});
  } else if (ends_stream) {
    half_closed(of);
  }
}

void server_session::data_found(stream_id of, std::string_view content) {
  auto* const to = find(of);
  if (to == nullptr || to->now != phase::body) {
    consume(of, content.size());
    return;
  }
  take_content(*to, content);
}

void server_session::take_content(stream& of, std::string_view content) {
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
  if (arriving_bytes_ > limited().arriving_bytes_max) {
    return refuse(of, {errc::resource_exhausted,
                       "too many requests of this connection arrive at "
                       "the same time"});
  }
  if (!of.is_allowed && of.body.length() > limited().unasked_bytes_max) {
    if (!of.asking.is_linked()) asking_.push_back(of);
    of.withheld += static_cast<std::uint32_t>(size);
  } else {
    consume(of.id, size);
  }
}

void server_session::half_closed(stream_id of) {
  auto* const which = find(of);
  if (which == nullptr) return;
  which->is_half_closed = true;
  if (which->now != phase::body) return;
  if (which->body.is_whole()) {
    deliver(*which);
  } else if (which->body.is_between_messages()) {
    refuse(*which, {errc::internal, "a unary call has no message"});
  } else {
    refuse(*which, {errc::internal, "the message is cut off"});
  }
}

void server_session::deliver(stream& whole) {
  forget_request(whole);
  auto message = whole.body.take(whole.message_encoding);
  if (!message) return refuse(whole, message.error());
  whole.now = phase::delivered;
  tell(call{whole.id, std::exchange(whole.path, {}), std::move(*message), whole.timeout});
}

void server_session::stream_closed(stream_id of, error_code why) {
  auto* const which = find(of);
  if (which == nullptr) return;
  forget_request(*which);
  forget(which->messages.left());
  let_go(sizeof(stream) + which->messages.own_bytes());
  auto const was_open = which->now != phase::answered && is_served(of);
  auto const was_delivered = which->now == phase::delivered;
  streams_.erase_and_dispose(streams_.iterator_to(*which), std::default_delete<stream>{});
  if (!was_open) return;
  if (was_delivered) tell(call_cancelled{of, why});
  if (events_ != nullptr && !resets_.allows(now())) refuse_flood("cancelled calls");
}

void server_session::ping_acknowledged(std::uint64_t payload) { tell(ping_answer{payload}); }

// The client need not send the rest of a request that is answered already.
void server_session::headers_sent(stream_id of, bool ends_stream) {
  auto* const which = ends_stream ? find(of) : nullptr;
  if (which != nullptr && !which->is_half_closed) reset(of, error_code::no_error);
}

void server_session::peer_goes_away(stream_id last, error_code why, std::string_view text) {
  tell(peer_goodbye{last, why, std::string{text}});
}

session::source server_session::source_of(stream_id of) {
  return {&find(of)->messages, true, true};
}

void server_session::send_trailers(stream_id of) {
  std::array const fields{header_field{"grpc-status", "0"}};
  submit_trailers(of, fields);
}

server_session::stream* server_session::find(stream_id of) const noexcept {
  return static_cast<stream*>(remembered(of));
}

server_session::stream* server_session::find_delivered(stream_id of) const noexcept {
  auto* const which = find(of);
  return which != nullptr && which->now == phase::delivered ? which : nullptr;
}

// Trailers only.
void server_session::end(stream& which, errc code, std::string_view text,
                         std::string_view details) {
  status_fields const outcome{code, text, details};
  std::array<header_field, 5> fields{header_field{":status", "200"},
                                     header_field{"content-type", grpc_type},
                                     header_field{"grpc-status", outcome.code}};
  std::size_t number = 3;
  if (!outcome.message.empty()) fields[number++] = {"grpc-message", outcome.message, true};
  if (!outcome.details.empty())
    fields[number++] = {"grpc-status-details-bin", outcome.details, true};
  submit_response(which.id, std::span{fields}.first(number), false);
  which.now = phase::answered;
}

void server_session::refuse(stream& which, status const& why) {
  forget_request(which);
  which.body = message_decoder{0};
  if (why.code() == errc::unimplemented) {
    status_fields const outcome{why.code(), why.message(), {}};
    std::array const fields{header_field{":status", "200"}, header_field{"content-type", grpc_type},
                            header_field{"grpc-status", outcome.code},
                            header_field{"grpc-message", outcome.message},
                            header_field{"grpc-accept-encoding", "identity,gzip"}};
    submit_response(which.id, fields, false);
    which.now = phase::answered;
  } else {
    end(which, why.code(), why.message(), {});
  }
}

void server_session::refuse_http(stream& which, std::string_view http_status) {
  std::array const fields{header_field{":status", http_status}};
  submit_response(which.id, fields, false);
  which.now = phase::answered;
}

void server_session::forget_request(stream& of) noexcept {
  if (of.now != phase::body) return;
  auto const size = of.body.buffered_bytes();
  let_go(of.is_allowed ? of.body.length() : size);
  if (!of.is_allowed) arriving_bytes_ -= size;
  if (of.asking.is_linked()) of.asking.unlink();
}

}  // namespace coxswain::http2
