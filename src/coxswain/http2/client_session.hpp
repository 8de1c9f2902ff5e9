#pragma once
// The client's side of a gRPC connection: calls, each with one message or several in either
// direction, and their outcomes. Does no I/O and reads no clock:
//
//   stream = c.start({.path = "/package.Service/Method"}, message);
//   while (c.wants_write()) c.append_output(out, bytes_max);
//   c.receive(now, bytes, events);
//
// Not thread-safe. Not here: timeouts, which are the caller's; retries; sockets.

#include "coxswain/base/status.hpp"
#include "coxswain/http2/events.hpp"
#include "coxswain/http2/message_decoder.hpp"
#include "coxswain/http2/peer_connection.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::http2 {

// The options of a call. The texts are copied.
struct call_start {
  std::string_view path;  // "/package.Service/Method"
  std::string_view authority{"localhost"};
  std::string_view scheme{"http"};
  std::span<header_field const> metadata{};  // at most six fields; names in lower case
  std::optional<duration> timeout{};         // sent to the server, not enforced here
  bool compresses{};                         // with gzip, where that makes messages shorter
  bool stays_open{};                         // messages may follow the first
};

// A message of an open call.
struct reply_message {
  stream_id stream;
  std::string message;
};

// A call has ended; it has no further events.
struct call_ended {
  stream_id stream;
  status outcome;       // OK, the server's error, or that of the stream
  std::string details;  // of grpc-status-details-bin
  bool is_unseen{};     // the server has not processed it: it can be repeated
};

using client_event = std::variant<reply_message, call_ended, ping_answer, peer_goodbye>;

class client_session final : public peer_connection {
 public:
  // Throws std::bad_alloc. Uses the limits on messages, headers, PING and SETTINGS.
  // `meter` counts memory_bytes() as in transit while the session lives.
  explicit client_session(limits const& l = limits{}, memory_meter* meter = nullptr);
  ~client_session() override;

  // Starts a call with its first message. Nothing if the connection takes no more calls: after the
  // server's GOAWAY, or when all stream ids are used.
  [[nodiscard]] std::optional<stream_id> start(call_start const& how, std::string_view message);

  // Sends another message of a call that stays open; `is_last`: none follows. Ignored if the call
  // has ended.
  void send(stream_id of, std::string_view message, bool is_last = false);

  // Cancels a call, also at the server. No event follows, unless the call has already ended and
  // `receive` has yet to report that.
  void cancel(stream_id which);

  // Takes the input and adds its events to `events`.
  void receive(time_point now, std::string_view input, std::vector<client_event>& events);

  // Calls that have not ended.
  [[nodiscard]] std::size_t streams() const noexcept override { return streams_.size(); }

 private:
  struct stream {
    explicit stream(std::size_t message_bytes_max) noexcept : body{message_bytes_max} {}

    message_decoder body;
    outgoing messages;
    encoding message_encoding{encoding::none};
    bool compresses{};
    bool is_closing{};    // no message is added
    bool is_cancelled{};  // its events are dropped
    bool is_grpc{true};   // according to its headers
    int http_status{};    // zero until it is known
    std::size_t header_bytes{};
    std::optional<errc> code{};  // of the trailers
    std::string text;
    std::string details;
  };

  void header_found(stream_id of, std::string_view name, std::string_view value) override;
  void headers_ended(stream_id of) override;
  void data_found(stream_id of, std::string_view content) override;
  void stream_closed(stream_id of, error_code why) override;
  void ping_acknowledged(std::uint64_t payload) override;
  void peer_goes_away(stream_id last, error_code why, std::string_view text) override;
  source source_of(stream_id of) override;

  [[nodiscard]] stream* find(stream_id of) noexcept;
  void add(stream& to, std::string_view message);
  void give_up(stream_id which, stream& of, status why);
  template <class Event>
  void emit(Event what) {
    (events_ != nullptr ? *events_ : waiting_)
        .emplace_back(std::in_place_type<Event>, std::move(what));
  }

  std::unordered_map<stream_id, stream> streams_;
  std::vector<client_event> waiting_;    // events without input
  std::vector<client_event>* events_{};  // during receive
  bool is_closed_to_calls_{};            // after the server's GOAWAY
};

}  // namespace coxswain::http2
