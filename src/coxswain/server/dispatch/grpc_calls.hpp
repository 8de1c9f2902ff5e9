#pragma once
// Between an HTTP/2 session and the service for JAX processes.

#include "coxswain/http2/server_session.hpp"
#include "coxswain/xla/xla_service.hpp"

#include <limits>
#include <string_view>
#include <utility>
#include <variant>

namespace coxswain::server {

// Passes an event of the session to xla_service. `is_full`: too many replies wait to be read.
inline void pass_to(xla::xla_service& to, time_point now, connection_id from,
                    http2::server_session const& of, http2::server_event const& what,
                    bool is_full) {
  if (auto const* const call = std::get_if<http2::call>(&what)) {
    to.called(now, {{from, call->stream.value},
                    call->path,
                    of.user_agent(),
                    call->message,
                    call->timeout,
                    is_full});
  } else if (auto const* const gone = std::get_if<http2::call_cancelled>(&what)) {
    to.cancelled(now, {from, gone->stream.value}, gone->why == http2::error_code::no_error);
  } else if (std::holds_alternative<http2::ping_answer>(what)) {
    to.pong(now, from);
  }
}

// Passes xla_service's reply to the session.
inline void answer(http2::server_session& by, xla::reply& what) {
  http2::stream_id const stream{what.to.stream};
  if (what.how.ok()) {
    by.reply(stream, std::move(what.what.head), std::move(what.what.tail));
  } else {
    by.fail(stream, what.how.code, what.how.text, what.how.details);
  }
}

// The connection ends when everything is answered; calls that the client has begun are served.
inline void say_goodbye(http2::server_session& to, std::string_view why) {
  http2::stream_id const all{std::numeric_limits<std::int32_t>::max()};
  to.go_away(all, http2::error_code::no_error, why);
}

}  // namespace coxswain::server
