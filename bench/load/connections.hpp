#pragma once
// Many connections of a load to one server, on one epoll. Not here: when requests are sent on them
// (fleet, stream, join).

#include "load/address.hpp"
#include "load/frames.hpp"
#include "load/peer.hpp"

#include "coxswain/base/time.hpp"
#include "coxswain/net/spin.hpp"

#include <cstddef>
#include <cstdint>
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
    net::descriptor socket;  // blocking: written patiently, read without waiting
    std::shared_ptr<frame_source> frames;
  };
  [[nodiscard]] std::size_t read_some(std::size_t connection);
  void read(std::size_t connection, listener& to);
  void hand_out(std::size_t connection, std::string_view input, listener& to);

  std::unique_ptr<peer> peer_;
  net::spin spin_;
  connector connector_;
  net::descriptor epoll_;
  std::vector<one> all_;
  std::vector<char> buffer_;
};

}  // namespace coxswain::bench
