#include "wire_stream.hpp"

#include "bench_error.hpp"

#include <boost/system/system_category.hpp>

#include <cerrno>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

namespace coxswain::bench {
namespace {

using outcome = net::transfer::outcome;

net::transfer transferred(ssize_t bytes) noexcept {
  if (bytes > 0) return {outcome::done, static_cast<std::size_t>(bytes), {}};
  if (bytes == 0) return {outcome::eof, 0, {}};
  if (errno == EAGAIN) return {outcome::would_block, 0, {}};
  return {outcome::failed, 0, {errno, boost::system::system_category()}};
}

// What TLS lies on.
class borrowed_socket final : public net::byte_stream {
 public:
  explicit borrowed_socket(int fd) : fd_{fd} {}

  net::transfer read_some(std::span<char> into) noexcept override {
    return transferred(::recv(fd_, into.data(), into.size(), MSG_DONTWAIT));
  }
  net::transfer write_some(std::span<iovec const> pieces) noexcept override {
    auto const& first = pieces.front();
    return transferred(::send(fd_, first.iov_base, first.iov_len, MSG_NOSIGNAL));
  }
  void shut_write() noexcept override { ::shutdown(fd_, SHUT_WR); }
  std::size_t unread_by_peer() const noexcept override { return 0; }
  int native_handle() const noexcept override { return fd_; }

 private:
  int fd_;
};

// As the calls of the kernel say it.
ssize_t said(net::transfer const& what) noexcept {
  if (what.how == outcome::done) return static_cast<ssize_t>(what.bytes);
  if (what.how == outcome::eof) return 0;
  errno = what.how == outcome::would_block ? EAGAIN : what.error.value();
  return -1;
}

void shake_hands(net::tls_stream& with) {
  using step = net::tls_stream::step;
  for (;;) {
    auto const now = with.handshake();
    if (now == step::done) return;
    if (now == step::failed) throw bench_error{"no TLS: " + with.problem().text()};
    pollfd waited{with.native_handle(), POLLIN, 0};
    ::poll(&waited, 1, -1);
  }
}

}  // namespace

wire_stream::wire_stream(net::descriptor socket, net::tls_context const* certificates)
    : socket_{std::move(socket)} {
  if (certificates == nullptr) return;
  tls_ = std::make_unique<net::tls_stream>(std::make_unique<borrowed_socket>(socket_.value()),
                                           *certificates, "localhost");
  shake_hands(*tls_);
}

ssize_t wire_stream::send(std::string_view bytes) noexcept {
  if (!tls_) return ::send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  iovec const piece{const_cast<char*>(bytes.data()), bytes.size()};
  return said(tls_->write_some({&piece, 1}));
}

ssize_t wire_stream::read(std::span<char> into) noexcept {
  if (!tls_) return ::recv(fd(), into.data(), into.size(), MSG_DONTWAIT);
  return said(tls_->read_some(into));
}

}  // namespace coxswain::bench
