#include "coxswain/net/byte_stream.hpp"

#include <boost/system/system_category.hpp>

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

namespace coxswain::net {
namespace {

void set(int socket, int level, int option, int value) noexcept {
  ::setsockopt(socket, level, option, &value, sizeof(value));
}

int family_of(int socket) noexcept {
  int family = AF_UNSPEC;
  socklen_t size = sizeof(family);
  ::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &family, &size);
  return family;
}

transfer failed_with(int error) noexcept {
  if (error == EAGAIN || error == EWOULDBLOCK) return {transfer::outcome::would_block, 0, {}};
  return {transfer::outcome::failed, 0, {error, boost::system::system_category()}};
}

transfer moved(std::size_t bytes) noexcept { return {transfer::outcome::done, bytes, {}}; }

ssize_t send_pieces(int socket, std::span<iovec const> pieces) noexcept {
  if (pieces.size() == 1) {
    return ::send(socket, pieces[0].iov_base, pieces[0].iov_len, MSG_NOSIGNAL);
  }
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(pieces.data());  // sendmsg writes nothing there
  message.msg_iovlen = pieces.size();
  return ::sendmsg(socket, &message, MSG_NOSIGNAL);
}

}  // namespace

void tune(int socket, duration peer_timeout) noexcept {
  auto const family = family_of(socket);
  if (family != AF_INET && family != AF_INET6) return;
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  auto const ms = std::chrono::ceil<std::chrono::milliseconds>(
      std::clamp(peer_timeout, duration{1ms}, duration{std::chrono::hours{24}}));
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(ms.count()));
  // The kernel probes a connection that is silent for half of it, and again a few times before the
  // time is over.
  constexpr std::chrono::seconds longest{32767};  // the kernel's limit
  auto const seconds = std::chrono::ceil<std::chrono::seconds>(ms);
  auto const idle = std::clamp(seconds / 2, std::chrono::seconds{1}, longest);
  auto const interval = std::clamp(seconds / 6, std::chrono::seconds{1}, longest);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, static_cast<int>(idle.count()));
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, static_cast<int>(interval.count()));
}

transfer socket_stream::read_some(std::span<char> into) noexcept {
  for (;;) {
    auto const got = ::recv(socket_.value(), into.data(), into.size(), 0);
    if (got > 0) return moved(static_cast<std::size_t>(got));
    if (got == 0) return {transfer::outcome::eof, 0, {}};
    if (errno != EINTR) return failed_with(errno);
  }
}

transfer socket_stream::write_some(std::span<iovec const> pieces) noexcept {
  for (;;) {
    auto const sent = send_pieces(socket_.value(), pieces);
    if (sent > 0) return moved(static_cast<std::size_t>(sent));
    if (sent == 0) return {transfer::outcome::would_block, 0, {}};
    if (errno != EINTR) return failed_with(errno);
  }
}

bool byte_stream::has_unread() const noexcept {
  int bytes = 0;
  return ::ioctl(native_handle(), FIONREAD, &bytes) == 0 && bytes > 0;
}

void socket_stream::shut_write() noexcept { ::shutdown(socket_.value(), SHUT_WR); }

std::size_t socket_stream::unread_by_peer() const noexcept {
  int bytes = 0;
  if (::ioctl(socket_.value(), SIOCOUTQ, &bytes) != 0) return 0;
  return static_cast<std::size_t>(std::max(bytes, 0));
}

}  // namespace coxswain::net
