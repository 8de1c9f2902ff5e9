#pragma once
// Many connections of a load to one server, on one epoll. Not here: what is said on them (peer) and
// when (crowd, stream, visits).

#include "address.hpp"
#include "frame_source.hpp"
#include "wire_stream.hpp"

#include "coxswain/base/time.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::bench {

class connections {
 public:
  class listener {
   public:
    virtual ~listener() = default;
    virtual void arrived(std::size_t connection, received_frame const& frame) = 0;
    // After the frames of one reading. Only here may the listener close the connection.
    virtual void was_read(std::size_t /*connection*/) {}
  };

  // All functions throw bench_error if the server refuses or closes a connection.
  connections(address server, frame_source_maker reader);

  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }

  // Adds one. It has the next number.
  void open();
  void close(std::size_t connection);
  // One that was closed, under the same number.
  void open_again(std::size_t connection);

  // Returns when the socket has all of it; blocks if the server does not read.
  void send(std::size_t connection, std::string_view frames);

  // Waits for something to read and hands it out; false if nothing came until then.
  bool wait(time_point until, listener& to);

  [[noreturn]] void fail(std::size_t connection, std::string const& why) const;

 private:
  struct one {
    wire_stream stream;
    std::unique_ptr<frame_source> frames;
  };

  [[nodiscard]] one connect();
  void watch(std::size_t connection);
  void read(std::size_t connection, listener& to);
  void hand_out(std::size_t connection, std::string_view input, listener& to);

  std::unique_ptr<net::tls_context const> certificates_;  // if the server speaks TLS
  connector connector_;
  frame_source_maker reader_;
  descriptor epoll_;
  std::vector<one> all_;
  std::vector<char> buffer_;
};

}  // namespace coxswain::bench
