#include "coxswain/net/byte_stream.hpp"

#include "tests/net/sockets.hpp"

#include <boost/test/unit_test.hpp>

#include <netinet/tcp.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::net {
namespace {

using outcome = transfer::outcome;

int option(int socket, int level, int name) {
  int value = -1;
  socklen_t size = sizeof(value);
  ::getsockopt(socket, level, name, &value, &size);
  return value;
}

iovec piece(std::string_view text) { return {const_cast<char*>(text.data()), text.size()}; }

// Both kinds of socket.
struct streams {
  explicit streams(std::pair<socket, socket> ends)
      : here{std::move(ends.first)}, there{std::move(ends.second)} {}

  std::string read(std::size_t room = 1024) {
    std::vector<char> buffer(room);
    auto const got = here.read_some(buffer);
    BOOST_TEST_REQUIRE((got.how == outcome::done));
    return {buffer.data(), got.bytes};
  }
  outcome read_outcome() {
    std::array<char, 16> buffer{};
    return here.read_some(buffer).how;
  }

  socket_stream here;
  socket_stream there;
};

template <class Check>
void on_both_kinds(Check check) {
  BOOST_TEST_CONTEXT("Unix") {
    streams s{unix_pair()};
    check(s);
  }
  BOOST_TEST_CONTEXT("TCP") {
    streams s{tcp_pair()};
    check(s);
  }
}

BOOST_AUTO_TEST_SUITE(byte_stream_test)

BOOST_AUTO_TEST_CASE(pieces_are_written_in_order) {
  on_both_kinds([](streams& s) {
    std::array const three{piece("one "), piece("two "), piece("three")};
    std::array const single{piece("!")};

    BOOST_TEST(s.there.write_some(three).bytes == 13u);
    BOOST_TEST(s.there.write_some(single).bytes == 1u);
    wait_for_bytes(s.here.native_handle(), 14);

    BOOST_TEST(s.read() == "one two three!");
  });
}

BOOST_AUTO_TEST_CASE(a_full_buffer_can_leave_unread_data) {
  on_both_kinds([](streams& s) {
    std::array const five{piece("12345")};
    (void)s.there.write_some(five);
    wait_for_bytes(s.here.native_handle(), 5);

    BOOST_TEST(s.read(3) == "123");
    BOOST_TEST(s.read(3) == "45");
    BOOST_TEST((s.read_outcome() == outcome::would_block));
  });
}

BOOST_AUTO_TEST_CASE(shut_write_is_eof_to_the_peer_and_reading_continues) {
  on_both_kinds([](streams& s) {
    std::array const last{piece("last")};
    (void)s.here.write_some(last);
    s.here.shut_write();
    s.there.shut_write();
    wait_for_hang_up(s.here.native_handle());

    BOOST_TEST((s.read_outcome() == outcome::eof));
    std::array<char, 16> buffer{};
    BOOST_TEST(s.there.read_some(buffer).bytes == 4u);
    BOOST_TEST((s.there.read_some(buffer).how == outcome::eof));
  });
}

BOOST_AUTO_TEST_CASE(a_full_socket_blocks_and_reports_unread_bytes) {
  on_both_kinds([](streams& s) {
    std::string const block(1 << 20, 'x');
    std::array const pieces{piece(block)};
    std::size_t written = 0;
    transfer last;
    while ((last = s.there.write_some(pieces)).how == outcome::done) written += last.bytes;

    BOOST_TEST((last.how == outcome::would_block));
    BOOST_TEST(written > 0u);
    auto const before = s.there.unread_by_peer();
    BOOST_TEST(before > 0u);

    std::vector<char> buffer(written);
    std::size_t read = 0;
    while (read < written) {
      auto const got = s.here.read_some(buffer);
      if (got.how == outcome::would_block) {
        wait_for_bytes(s.here.native_handle(), 1);
        continue;
      }
      BOOST_TEST_REQUIRE((got.how == outcome::done));
      read += got.bytes;
    }
    wait_until([&] { return s.there.unread_by_peer() == 0; });
  });
}

BOOST_AUTO_TEST_CASE(writing_to_a_closed_peer_is_an_error_and_no_signal) {
  auto ends = unix_pair();
  socket_stream here{std::move(ends.first)};
  ends.second.close();
  std::array const pieces{piece("x")};

  auto const sent = here.write_some(pieces);

  BOOST_TEST((sent.how == outcome::failed));
  BOOST_TEST(sent.error == boost::system::errc::broken_pipe);
}

BOOST_AUTO_TEST_CASE(tcp_sockets_are_tuned) {
  auto const ends = tcp_pair();
  int const socket = ends.first.value();

  tune(socket, 100s);

  BOOST_TEST(option(socket, IPPROTO_TCP, TCP_NODELAY) == 1);
  BOOST_TEST(option(socket, SOL_SOCKET, SO_KEEPALIVE) == 1);
  BOOST_TEST(option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT) == 100'000);
  BOOST_TEST(option(socket, IPPROTO_TCP, TCP_KEEPIDLE) == 50);
  BOOST_TEST(option(socket, IPPROTO_TCP, TCP_KEEPINTVL) == 16);
}

BOOST_AUTO_TEST_CASE(extreme_timeouts_are_clamped_to_the_kernels_range) {
  auto const ends = tcp_pair();

  tune(ends.first.value(), without_limit);
  tune(ends.second.value(), 0s);

  BOOST_TEST(option(ends.first.value(), IPPROTO_TCP, TCP_USER_TIMEOUT) == 86'400'000);
  BOOST_TEST(option(ends.first.value(), IPPROTO_TCP, TCP_KEEPIDLE) == 32'767);
  BOOST_TEST(option(ends.second.value(), IPPROTO_TCP, TCP_USER_TIMEOUT) == 1);
  BOOST_TEST(option(ends.second.value(), IPPROTO_TCP, TCP_KEEPIDLE) == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::net
