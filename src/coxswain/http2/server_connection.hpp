#pragma once
// The server's side of an HTTP/2 connection (RFC 9113): frames, streams and windows, without I/O.
// Bytes in, bytes out, and time is an argument. A peer that breaks the protocol, or floods, gets a
// GOAWAY, and the connection ends. Streams have no priorities, except that large replies yield.
// Not thread-safe. Not here: the meaning of streams (server_session).
//
// Output waits until `append_output`: check `wants_write` after every other call. Functions that
// are not noexcept throw std::bad_alloc; then the connection has ended.

#include "coxswain/base/bytes.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/http2/error_code.hpp"
#include "coxswain/http2/frame.hpp"
#include "coxswain/http2/header_decoder.hpp"
#include "coxswain/http2/limits.hpp"
#include "coxswain/http2/rate_limit.hpp"
#include "coxswain/http2/reply_headers.hpp"
#include "coxswain/http2/server_stream.hpp"
#include "coxswain/http2/stream_id.hpp"

#include <boost/intrusive/list.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

namespace coxswain::http2 {

class server_connection {
 public:
  server_connection(server_connection const&) = delete;
  server_connection& operator=(server_connection const&) = delete;

  // Appends the next output, up to `bytes_max` bytes and one frame more.
  void append_output(std::string& out, std::size_t bytes_max);

  // Whether there is output.
  [[nodiscard]] bool wants_write() const noexcept;

  // Whether input is accepted. If not, close the connection once there is no output.
  [[nodiscard]] bool wants_read() const noexcept;

  // Why input is no longer accepted; empty if there is no error.
  [[nodiscard]] std::string const& error() const noexcept { return error_; }

  // Sends a PING; its acknowledgement is an event.
  void ping(std::uint64_t payload);

  // GOAWAY. Streams of the peer after `last`, which is one of them, zero, or the highest stream_id,
  // are not served: open ones end without an event. With the highest id, all streams that the peer
  // begins before it receives the GOAWAY are served.
  void go_away(stream_id last, error_code code, std::string_view text);

  // Bytes of messages that are not in any output yet.
  [[nodiscard]] std::size_t unsent_bytes() const noexcept { return unsent_bytes_; }

  // Whether only the peer's closed windows hold back messages. The owner closes the connection if
  // `sent_bytes` stays the same for too long.
  [[nodiscard]] bool waits_for_window() const noexcept {
    return unsent_bytes_ > 0 && !wants_write();
  }

  // Total bytes of messages in all outputs so far.
  [[nodiscard]] std::uint64_t sent_bytes() const noexcept { return sent_bytes_; }

  // Bytes of the output that no window holds back: acknowledgements, resets, headers and errors.
  // The owner reads nothing more while there are many, since the peer makes them and does not take
  // them.
  [[nodiscard]] std::size_t answer_bytes() const noexcept {
    return control_.size() - control_sent_ + fresh_bytes_;
  }

  // The heap memory of the connection, without shared values.
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

  // Calls that are arriving, open, or have an unsent reply.
  [[nodiscard]] std::size_t streams() const noexcept { return streams_.size(); }

  // The work of the last `receive` in bytes: what was received and decoded, and what each frame and
  // each touched stream costs besides.
  [[nodiscard]] std::size_t work_bytes() const noexcept { return work_bytes_; }

 protected:
  // Throws std::bad_alloc. `meter` counts memory_bytes() as in transit.
  server_connection(limits const& l, memory_meter* meter);
  virtual ~server_connection();

  // Takes a piece of the input, of at least one byte, with at most one frame in it.
  void take(time_point now, std::string_view& input);

  // Called with the contents of the input. None of them may close the stream.
  virtual void field_found(server_stream& of, std::string_view name, std::string_view value) = 0;
  virtual void headers_ended(server_stream& of) = 0;
  virtual void data_found(server_stream& of, std::string_view content) = 0;
  virtual void half_closed(server_stream& of) = 0;  // after the headers and data
  virtual void stream_closed(server_stream& of, error_code why) = 0;
  virtual void ping_acknowledged(std::uint64_t payload) = 0;
  virtual void peer_goes_away(stream_id last, error_code why, std::string_view text) = 0;

  // Lives during each verb: at its end memory is counted, and an exception that leaves it ends the
  // connection.
  class verb {
   public:
    explicit verb(server_connection& of) noexcept : of_{of} {}
    ~verb() {
      of_.counted_.count(of_.memory_bytes());
      if (std::uncaught_exceptions() > before_) of_.end("out of memory");
    }
    verb(verb const&) = delete;
    verb& operator=(verb const&) = delete;

   private:
    server_connection& of_;
    int before_{std::uncaught_exceptions()};
  };

  // An open stream; null if there is none.
  [[nodiscard]] server_stream* find(stream_id which) const noexcept;

  // False for streams that our GOAWAY has excluded.
  [[nodiscard]] bool is_served(stream_id which) const noexcept { return which <= last_served_; }

  // The reply of a stream, its messages or its error, can be sent. Once it is sent the stream is
  // closed.
  void send_reply(server_stream& of);

  // Memory of requests and replies.
  void hold(std::size_t count) noexcept { held_bytes_ += count; }
  void let_go(std::size_t count) noexcept { held_bytes_ -= count; }

  // Ends the connection of a peer that exceeds a rate limit.
  void refuse_flood(std::string_view of_what);

  // Counts work; and begins to count again.
  void work(std::size_t bytes) noexcept { work_bytes_ += bytes; }
  void begin_work() noexcept { work_bytes_ = 0; }

  // Opens the window of a stream again, after so many bytes; and makes it wider.
  void consume(server_stream& of, std::size_t count);
  void widen_window(server_stream& of, std::uint32_t bytes);

  [[nodiscard]] limits const& limited() const noexcept { return limits_; }
  [[nodiscard]] time_point now() const noexcept { return now_; }

 private:
  using sending_list = boost::intrusive::list<
      server_stream,
      boost::intrusive::member_hook<server_stream, stream_hook, &server_stream::sending>,
      boost::intrusive::constant_time_size<false>>;

  // The frames of the input.
  void take_preface(std::string_view& input);
  void take_frame(received_frame const& f);
  void take_data(received_frame const& f);
  void take_headers(received_frame const& f);
  void take_continuation(received_frame const& f);
  void take_block(stream_id of, std::string_view block, bool ends);
  void take_reset(received_frame const& f);
  void take_settings(received_frame const& f);
  void take_setting(std::uint16_t which, std::uint32_t value);
  void change_windows(std::uint32_t value);
  void refuse_beyond_limit(stream_id which);
  void take_ping(received_frame const& f);
  void take_go_away(received_frame const& f);
  void take_window(received_frame const& f);
  void begin_request(server_stream& of, bool ends);
  void end_request(server_stream& of);
  // False: the connection ends, because such a frame cannot belong to this stream.
  [[nodiscard]] bool check_known(received_frame const& f);

  server_stream& begin(stream_id which);
  void close(server_stream& which, error_code why);
  void reset(server_stream& which, error_code why);
  void terminate(error_code code, std::string_view why);
  void end(std::string_view why) noexcept;
  void window_changed(server_stream& of);

  void append_control(frame_kind kind, std::uint8_t flags, stream_id stream,
                      std::string_view payload);
  void append_window(stream_id of, std::size_t count);
  void write_control(std::string& out, std::size_t size_max);
  void write_headers(server_stream& of, std::string& out);
  void write_data(server_stream& of, std::string& out);
  void write_end(server_stream& of, std::string& out);

  limits limits_;
  time_point now_{};
  transit_bytes counted_;
  rate_limit pings_;
  rate_limit settings_;
  rate_limit refused_;
  frame_splitter splitter_;
  header_decoder decoder_;
  reply_headers encoder_;
  boost::unordered_flat_map<std::int32_t, std::unique_ptr<server_stream>> streams_;
  std::size_t held_bytes_{};
  std::size_t work_bytes_{};

  // The receiving side.
  std::size_t preface_bytes_{};
  bool has_settings_{};  // the first frame
  stream_id last_{};     // the highest one that the peer has begun
  stream_id last_served_{std::numeric_limits<std::int32_t>::max()};
  std::uint32_t unread_window_{};  // of the connection: received since it was last opened
  std::string block_;              // the beginning of a header block
  stream_id block_of_{};           // zero: none
  bool block_ends_stream_{};
  int continuations_{};
  std::string known_block_;  // the last header block, if the next equal one says the same
  request_head known_head_;  // what it said

  // The sending side.
  std::string control_;                 // frames that no window holds back
  std::size_t control_sent_{};          // bytes of it
  std::size_t acknowledgements_{};      // in it
  sending_list fresh_;                  // replies whose headers are not sent
  std::size_t fresh_bytes_{};           // of their errors
  sending_list sending_;                // replies with an open window
  sending_list late_;                   // large ones, which come after all others
  std::int64_t window_{65'535};         // so many bytes of messages may be sent
  std::int64_t stream_window_{65'535};  // and of each new stream
  std::size_t unsent_bytes_{};
  std::uint64_t sent_bytes_{};

  bool is_leaving_{};  // GOAWAY was sent or received: ends with its last stream
  bool is_refused_{};  // input is ignored, and replies are not sent
  bool is_over_{};     // and there is no more output
  std::string error_;
};

}  // namespace coxswain::http2
