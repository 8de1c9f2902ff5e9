#include "coxswain/net/transport.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <string>
#include <utility>

namespace coxswain::net {
namespace {

using boost::system::error_code;

error_code last_error() { return {errno, boost::system::system_category()}; }

bool is_refusal(error_code failure) {
  return failure == asio::error::connection_refused ||
         failure == boost::system::errc::no_such_file_or_directory;
}

}  // namespace

asio::awaitable<reach_failure> transport::open(std::shared_ptr<transport> self, endpoint to,
                                               std::uint64_t first,
                                               std::function<void(attempt_stage)> on_stage) {
  self->lookup_ = std::make_shared<name_lookup>(to);
  auto const found = co_await name_lookup::run(self->lookup_);
  reach_failure failure;
  if (!found) {
    failure.why = found.error();
    co_return failure;
  }
  std::size_t refusals = 0;
  for (std::size_t i = 0; i < found->size() && !self->dropped_; ++i) {
    auto const& address = (*found)[(first + i) % found->size()];
    if (on_stage) on_stage(attempt_stage::connecting);
    auto const result = co_await connect(self, address);
    if (!result && !self->certificates_) {
      self->is_open_ = true;
      failure.why = {};
      co_return failure;
    }
    if (!result) {
      if (on_stage) on_stage(attempt_stage::tls_handshake);
      failure.why = co_await shake_hands(self, to.host());
      failure.rejected = self->rejected();
      self->is_open_ = failure.why.ok();
      if (self->is_open_ || failure.rejected) co_return failure;
      self->close();
      continue;
    }
    if (is_refusal(result)) ++refusals;
    failure.why = status{errc::unavailable,
                         "connecting to " + address.text() + " failed: " + result.message()};
  }
  failure.refused = refusals != 0 && refusals == found->size();
  co_return failure;
}

asio::awaitable<error_code> transport::connect(std::shared_ptr<transport> self, socket_address to) {
  int const type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
  self->socket_ = socket{::socket(to.family(), type, 0)};
  int const socket = self->socket_.value();
  if (socket < 0) co_return last_error();
  if (::connect(socket, to.data(), to.size()) != 0 && errno != EINPROGRESS && errno != EINTR) {
    co_return last_error();
  }
  self->watch_.emplace(self->executor_, socket);
  error_code failure;
  co_await self->watch_->async_wait(asio::posix::stream_descriptor::wait_write,
                                    asio::redirect_error(asio::use_awaitable, failure));
  if (self->dropped_) co_return asio::error::operation_aborted;
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
  tune(socket, self->peer_timeout_);
  self->stream_ = std::make_unique<socket_stream>(std::move(self->socket_));
  co_return failure;
}

asio::awaitable<status> transport::shake_hands(std::shared_ptr<transport> self, std::string host) {
  using step = tls_stream::step;
  if (host.empty()) host = "localhost";
  auto tls = std::make_unique<tls_stream>(std::move(self->stream_), *self->certificates_,
                                          std::move(host), self->protocol_);
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
  self->reader_waits_ = true;
  co_await self->watch_->async_wait(asio::posix::stream_descriptor::wait_read,
                                    asio::redirect_error(asio::use_awaitable, ignored));
  self->reader_waits_ = false;
}

void transport::wake_reader() noexcept {
  error_code ignored;
  if (reader_waits_ && watch_) watch_->cancel(ignored);
}

asio::awaitable<void> transport::writable(std::shared_ptr<transport> self) {
  error_code ignored;
  co_await self->watch_->async_wait(asio::posix::stream_descriptor::wait_write,
                                    asio::redirect_error(asio::use_awaitable, ignored));
}

transfer transport::write_some(std::string_view bytes) noexcept {
  iovec const piece{const_cast<char*>(bytes.data()), bytes.size()};
  return stream_->write_some({&piece, 1});
}

status transport::loss(transfer const& how, std::string_view peer) const {
  bool const eof = how.how == transfer::outcome::eof;
  if (!eof && tls_ != nullptr) {
    return {tls_->problem().code(),
            "the connection to " + peer_ + " was lost: " + tls_->problem().message()};
  }
  return {errc::unavailable, "the connection to " + peer_ + " was lost: " +
                                 (eof ? "closed by " + std::string{peer} : how.error.message())};
}

bool transport::rejected() const noexcept {
  if (tls_ == nullptr) return false;
  auto const code = tls_->problem().code();
  return code == errc::unauthenticated || code == errc::failed_precondition;
}

void transport::peer_timeout(duration longest) noexcept {
  if (stream_) tune(stream_->native_handle(), longest);
}

void transport::drop() noexcept {
  dropped_ = true;
  if (lookup_) lookup_->abandon();
  close();
  socket_.close();
}

void transport::close() noexcept {
  if (watch_) watch_->release();
  watch_.reset();
  tls_ = nullptr;
  stream_.reset();
}

}  // namespace coxswain::net
