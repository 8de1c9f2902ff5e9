#pragma once
// HTTP/2 and gRPC on one connection, as far as calls of etcd need them: requests to it, and the
// messages in what it sends. Not here: what is asked (etcd_peer).
//
// Headers are sent as a gRPC library sends them: whole once, then by their number in the table that
// both sides keep. The server's headers are not read.

#include "load/frames.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::bench {

// The client's side of a connection: what is written.
class http2_writer {
 public:
  // The beginning of a connection, with an unlimited window for the server.
  static void append_preface(std::string& out);

  // A call of `path` with one message; more may follow if it is `open`. Returns its stream.
  std::uint32_t append_call(std::string& out, std::string_view path, std::string_view message,
                            bool open = false);

  // The next stream is left out.
  void skip_stream() noexcept { next_stream_ += 2; }

 private:
  void append_header(std::string& block, std::string_view name, std::string_view value);

  std::uint32_t next_stream_{1};
  std::vector<std::pair<std::string, std::string>> table_;  // the oldest first
};

// What the reader found: a message on a stream, or a reply that the connection itself needs.
struct http2_item {
  bool is_message{};
  std::uint32_t stream{};
  std::string_view content;  // the message; or the bytes that are to be sent

  [[nodiscard]] static http2_item from(received_frame const& frame);
};

// A frame is an item.
class http2_reader final : public frame_source {
 public:
  // Throws bench_error if the server refuses a call or ends the connection.
  [[nodiscard]] std::optional<received_frame> next(std::string_view& input) override;

 private:
  struct head;

  bool take_frame();
  void take_data(std::uint32_t stream, std::string_view payload);
  void take_end(std::uint32_t stream);
  void add(bool is_message, std::uint32_t stream, std::string_view content);

  std::string buffer_;
  std::size_t at_{};                              // what of it has been read
  std::map<std::uint32_t, std::string> partial_;  // by stream: the beginning of a message
  std::set<std::uint32_t> answered_;              // streams that had a message and have not ended
  std::uint64_t unreported_bytes_{};              // of data, of which the server was not told
  std::deque<std::string> ready_;
  std::string current_;
};

}  // namespace coxswain::bench
