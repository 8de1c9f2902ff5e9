#pragma once
// The server's side of a gRPC connection: complete unary calls, and their replies. Does
// no I/O and reads no clock:
//
//   taken = s.receive(now, bytes, events);   the events in the bytes
//   s.reply(stream, message);                or s.fail(stream, code, text, details)
//   while (s.wants_write()) s.append_output(out, bytes_max);
//
// Malformed calls are answered here and cause no event. Not thread-safe. Not here:
// what calls mean (xla), deadlines of calls, sockets.

#include "coxswain/base/status.hpp"
#include "coxswain/http2/events.hpp"
#include "coxswain/http2/gzip.hpp"
#include "coxswain/http2/message_decoder.hpp"
#include "coxswain/http2/peer_connection.hpp"
#include "coxswain/http2/server_stream.hpp"

#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::http2 {

// A complete request. It is open until reply, fail, or an event `call_cancelled`.
struct call {
  stream_id stream;
  std::string path;
  std::string message;
  std::optional<duration> timeout;  // how long the client waits; clients round it up
};

// The client no longer waits for the reply to an open call.
struct call_cancelled {
  stream_id stream;
  error_code why;
};

using server_event = std::variant<call, call_cancelled, ping_answer, peer_goodbye>;

class server_session final : public peer_connection {
 public:
  // Throws std::bad_alloc. `meter` counts memory_bytes() as in transit while the session lives.
  explicit server_session(limits const& l = limits{}, memory_meter* meter = nullptr,
                          frame_buffer* shared = nullptr);
  ~server_session() override;

  // Takes input, adds its events to `events`, and returns how many bytes were taken: all, unless
  // `events` has events_at_once or more now. Pass the rest first in the next call.
  std::size_t receive(time_point now, std::string_view input, std::vector<server_event>& events);

  // Answers an open call with a message: `text` followed by `value`, which is shared until it is
  // sent. False if the call is no longer open.
  bool reply(stream_id to, std::string text, bytes value = {});

  // Answers it with an error. The text is cut to the client's limit; `details` of more than
  // `details_bytes_max` bytes are left out.
  bool fail(stream_id to, errc code, std::string_view text, std::string_view details = {});

  // The announced length of the oldest request that waits for `allow`; zero if none does.
  [[nodiscard]] std::size_t asks_for() const noexcept;

  // That request.
  [[nodiscard]] std::optional<stream_id> asking() const noexcept;

  // Lets it arrive. Where its memory cannot be had, std::bad_alloc ends nothing: it still asks.
  void allow();

  // The announced length of a request that has not arrived completely; zero for all others.
  [[nodiscard]] std::size_t arriving_bytes(stream_id of) const noexcept;

  // Answers such a request with an error, and drops what has arrived of it. False for all others.
  bool refuse(stream_id which, status const& why);

  // From now on every call is answered with this error as soon as its headers have arrived.
  void refuse_calls(errc code, std::string text, std::string details);

  // Whether `receive` has events, or work, without further input.
  [[nodiscard]] bool has_events() const noexcept {
    return !waiting_.empty() || (!packed_.empty() && wants_read());
  }

  // All that the peer's calls hold and its replies wait for, in bytes, without the requests that
  // were allowed.
  [[nodiscard]] std::size_t burden() const noexcept {
    return memory_bytes() - allowed_bytes_ + unsent_bytes();
  }

  // Bytes of the output that no window holds back: acknowledgements, resets, headers and errors.
  // The owner reads nothing more while there are many, since the peer makes them and does not take
  // them.
  [[nodiscard]] std::size_t answer_bytes() const noexcept {
    return control_bytes() + header_bytes_unsent_;
  }

  // Calls that are arriving, open, or have an unsent reply.
  [[nodiscard]] std::size_t streams() const noexcept override { return streams_; }

  // The user agent of the client's first request; empty before that.
  [[nodiscard]] std::string const& user_agent() const noexcept { return user_agent_; }

 private:
  using phase = server_stream::phase;
  // The first packed request, while it is decompressed.
  struct unpacking {
    inflation content;
    std::size_t held{};
  };
  // How all calls are answered.
  struct refusal {
    errc code;
    std::string text;
    std::string details;
  };
  template <stream_hook server_stream::*Hook>
  using stream_list =
      boost::intrusive::list<server_stream,
                             boost::intrusive::member_hook<server_stream, stream_hook, Hook>,
                             boost::intrusive::constant_time_size<false>>;

  void stream_begun(stream_id of) override;
  void header_found(stream_id of, std::string_view name, std::string_view value) override;
  void headers_ended(stream_id of) override;
  void data_found(stream_id of, std::string_view content) override;
  void half_closed(stream_id of) override;
  void headers_sent(stream_id of, bool ends) override;
  void stream_closed(stream_id of, error_code why) override;
  void ping_acknowledged(std::uint64_t payload) override;
  void peer_goes_away(stream_id last, error_code why, std::string_view text) override;
  source source_of(stream_id of) override;

  [[nodiscard]] std::size_t next_piece(std::size_t events) const noexcept;
  [[nodiscard]] server_stream* find(stream_id of) const noexcept;
  [[nodiscard]] server_stream* find_delivered(stream_id of) const noexcept;
  template <class Event>
  void emit(Event what) {
    (events_ != nullptr ? *events_ : waiting_)
        .emplace_back(std::in_place_type<Event>, std::move(what));
  }
  void take_content(server_stream& of, std::string_view content);
  void deliver(server_stream& whole);
  void deliver(server_stream& whole, std::string message);
  void unpack();
  void stop_unpacking() noexcept;
  [[nodiscard]] bool has_room(std::size_t bytes = 0) const noexcept;
  void end(server_stream& which, errc code, std::string_view text, std::string_view details);
  void refuse(server_stream& which, status const& why);
  void refuse_http(server_stream& which, std::string_view http_status);
  void send_headers(server_stream& to, std::span<header_field const> fields);
  void forget_request(server_stream& of) noexcept;

  stream_list<&server_stream::open> open_;
  std::size_t streams_{};                        // number of them
  mutable server_stream* last_{};                // that was looked for
  stream_list<&server_stream::waiting> asking_;  // the oldest first
  stream_list<&server_stream::waiting> packed_;
  std::string user_agent_;
  std::vector<server_event> waiting_;    // events without input
  std::vector<server_event>* events_{};  // during receive
  std::size_t arriving_bytes_{};         // of requests that are not allowed
  std::size_t allowed_bytes_{};          // and of those that are
  std::unique_ptr<unpacking> unpacking_;
  std::unique_ptr<refusal> refusal_;
  std::size_t header_bytes_unsent_{};  // of replies
  memory_meter* meter_;
  rate_limit resets_;
};

}  // namespace coxswain::http2
