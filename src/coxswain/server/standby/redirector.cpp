#include "coxswain/server/standby/redirector.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/net/tls_stream.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <span>
#include <utility>

namespace coxswain::server {
namespace {

// Each stays until it has read its Goodbye, or for the time limit of a Hello.
constexpr std::size_t peers_max = 4096;

// Without descriptors, accepting rests.
constexpr duration rest = 100ms;

// Waits within one peer's time limit.
struct peer {
  peer(asio::io_context& io, std::unique_ptr<net::byte_stream> over)
      : stream{std::move(over)}, ready{io, stream->native_handle()}, limit{io} {}
  ~peer() { ready.release(); }

  std::unique_ptr<net::byte_stream> stream;
  asio::posix::stream_descriptor ready;
  asio::steady_timer limit;
  bool is_late{};
};

using wait_for = asio::posix::stream_descriptor::wait_type;

asio::awaitable<void> wait(std::shared_ptr<peer> from, wait_for what) {
  boost::system::error_code ignored;
  co_await from->ready.async_wait(what, asio::redirect_error(asio::use_awaitable, ignored));
}

asio::awaitable<bool> shake_hands(std::shared_ptr<peer> from, net::tls_stream& tls) {
  using step = net::tls_stream::step;
  while (!from->is_late) {
    auto const now = tls.handshake();
    if (now == step::done) co_return true;
    if (now == step::failed) co_return false;
    auto what = asio::posix::stream_descriptor::wait_read;
    if (now == step::wants_write) what = asio::posix::stream_descriptor::wait_write;
    co_await wait(from, what);
  }
  co_return false;
}

// False at its end. What it says does not matter.
asio::awaitable<bool> read(std::shared_ptr<peer> from) {
  using outcome = net::transfer::outcome;
  std::array<char, 4096> some;
  while (!from->is_late) {
    auto const got = from->stream->read_some(some);
    if (got.how == outcome::done) co_return true;
    if (got.how != outcome::would_block) break;
    co_await wait(from, asio::posix::stream_descriptor::wait_read);
  }
  co_return false;
}

}  // namespace

redirector::redirector(asio::io_context& io, options const& o)
    : io_{io}, timeout_{o.core.hello_timeout} {
  if (o.tls.is_wanted()) {
    certificates_ = std::make_unique<net::tls_context>(net::tls_context::side::server, o.tls);
    reload_at_ = deadline_after(std::chrono::steady_clock::now(), o.tls.reload_period);
  }
  listener::terms terms;
  terms.must_be_private = o.core.credentials.empty() && o.tls.ca.empty() && !o.insecure;
  terms.peer_timeout = timeout_;
  for (auto const& address : o.listen) {
    listeners_.push_back(std::make_unique<listener>(address, terms));
    addresses_.push_back(listeners_.back()->address());
  }
}

void redirector::start() {
  for (std::size_t i = 0; i < listeners_.size(); ++i) {
    accepting_.push_back(std::make_unique<watch>(io_, listeners_[i]->descriptor()));
    asio::co_spawn(io_, accept(shared_from_this(), i), asio::detached);
  }
}

void redirector::stop() {
  for (auto const& acceptor : accepting_) acceptor->release();
  accepting_.clear();
}

void redirector::reload_certificates() {
  if (!certificates_) return;
  reload_at_ =
      deadline_after(std::chrono::steady_clock::now(), certificates_->options().reload_period);
  certificates_->reload();
}

std::vector<std::string> redirector::inherited() const {
  std::vector<std::string> made;
  for (auto const& listener : listeners_) {
    int const copy = ::fcntl(listener->descriptor(), F_DUPFD_CLOEXEC, 0);
    if (copy < 0) throw error{{errc::resource_exhausted, "no descriptor for a listener"}};
    made.push_back("fd://" + std::to_string(copy));
  }
  return made;
}

asio::awaitable<void> redirector::accept(std::shared_ptr<redirector> self, std::size_t which) {
  asio::steady_timer timer{self->io_};
  boost::system::error_code problem;
  int const listening = self->listeners_[which]->descriptor();
  while (which < self->accepting_.size()) {
    int const socket = ::accept4(listening, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket >= 0) {
      asio::co_spawn(self->io_, answer(self, socket), asio::detached);
    } else if (errno == EAGAIN) {
      co_await self->accepting_[which]->async_wait(
          watch::wait_read, asio::redirect_error(asio::use_awaitable, problem));
    } else if (errno != ECONNABORTED && errno != EINTR) {
      timer.expires_after(rest);
      co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, problem));
    }
  }
}

asio::awaitable<void> redirector::answer(std::shared_ptr<redirector> self, int socket) {
  std::unique_ptr<net::byte_stream> stream =
      std::make_unique<net::socket_stream>(net::socket{socket});
  if (self->peers_ >= peers_max) co_return;
  struct count {
    explicit count(std::size_t& in) : of{in} { ++of; }
    ~count() { --of; }
    std::size_t& of;
  } const counted{self->peers_};
  net::tls_stream* tls = nullptr;
  if (self->reload_at_ <= std::chrono::steady_clock::now()) {
    try {
      self->reload_certificates();
    } catch (error const&) {
      // the previous ones remain in use
    }
  }
  auto const address = net::socket_address::peer(socket);
  if (self->certificates_ && address && address->family() != AF_UNIX) {
    auto made = std::make_unique<net::tls_stream>(std::move(stream), *self->certificates_);
    tls = made.get();
    stream = std::move(made);
  }
  auto const new_peer = std::make_shared<peer>(self->io_, std::move(stream));
  new_peer->limit.expires_after(self->timeout_);
  new_peer->limit.async_wait([weak = std::weak_ptr{new_peer}](boost::system::error_code aborted) {
    auto const late = aborted ? nullptr : weak.lock();
    if (!late) return;
    late->is_late = true;
    late->ready.cancel();
  });
  if (tls != nullptr) {
    bool const is_secure = co_await shake_hands(new_peer, *tls);
    if (!is_secure) co_return;
  }
  bool const has_spoken = co_await read(new_peer);
  if (!has_spoken) co_return;
  iovec const piece{self->goodbye_.data(), self->goodbye_.size()};
  static_cast<void>(new_peer->stream->write_some({&piece, 1}));
  new_peer->stream->shut_write();
  while (co_await read(new_peer)) {
  }
}

}  // namespace coxswain::server
