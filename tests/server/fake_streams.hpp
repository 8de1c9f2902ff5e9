#pragma once
// Connections of a server in virtual time, with scripted peers.

#include "coxswain/server/connections.hpp"
#include "tests/net/sockets.hpp"
#include "tests/server/messages.hpp"

#include <boost/test/unit_test.hpp>

#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::server::fake_streams {

inline constexpr time_point t0{1000s};

// A stream whose peer reads as the test says: it accepts `room` bytes, of which `unread` are not
// read yet. Input comes from a socket.
struct fake_stream final : net::byte_stream {
  explicit fake_stream(net::socket socket) : input{std::move(socket)} {}

  net::transfer read_some(std::span<char> into) noexcept override {
    auto const got = input.read_some(into);
    if (at_read) std::exchange(at_read, nullptr)();
    return got;
  }
  net::transfer write_some(std::span<iovec const> pieces) noexcept override {
    ++writes;
    if (at_write) std::exchange(at_write, nullptr)();
    if (broken) {
      boost::system::error_code const error{EPIPE, boost::system::system_category()};
      return {net::transfer::outcome::failed, 0, error};
    }
    auto const text = text_of(pieces).substr(0, room);
    written += text;
    room -= text.size();
    if (room == 0) fill();
    if (text.empty()) return {net::transfer::outcome::would_block, 0, {}};
    return {net::transfer::outcome::done, text.size(), {}};
  }
  void shut_write() noexcept override {
    shut = true;
    input.shut_write();
  }
  std::size_t unread_by_peer() const noexcept override { return unread; }
  int native_handle() const noexcept override { return input.native_handle(); }

  // Fills its socket, so that the poller does not report it writable.
  void fill() {
    std::string const block(4'096, 'x');
    while (::send(native_handle(), block.data(), block.size(), MSG_NOSIGNAL) > 0) {
    }
  }

  net::socket_stream input;
  std::size_t room{std::numeric_limits<std::size_t>::max()};
  std::size_t unread{};
  std::string written;
  std::function<void()> at_read;
  std::function<void()> at_write;
  int writes{};
  bool broken{};
  bool shut{};
};

// Connections in virtual time: the test runs each iteration.
struct world : net::iteration_owner {
  explicit world(options made = with_defaults()) : o{std::move(made)} {
    t.now = t0;
    polled.start();
  }
  ~world() { all.forget_all(); }

  time_point iteration_begins() noexcept override {
    t.bytes_read = 0;
    return t.now;
  }
  void iteration_ends() noexcept override {
    ++iterations;
    t.take_in();
    all.visit_due();
    logic.advance(t.now);
    all.deliver();
    all.clear_away();
  }

  // One iteration at `now`. Until then time passes for the core as in a loop that never stalls.
  void run(time_point now = t0) {
    for (; t.now + 50ms < now; t.now += 50ms) logic.advance(t.now);
    t.now = now;
    polled.request_iteration();
    io.restart();
    io.poll();
  }

  static options with_defaults() {
    options o;
    o.core.num_tasks = 1;
    o.core.heartbeat_timeout = 1h;
    return o;
  }

  // A connection with a fake_stream that has received the reply to its Hello.
  fake_stream& add_fake_stream() {
    auto ends = net::unix_pair();
    auto stream = std::make_unique<fake_stream>(std::move(ends.first));
    auto& made = *stream;
    peers.push_back(std::move(ends.second));
    last = &all.add(logic.open(t.now, "peer", {}), std::move(stream));
    send(hello_frame());
    run(t.now);
    message_reader reader;
    reader.feed(made.written);
    BOOST_TEST(std::holds_alternative<boxed<core::hello_answer>>(reader.take().what.value));
    made.written.clear();
    return made;
  }
  void send(std::string const& text) {
    BOOST_TEST_REQUIRE(::send(peers.back().value(), text.data(), text.size(), MSG_NOSIGNAL) ==
                       static_cast<ssize_t>(text.size()));
  }

  // From now on, this fake_stream's peer accepts `room` bytes.
  void unblock(fake_stream& stream, std::size_t room) {
    stream.room = room;
    std::string sink(1 << 20, ' ');
    for (auto const& peer : peers) {
      while (::recv(peer.value(), sink.data(), sink.size(), 0) > 0) {
      }
    }
  }

  asio::io_context io{1};
  options o;
  dispatch logic{o, incarnation{1}, t0};
  net::poller polled{io, *this};
  loop_iteration t{logic, polled, o, [this] { return t.now; }};
  connections all{t};
  std::vector<net::socket> peers;
  connection* last{};  // that of the last fake_stream
  int iterations{};
};

}  // namespace coxswain::server::fake_streams
