#include "coxswain/http2/client_session.hpp"

#include "coxswain/http2/base64.hpp"
#include "coxswain/http2/grpc_timeout.hpp"
#include "coxswain/http2/gzip.hpp"
#include "coxswain/http2/percent.hpp"
#include "coxswain/http2/status_fields.hpp"

#include <array>
#include <cassert>
#include <charconv>
#include <iterator>
#include <span>
#include <utility>

namespace coxswain::http2 {
namespace {

// The outcome of a stream that ended without trailers.
status outcome_of(error_code why, int http_status, bool is_grpc) {
  if (why == error_code::no_error && http_status != 0 && (http_status != 200 || !is_grpc)) {
    return {errc_of_http(http_status), "the peer answered with HTTP status " +
                                           std::to_string(http_status) +
                                           " and does not speak gRPC"};
  }
  auto const text = "the peer ended the call without an outcome (HTTP/2 error code " +
                    std::to_string(static_cast<std::uint32_t>(why)) + ")";
  switch (why) {
    case error_code::refused_stream: return {errc::unavailable, text};
    case error_code::cancel: return {errc::cancelled, text};
    case error_code::enhance_your_calm: return {errc::resource_exhausted, text};
    default: return {errc::internal, text};
  }
}

template <class Number>
Number number_of(std::string_view text, Number if_none) noexcept {
  auto const* const end = text.data() + text.size();
  Number value{};
  auto const [stopped, failure] = std::from_chars(text.data(), end, value);
  return failure == std::errc{} && stopped == end ? value : if_none;
}

}  // namespace

client_session::client_session(limits const& l, memory_meter* meter)
    : peer_connection{side::client, l, meter} {}

client_session::~client_session() = default;

std::optional<stream_id> client_session::start(call_start const& how, std::string_view message) {
  if (is_closed_to_calls_ || !wants_read()) return std::nullopt;
  verb const guard{*this};
  auto const timeout = how.timeout.value_or(without_limit);
  auto const timeout_text = timeout == without_limit ? "" : format_grpc_timeout(timeout);
  std::array<header_field, 15> fields{header_field{":method", "POST"},
                                      header_field{":scheme", how.scheme},
                                      header_field{":path", how.path},
                                      header_field{":authority", how.authority},
                                      header_field{"te", "trailers"},
                                      header_field{"content-type", "application/grpc"},
                                      header_field{"grpc-accept-encoding", "identity,gzip"}};
  std::size_t number = 7;
  if (how.compresses) fields[number++] = {"grpc-encoding", "gzip"};
  if (!timeout_text.empty()) fields[number++] = {"grpc-timeout", timeout_text};
  assert(how.metadata.size() <= fields.size() - number);
  for (auto const& field : how.metadata) fields[number++] = field;

  auto const id = submit_request(std::span{fields}.first(number));
  if (!id) return std::nullopt;
  auto& made = streams_.try_emplace(*id, limited().message_bytes_max).first->second;
  hold(sizeof(stream));
  made.compresses = how.compresses;
  made.is_closing = !how.stays_open;
  add(made, message);
  return id;
}

void client_session::send(stream_id of, std::string_view message, bool is_last) {
  verb const guard{*this};
  auto* const to = find(of);
  if (to == nullptr || to->is_closing) return;
  add(*to, message);
  to->is_closing = is_last;
  resume(of);
}

void client_session::cancel(stream_id which) {
  auto* const found = find(which);
  if (found == nullptr || found->is_cancelled) return;
  verb const guard{*this};
  found->is_cancelled = true;
  reset(which, error_code::cancel);
}

void client_session::receive(time_point now, std::string_view input,
                             std::vector<client_event>& events) {
  verb const guard{*this};
  events.insert(events.end(), std::move_iterator{waiting_.begin()},
                std::move_iterator{waiting_.end()});
  waiting_.clear();
  events_ = &events;
  struct reset_events {
    ~reset_events() { of.events_ = nullptr; }
    client_session& of;
  } const at_end{*this};
  feed(now, input);
}

void client_session::header_found(stream_id of, std::string_view name, std::string_view value) {
  auto* const to = find(of);
  if (to == nullptr) return;
  to->header_bytes += name.size() + value.size() + field_overhead_bytes;
  if (to->header_bytes > 2 * limited().header_block_bytes_max) return;
  if (name == ":status") {
    to->http_status = number_of(value, 0);
  } else if (name == "content-type") {
    to->is_grpc = value.starts_with("application/grpc");
  } else if (name == "grpc-encoding") {
    to->message_encoding = encoding_of(value);
  } else if (name == "grpc-status") {
    to->code = errc_of(number_of<std::uint32_t>(value, 2));
  } else if (name == "grpc-message") {
    to->text = percent_decoded(value);
  } else if (name == "grpc-status-details-bin") {
    to->details = from_base64(value).value_or("");
  }
}

void client_session::headers_ended(stream_id of) {
  auto* const to = find(of);
  if (to == nullptr || to->is_cancelled) return;
  if (to->header_bytes <= 2 * limited().header_block_bytes_max) return;
  give_up(of, *to, {errc::resource_exhausted, "the headers of the reply are too long"});
}

void client_session::data_found(stream_id of, std::string_view content) {
  consume(of, content.size());
  auto* const to = find(of);
  if (to == nullptr || to->is_cancelled) return;
  let_go(to->body.buffered_bytes());
  while (!content.empty()) {
    if (auto failure = to->body.feed(content); !failure.ok()) {
      return give_up(of, *to, std::move(failure));
    }
    if (!to->body.is_whole()) break;
    auto message = to->body.take(to->message_encoding);
    if (!message) return give_up(of, *to, std::move(message).error());
    emit(reply_message{of, std::move(*message)});
  }
  hold(to->body.buffered_bytes());
}

void client_session::stream_closed(stream_id of, error_code why) {
  auto found = streams_.extract(of);
  if (!found) return;
  auto& closed = found.mapped();
  forget(closed.messages.left());
  let_go(sizeof(stream) + closed.messages.own_bytes() + closed.body.buffered_bytes());
  if (closed.is_cancelled) return;
  auto outcome = closed.code ? status{*closed.code, std::move(closed.text)}
                             : outcome_of(why, closed.http_status, closed.is_grpc);
  auto const is_unseen = !closed.code && why == error_code::refused_stream;
  emit(call_ended{of, std::move(outcome), std::move(closed.details), is_unseen});
}

void client_session::ping_acknowledged(std::uint64_t payload) { emit(ping_answer{payload}); }

void client_session::peer_goes_away(stream_id last, error_code why, std::string_view text) {
  is_closed_to_calls_ = true;
  emit(peer_goodbye{last, why, std::string{text}});
}

peer_connection::source client_session::source_of(stream_id of) {
  auto& stream = *find(of);
  return {&stream.messages, stream.is_closing};
}

client_session::stream* client_session::find(stream_id of) noexcept {
  auto const found = streams_.find(of);
  return found == streams_.end() ? nullptr : &found->second;
}

void client_session::add(stream& to, std::string_view message) {
  auto const unsent = to.messages.left();
  auto const held = to.messages.own_bytes();
  std::string compressed;
  if (to.compresses) compressed = gzip(message);
  auto const is_shorter = to.compresses && compressed.size() < message.size();
  to.messages.add(is_shorter ? std::string_view{compressed} : message, is_shorter);
  account(to.messages.left() - unsent);
  let_go(held);
  hold(to.messages.own_bytes());
}

// Resets the stream of a cancelled call.
void client_session::give_up(stream_id which, stream& of, status why) {
  of.is_cancelled = true;
  reset(which, error_code::cancel);
  emit(call_ended{which, std::move(why), {}});
}

}  // namespace coxswain::http2
