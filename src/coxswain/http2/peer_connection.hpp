#pragma once
// One side of an HTTP/2 connection: nghttp2's session, without I/O. Bytes in, bytes out, and time
// is an argument. A peer that breaks the protocol, or floods, gets a GOAWAY, and the session ends.
// Not thread-safe. Not here: the meaning of streams (client_session, server_session).
//
// Output waits until `append_output`: check `wants_write` after every other call. Functions that
// are not noexcept throw std::bad_alloc; then the session has ended.

#include "coxswain/base/bytes.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/http2/counted_memory.hpp"
#include "coxswain/http2/error_code.hpp"
#include "coxswain/http2/limits.hpp"
#include "coxswain/http2/outgoing.hpp"
#include "coxswain/http2/rate_limit.hpp"
#include "coxswain/http2/stream_id.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

struct nghttp2_session;
struct nghttp2_session_deleter {
  void operator()(nghttp2_session* session) const noexcept;
};

namespace coxswain::http2 {

// A header field to send.
struct header_field {
  std::string_view name;
  std::string_view value;
  bool varies{};  // the peer's table does not keep it
  bool lasts{};   // longer than the connection, so that it is not copied
};

// Where servers of one owner, which it uses one at a time, encode their frames: each of at most
// 16 KiB, with its head. It must outlive their last output.
using frame_buffer = std::array<std::byte, 16 * 1024 + 10>;

class peer_connection {
 public:
  peer_connection(peer_connection const&) = delete;
  peer_connection& operator=(peer_connection const&) = delete;

  // Appends the next output: frames, up to `bytes_max` bytes and one frame more.
  void append_output(std::string& out, std::size_t bytes_max);

  // Whether there is output.
  [[nodiscard]] bool wants_write() const noexcept;

  // Whether input is accepted. If not, close the connection once there is no output.
  [[nodiscard]] bool wants_read() const noexcept;

  // Why input is no longer accepted; empty if there is no error.
  [[nodiscard]] std::string const& error() const noexcept { return error_; }

  // Sends a PING; its acknowledgement is an event.
  void ping(std::uint64_t payload);

  // GOAWAY. The peer's streams after `last`, which is one of them, zero, or the highest id, are not
  // served: open ones end without an event. Nor are any that it begins from now on.
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

  // The heap memory of the session, without shared values.
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    return library_memory_.bytes() + message_bytes_ + control_.capacity();
  }

  // The work of the last `receive` in bytes: what was received and decoded, and what each frame and
  // each touched stream costs besides.
  [[nodiscard]] std::size_t work_bytes() const noexcept { return work_bytes_; }

  // Streams that are open.
  [[nodiscard]] virtual std::size_t streams() const noexcept = 0;

 protected:
  enum class side : std::uint8_t { client, server };

  // The work of each frame.
  static constexpr std::size_t frame_work = 512;

  // Throws std::bad_alloc. `meter` counts memory_bytes() as in transit. `shared` is for servers
  // only, since a client's holds its preface until that is sent.
  peer_connection(side which, limits const& l, memory_meter* meter, frame_buffer* shared = nullptr);
  virtual ~peer_connection();

  // Takes all of the input, and encodes what it causes except messages.
  void feed(time_point now, std::string_view input);

  // Callbacks for the input, in this order for each stream. An exception ends the session; `feed`
  // rethrows it.
  virtual void stream_begun(stream_id /*of*/) {}
  virtual void header_found(stream_id of, std::string_view name, std::string_view value) = 0;
  virtual void headers_ended(stream_id of) = 0;
  virtual void data_found(stream_id of, std::string_view content) = 0;
  virtual void half_closed(stream_id /*of*/) {}
  virtual void stream_closed(stream_id of, error_code why) = 0;
  virtual void ping_acknowledged(std::uint64_t payload) = 0;
  virtual void peer_goes_away(stream_id last, error_code why, std::string_view text) = 0;

  // Headers of the stream were encoded; `ends`: they are the end of it.
  virtual void headers_sent(stream_id /*of*/, bool /*ends*/) {}

  // Lives during each verb: at its end memory is counted, and an exception that leaves it ends the
  // session.
  class verb {
   public:
    explicit verb(peer_connection& of) noexcept : of_{of} {}
    ~verb() {
      of_.counted_.count(of_.memory_bytes());
      if (std::uncaught_exceptions() > before_) of_.end("out of memory");
    }
    verb(verb const&) = delete;
    verb& operator=(verb const&) = delete;

   private:
    peer_connection& of_;
    int before_{std::uncaught_exceptions()};
  };

  // The unsent messages of a stream, whether they are its last, and what ends the stream then.
  struct source {
    outgoing* messages{};
    bool ends{};  // no message will be added
    std::span<header_field const> trailers{};
  };
  virtual source source_of(stream_id of) = 0;

  // A message was added to the stream.
  void account(std::size_t added) noexcept { unsent_bytes_ += added; }
  // A stream with this many unsent bytes is gone.
  void forget(std::size_t unsent) noexcept { unsent_bytes_ -= unsent; }

  // Memory of messages.
  void hold(std::size_t count) noexcept { message_bytes_ += count; }
  void let_go(std::size_t count) noexcept { message_bytes_ -= count; }

  // Counts work; and begins to count again.
  void work(std::size_t bytes) noexcept { work_bytes_ += bytes; }
  void begin_work() noexcept { work_bytes_ = 0; }

  // Ends the session of a peer that exceeds a rate limit.
  void refuse_flood(std::string_view of_what);

  void reset(stream_id which, error_code why);

  // Opens the window by this many bytes: of the connection, of the stream.
  void consume(std::size_t count);
  void consume(stream_id of, std::size_t count);

  // Makes the window of a stream wider.
  void widen_window(stream_id of, std::uint32_t bytes);

  // A request whose messages follow: its stream, or nothing if there are no more streams.
  [[nodiscard]] std::optional<stream_id> submit_request(std::span<header_field const> fields);

  // The headers of a response: its messages follow, or they are all. `yields`: others come first.
  void respond(stream_id to, std::span<header_field const> fields, bool has_messages,
               bool yields = false);

  // There is more to send of a stream for which `source_of` had nothing.
  void resume(stream_id which);

  // The owner's object for a stream that is open; null if there is none.
  void attach(stream_id to, void* object);
  [[nodiscard]] void* attached(stream_id to) const noexcept;

  // False for streams that our GOAWAY has excluded.
  [[nodiscard]] bool is_served(stream_id which) const noexcept { return which <= last_served_; }

  // Encoded output except messages that was not appended to any output yet.
  [[nodiscard]] std::size_t control_bytes() const noexcept {
    return control_.size() - control_sent_;
  }

  [[nodiscard]] limits const& limited() const noexcept { return limits_; }
  [[nodiscard]] time_point now() const noexcept { return now_; }

 private:
  friend struct session_callbacks;

  [[nodiscard]] nghttp2_session* raw() const noexcept { return raw_.get(); }
  void check(int came_to) const;
  void fail(int came_to);
  void end(std::string_view why) noexcept;
  void encode_control();
  void write_control(std::string& out, std::size_t size_max);

  limits limits_;
  time_point now_{};
  std::size_t message_bytes_{};
  std::size_t unsent_bytes_{};
  std::uint64_t sent_bytes_{};
  std::size_t work_bytes_{};
  transit_bytes counted_;
  rate_limit pings_;
  rate_limit settings_;
  rate_limit refused_;
  counted_memory library_memory_;
  stream_id last_served_{std::numeric_limits<std::int32_t>::max()};
  std::string control_;         // frames that no window holds back
  std::size_t control_sent_{};  // bytes of it
  bool is_refused_{};           // input is ignored, and messages are not sent
  bool is_over_{};              // and there is no more output
  std::string error_;
  std::exception_ptr thrown_;
  std::string* out_{};  // of messages, during append_output
  std::size_t out_size_max_{};
  std::unique_ptr<nghttp2_session, nghttp2_session_deleter> raw_;
};

}  // namespace coxswain::http2
