#pragma once
// Many connections of a load to one server, on one epoll. Not here: when requests are sent on them
// (crowd, stream, join).

#include "load/address.hpp"
#include "load/frames.hpp"
#include "load/peer.hpp"

#include "coxswain/base/time.hpp"
#include "coxswain/net/spin.hpp"
#include "coxswain/net/tls_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace coxswain::bench {

// The bytes of one of a load's connections, with TLS if its server speaks that: written patiently,
// read without waiting.
class wire_stream {
 public:
  wire_stream() = default;

  // Takes over a connected, blocking socket; with certificates shakes hands. Throws bench_error.
  wire_stream(net::descriptor socket, net::tls_context const* certificates);

  // Negative after it was closed or moved from.
  [[nodiscard]] int fd() const noexcept { return socket_.value(); }

  // As ::send and ::recv with MSG_DONTWAIT; errno is set as they do. A read that does not fill
  // `into` has taken all there is.
  [[nodiscard]] ssize_t send(std::string_view bytes) noexcept;
  [[nodiscard]] ssize_t read(std::span<char> into) noexcept;

 private:
  net::descriptor socket_;
  std::unique_ptr<net::tls_stream> tls_;  // on the same socket
};

class connections {
 public:
  class listener {
   public:
    virtual ~listener() = default;
    virtual void arrived(std::size_t connection, received_frame const& frame) = 0;
    // After the frames of one reading.
    virtual void was_read(std::size_t /*connection*/) {}
    // Before `await` waits: it may open connections.
    virtual void before_wait() {}
  };

  // All functions throw bench_error if the server refuses or closes a connection.
  connections(address server, std::unique_ptr<peer> speaks);

  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  [[nodiscard]] peer& speaks() const noexcept { return *peer_; }

  // Adds one. It has the next number.
  void open();

  // Returns when the socket has all of it; blocks if the server does not read.
  void send(std::size_t connection, std::string_view frames);

  // Sends the calls that clients leave open once all tasks have joined. Returns when the server has
  // read them.
  void send_background_calls();

  // The peer's verdict on a frame. A reply that the server must get at once has been sent.
  [[nodiscard]] verdict judge(std::size_t connection, received_frame const& frame);

  // Waits for something to read and hands it out; false if nothing came until then.
  bool wait(time_point until, listener& to);
  // Hands out until only `left` are waiting. Throws bench_error if nothing comes for 60 s: "3
  // `what`, and nothing came".
  void await(std::size_t const& waiting, std::size_t left, listener& to, std::string_view what);

  [[noreturn]] void fail(std::size_t connection, std::string const& why) const;

 private:
  struct one {
    wire_stream stream;
    std::shared_ptr<frame_source> frames;
  };
  [[nodiscard]] std::size_t read_some(std::size_t connection);
  void read(std::size_t connection, listener& to);
  void hand_out(std::size_t connection, std::string_view input, listener& to);

  std::unique_ptr<peer> peer_;
  std::unique_ptr<net::tls_context const> certificates_;  // if the server speaks TLS
  net::spin spin_;
  connector connector_;
  net::descriptor epoll_;
  std::vector<one> all_;
  std::vector<char> buffer_;
};

}  // namespace coxswain::bench
