#include "coxswain/client/transport.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <string>
#include <utility>

namespace coxswain {
namespace {

namespace error = asio::error;
using boost::system::error_code;

error_code last_error() { return {errno, boost::system::system_category()}; }

struct addresses {
  addresses() = default;

  std::vector<net::socket_address> found;
  status why;  // if none
};

addresses looked_up(result<std::vector<net::socket_address>> const& from) {
  addresses to;
  if (from) {
    to.found = *from;
  } else {
    to.why = from.error();
  }
  return to;
}

// Only names are looked up, by a thread of Asio's.
asio::awaitable<addresses> look_up(asio::any_io_executor executor, net::endpoint to) {
  error_code failure;
  if (!to.is_unix()) asio::ip::make_address(to.host(), failure);
  if (!failure) co_return looked_up(to.resolve(net::endpoint::purpose::connect));

  asio::ip::tcp::resolver resolver{executor};
  std::string const host = to.host().empty() ? "localhost" : to.host();
  auto const found = co_await resolver.async_resolve(
      host, std::to_string(to.port()), asio::ip::resolver_base::numeric_service,
      asio::redirect_error(asio::use_awaitable, failure));
  addresses known;
  for (auto const& one : found) {
    auto const address = one.endpoint();
    known.found.emplace_back(address.data(), static_cast<socklen_t>(address.size()));
  }
  if (known.found.empty()) {
    known.why = status{errc::unavailable, "the host name '" + host + "' cannot be resolved: " +
                                              (failure ? failure.message() : "it has no address")};
  }
  co_return known;
}

bool is_refusal(error_code failure) {
  return failure == error::connection_refused ||
         failure == boost::system::errc::no_such_file_or_directory;
}

}  // namespace

asio::awaitable<reach_failure> transport::open(std::shared_ptr<transport> self, net::endpoint to,
                                               std::uint64_t first) {
  auto known = co_await look_up(self->executor_, to);
  reach_failure failure;
  failure.why = known.why;
  std::size_t refusals = 0;
  for (std::size_t i = 0; i < known.found.size() && !self->dropped_; ++i) {
    auto const& address = known.found[(first + i) % known.found.size()];
    auto const result = co_await connect(self, address);
    if (!result && !self->certificates_) {
      self->is_open_ = true;
      failure.why = {};
      co_return failure;
    }
    if (!result) {
      failure.why = co_await shake_hands(self, to.host());
      failure.turned_away = self->turned_away();
      self->is_open_ = failure.why.ok();
      if (self->is_open_ || failure.turned_away) co_return failure;
      self->close();
      continue;
    }
    if (is_refusal(result)) ++refusals;
    failure.why = status{errc::unavailable,
                         "connecting to " + address.text() + " failed: " + result.message()};
  }
  failure.refused = refusals != 0 && refusals == known.found.size();
  co_return failure;
}

asio::awaitable<error_code> transport::connect(std::shared_ptr<transport> self,
                                               net::socket_address to) {
  int const type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
  self->socket_ = net::descriptor{::socket(to.family(), type, 0)};
  int const socket = self->socket_.value();
  if (socket < 0) co_return last_error();
  if (::connect(socket, to.data(), to.size()) != 0 && errno != EINPROGRESS && errno != EINTR) {
    co_return last_error();
  }
  self->watch_.emplace(self->executor_, socket);
  error_code failure;
  co_await self->watch_->async_wait(asio::posix::stream_descriptor::wait_write,
                                    asio::redirect_error(asio::use_awaitable, failure));
  if (self->dropped_) co_return error::operation_aborted;
  int problem = 0;
  socklen_t size = sizeof(problem);
  if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &problem, &size) != 0) problem = errno;
  if (!failure) failure.assign(problem, boost::system::system_category());
  if (failure) {
    self->watch_->release();
    self->watch_.reset();
    co_return failure;
  }
  self->peer_ = to.text();
  self->stream_ =
      std::make_unique<net::socket_stream>(std::move(self->socket_), self->peer_timeout_);
  co_return failure;
}

asio::awaitable<status> transport::shake_hands(std::shared_ptr<transport> self, std::string host) {
  using step = net::tls_stream::step;
  if (host.empty()) host = "localhost";
  auto tls = std::make_unique<net::tls_stream>(std::move(self->stream_), *self->certificates_,
                                               std::move(host));
  self->tls_ = tls.get();
  self->stream_ = std::move(tls);
  for (;;) {
    auto const now = self->tls_->handshake();
    if (now == step::done) co_return status{};
    if (now == step::failed) break;
    if (now == step::wants_write) {
      co_await writable(self);
    } else {
      co_await readable(self);
    }
    if (self->dropped_) co_return status{errc::cancelled, "it was given up"};
  }
  auto const& why = self->tls_->problem();
  co_return status{why.code(), "connecting to " + self->peer_ + " failed: " + why.message()};
}

asio::awaitable<void> transport::readable(std::shared_ptr<transport> self) {
  error_code ignored;
  co_await self->watch_->async_wait(asio::posix::stream_descriptor::wait_read,
                                    asio::redirect_error(asio::use_awaitable, ignored));
}

asio::awaitable<void> transport::writable(std::shared_ptr<transport> self) {
  error_code ignored;
  co_await self->watch_->async_wait(asio::posix::stream_descriptor::wait_write,
                                    asio::redirect_error(asio::use_awaitable, ignored));
}

net::transfer transport::write_some(std::string_view bytes) noexcept {
  iovec const piece{const_cast<char*>(bytes.data()), bytes.size()};
  return stream_->write_some({&piece, 1});
}

status transport::loss(net::transfer const& how) const {
  bool const eof = how.how == net::transfer::outcome::eof;
  if (!eof && tls_ != nullptr) {
    return {tls_->problem().code(),
            "the connection to " + peer_ + " was lost: " + tls_->problem().message()};
  }
  return {errc::unavailable, "the connection to " + peer_ + " was lost: " +
                                 (eof ? "closed by the coordinator" : how.error.message())};
}

bool transport::turned_away() const noexcept {
  if (tls_ == nullptr) return false;
  auto const code = tls_->problem().code();
  return code == errc::unauthenticated || code == errc::failed_precondition;
}

void transport::peer_timeout(duration longest) noexcept {
  if (stream_) net::tune(stream_->native_handle(), longest);
}

void transport::drop() noexcept {
  dropped_ = true;
  close();
  socket_.close();
}

void transport::close() noexcept {
  if (watch_) watch_->release();
  watch_.reset();
  tls_ = nullptr;
  stream_.reset();
}

}  // namespace coxswain
