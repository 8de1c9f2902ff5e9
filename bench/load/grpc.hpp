#pragma once
// gRPC on one connection of a load: its calls, encoded before they are sent, and the items of its
// input. Not here: the services that are called (xla_peer).

#include "load/call_headers.hpp"
#include "load/peer.hpp"

#include "coxswain/http2/client_session.hpp"
#include "coxswain/wire/field_walk.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace coxswain::bench {

// The kind of an item of the input: a message of such a call, or the answer to a ping.
enum class grpc_kind : char {
  answer,      // of a call that must succeed
  beat,        // the same, for a heartbeat
  registered,  // the same, for a RegisterTask
  background,  // never found: such a call may end as it likes
  pong,
};

struct grpc_item {
  grpc_kind kind{};
  std::string_view content;  // the message

  [[nodiscard]] static grpc_item from(received_frame const& frame) {
    return {static_cast<grpc_kind>(frame.beginning.front()), frame.beginning.substr(1)};
  }
};

// A frame is an item.
class grpc_line final : public frame_source {
 public:
  grpc_line();

  // The beginning of a connection, and a ping.
  void append_preface(std::string& out);
  void append_ping(std::string& out);

  // Throws bench_error if the message is longer than HTTP/2 lets a client send at first.
  void append_call(std::string& out, std::string_view path, std::string_view message,
                   grpc_kind kind = grpc_kind::answer);

  // Throws bench_error if the server refuses a call or ends the connection.
  [[nodiscard]] std::optional<received_frame> next(std::string_view& input) override;
  // Throws bench_error if the input was not valid HTTP/2.
  [[nodiscard]] std::string take_output() override;

 private:
  void append_output(std::string& out);
  [[nodiscard]] grpc_kind kind_of(http2::stream_id stream) const;
  bool take(http2::reply_message const& message);
  bool take(http2::call_ended const& end);
  bool take(http2::ping_answer const& pong);
  bool take(http2::peer_goodbye const& goodbye);

  http2::client_session session_;
  call_headers headers_;  // in place of the session's, which send each path in full
  std::unordered_map<http2::stream_id, grpc_kind> special_;  // calls of other kinds than `answer`
  std::uint64_t unended_{};                                  // messages whose calls have not ended
  std::vector<http2::client_event> events_;
  std::size_t at_{};  // the next of them
  std::string item_;
};

// Speaks gRPC on all connections.
class grpc_peer : public peer {
 public:
  void open(std::size_t connection) override;
  // A server limits the calls that are open at a time, and those that are made count as open.
  [[nodiscard]] std::uint64_t prepared_max() const noexcept override { return 1'000; }
  [[nodiscard]] std::shared_ptr<frame_source> reader(std::size_t connection) override {
    return lines_.at(connection);
  }

 protected:
  [[nodiscard]] grpc_line& line(std::size_t connection) { return *lines_.at(connection); }

  // Throws bench_error if so many requests exceed what HTTP/2 lets a client send without
  // permission, for which nothing here waits.
  static void check_window(asking const& how, std::size_t message_bytes);

 private:
  std::vector<std::shared_ptr<grpc_line>> lines_;
};

// The next field of this number, if there is one. What comes after it is left in `message`. Throws
// bench_error if these are no fields.
[[nodiscard]] std::optional<wire::field> take_field(std::string_view& message,
                                                    std::uint64_t number);

}  // namespace coxswain::bench
