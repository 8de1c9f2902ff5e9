#include "coxswain/status/page.hpp"

#include "coxswain/net/socket.hpp"
#include "coxswain/status/http_connection.hpp"
#include "coxswain/status/page_context.hpp"
#include "coxswain/status/page_listener.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <new>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace coxswain::status_page {
namespace {

// How long the listener rests when there are no descriptors left.
constexpr duration rest = 100ms;

// How long watchers may take to get the last picture of the job, and how often it is checked.
constexpr duration finish_max = 1s;
constexpr duration finish_period = 10ms;

}  // namespace

// Lives as long as its page and the coroutines that wait in it.
class page::impl final : public std::enable_shared_from_this<impl>, public watch_registry {
 public:
  impl(asio::io_context& io, std::unique_ptr<job_source> job, options const& o)
      : job_{std::move(job)},
        acceptor_{listener_at(io, o)},
        address_{text_of(acceptor_.local_endpoint())},
        pause_{io},
        beat_{io},
        context_{*job_, o, access_of(o, acceptor_.local_endpoint())} {
    if (!o.tls.is_wanted()) return;
    certificates_.emplace(net::tls_context::side::server, o.tls);
    reload_at_ = deadline_after(std::chrono::steady_clock::now(), o.tls.reload_period);
  }

  static asio::awaitable<void> accept(std::shared_ptr<impl> self);
  static asio::awaitable<void> finish(std::shared_ptr<impl> self);
  void reload_certificates();
  void close() noexcept;
  void replace_credentials(std::vector<core::credential> by) {
    context_.gate.replace_credentials(std::move(by));
  }

  [[nodiscard]] std::string const& address() const { return address_; }
  [[nodiscard]] std::string url() const;
  [[nodiscard]] std::size_t connections() const { return connections_.size(); }

 private:
  void enter(watcher& who) override;
  void leave(watcher& who) noexcept override;
  void welcome(asio::ip::tcp::socket socket);
  void keep_for_probes(std::shared_ptr<http_connection> connection);
  void reload_now_and_then() noexcept;
  void look();
  static asio::awaitable<void> follow(std::shared_ptr<impl> self);

  std::unique_ptr<job_source> job_;
  asio::ip::tcp::acceptor acceptor_;
  std::string address_;
  asio::steady_timer pause_;
  asio::steady_timer beat_;
  page_context context_;
  std::optional<net::tls_context> certificates_;
  time_point reload_at_{time_point::max()};
  std::set<std::shared_ptr<http_connection>> connections_;
  std::deque<std::shared_ptr<http_connection>> probes_;  // beyond connections_max, oldest first
  std::set<watcher*> watchers_;
  bool is_following_{};
};

asio::awaitable<void> page::impl::accept(std::shared_ptr<impl> self) {
  net::close_on_fork(self->acceptor_.native_handle());
  boost::system::error_code problem;
  while (!self->context_.is_closed) {
    asio::ip::tcp::socket socket{self->acceptor_.get_executor()};
    co_await self->acceptor_.async_accept(socket,
                                          asio::redirect_error(asio::use_awaitable, problem));
    if (self->context_.is_closed) co_return;
    if (!problem) {
      self->welcome(std::move(socket));
      continue;
    }
    self->pause_.expires_after(rest);
    co_await self->pause_.async_wait(asio::redirect_error(asio::use_awaitable, problem));
  }
}

void page::impl::welcome(asio::ip::tcp::socket socket) try {
  bool const is_full = connections_.size() - probes_.size() >= context_.given.connections_max;
  if (reload_at_ <= std::chrono::steady_clock::now()) reload_now_and_then();
  auto const* const certificates = certificates_ ? &*certificates_ : nullptr;
  auto const connection =
      std::make_shared<http_connection>(std::move(socket), certificates, context_, *this, is_full);
  connections_.insert(connection);
  if (is_full) keep_for_probes(connection);
  // An error on a connection ends only that connection.
  asio::co_spawn(acceptor_.get_executor(), http_connection::serve(connection),
                 [self = shared_from_this(), connection](std::exception_ptr) {
                   connection->close();
                   self->connections_.erase(connection);
                   std::erase(self->probes_, connection);
                 });
} catch (std::bad_alloc const&) {
  // Its peer can retry when there is more memory.
}

// A probe is answered at once, so it is the slow ones that are cut off.
void page::impl::keep_for_probes(std::shared_ptr<http_connection> connection) {
  probes_.push_back(std::move(connection));
  if (probes_.size() <= context_.given.probe_connections_max) return;
  probes_.front()->close();
  connections_.erase(probes_.front());
  probes_.pop_front();
}

// A browser on this host cannot use "all addresses".
std::string page::impl::url() const {
  auto at = acceptor_.local_endpoint();
  if (at.address().is_unspecified()) at.address(asio::ip::address_v4::loopback());
  return (certificates_ ? "https://" : "http://") + text_of(at) + '/';
}

void page::impl::reload_certificates() {
  if (!certificates_) return;
  reload_at_ =
      deadline_after(std::chrono::steady_clock::now(), certificates_->options().reload_period);
  certificates_->reload();
}

// The server reports what is wrong with them.
void page::impl::reload_now_and_then() noexcept {
  try {
    reload_certificates();
  } catch (std::exception const&) {
  }
}

void page::impl::enter(watcher& who) {
  watchers_.insert(&who);
  if (is_following_) return;
  look();
  if (job_->recorded()) return;  // it does not change
  is_following_ = true;
  asio::co_spawn(acceptor_.get_executor(), follow(shared_from_this()),
                 [self = shared_from_this()](std::exception_ptr) { self->is_following_ = false; });
}

void page::impl::leave(watcher& who) noexcept { watchers_.erase(&who); }

void page::impl::look() {
  auto const now = std::chrono::steady_clock::now();
  auto const job = context_.picture.look(now);
  auto const why = context_.picture.why(now);
  if (!context_.feed.look(job, why, job_->last_event())) return;
  for (auto* const watcher : watchers_) watcher->wake();
}

asio::awaitable<void> page::impl::follow(std::shared_ptr<impl> self) {
  boost::system::error_code ended;
  while (!self->watchers_.empty()) {
    self->beat_.expires_after(self->context_.given.live_period);
    co_await self->beat_.async_wait(asio::redirect_error(asio::use_awaitable, ended));
    if (ended || self->context_.is_closed) co_return;
    self->look();
  }
}

asio::awaitable<void> page::impl::finish(std::shared_ptr<impl> self) {
  if (self->watchers_.empty()) co_return;
  self->context_.picture.forget();
  self->look();
  auto const end = std::chrono::steady_clock::now() + finish_max;
  auto const is_current = [](watcher const* one) { return one->is_current(); };
  asio::steady_timer pause{self->acceptor_.get_executor()};
  boost::system::error_code ignored;
  while (!std::all_of(self->watchers_.begin(), self->watchers_.end(), is_current) &&
         std::chrono::steady_clock::now() < end) {
    pause.expires_after(finish_period);
    co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

void page::impl::close() noexcept {
  boost::system::error_code ignored;
  context_.is_closed = true;
  net::keep_on_fork(acceptor_.native_handle());
  acceptor_.close(ignored);
  try {
    pause_.cancel();
    beat_.cancel();
  } catch (boost::system::system_error const&) {
  }
  for (auto const& connection : connections_) connection->close();
}

page::page(asio::io_context& io, server::server& job, options const& o)
    : page{io, std::make_unique<running_job>(job), o} {}

page::page(asio::io_context& io, std::unique_ptr<job_source> job, options const& o)
    : impl_{std::make_shared<impl>(io, std::move(job), o)} {
  asio::co_spawn(io, impl::accept(impl_), asio::detached);
}

page::~page() { impl_->close(); }

asio::awaitable<void> page::finish() { return impl::finish(impl_); }

void page::reload_certificates() { impl_->reload_certificates(); }

void page::replace_credentials(std::vector<core::credential> by) {
  impl_->replace_credentials(std::move(by));
}

std::string const& page::address() const { return impl_->address(); }

std::string page::url() const { return impl_->url(); }

std::size_t page::connections() const { return impl_->connections(); }

}  // namespace coxswain::status_page
