#include "coxswain/status/standby_page.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/core/kernel/text.hpp"
#include "coxswain/net/socket.hpp"
#include "coxswain/net/tls_context.hpp"
#include "coxswain/status/authenticator.hpp"
#include "coxswain/status/http.hpp"
#include "coxswain/status/metrics.hpp"
#include "coxswain/status/page_listener.hpp"
#include "coxswain/status/process_usage.hpp"
#include "coxswain/status/target.hpp"
#include "coxswain/status/time_limit.hpp"
#include "coxswain/status/visitor_stream.hpp"

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <cstddef>
#include <exception>
#include <optional>
#include <utility>

namespace coxswain::status_page {
namespace {

namespace http = boost::beast::http;

// Further connections are closed at once.
constexpr std::size_t connections_max = 64;

// How long the listener rests when there are no descriptors left.
constexpr duration rest = 100ms;

struct reply {
  unsigned code{200};
  std::string text;
  std::string_view type{plain_type};
};

reply problem(unsigned code, status const& why) { return {code, error_json(why), json_type}; }

std::string who_leads(server::standby_view const& of) {
  if (of.leader.empty()) return "nobody leads, the last term is " + std::to_string(of.term);
  return "follows term " + std::to_string(of.term) + ", leader is " + of.leader;
}

std::string lag_of(server::standby_view const& of) {
  auto const age = core::in_words(of.lag);
  if (!of.lag_entries) return "etcd has not answered for " + age;
  if (*of.lag_entries == 0) return "up to date";
  return "lag " + std::to_string(*of.lag_entries) + " entries / " + age;
}

std::string readiness(server::standby_view const& of) {
  return "standby: " + who_leads(of) + ", " + lag_of(of) +
         (of.obstacle.empty() ? "\n" : "; cannot take over yet: " + of.obstacle + "\n");
}

std::string statement(server::standby_view const& of) {
  return "Job '" + of.job + "': this coordinator is a standby. " +
         (of.leader.empty() ? "Nobody leads the job at present.\n"
                            : "The leader is " + of.leader + ": use the page of that one.\n") +
         readiness(of);
}

}  // namespace

// Lives as long as its page and the coroutines that wait in it.
class standby_page::impl : public std::enable_shared_from_this<impl> {
 public:
  impl(asio::io_context& io, options o, std::function<server::standby_view()> view)
      : given_{std::move(o)},
        view_{std::move(view)},
        acceptor_{listener_at(io, given_)},
        address_{text_of(acceptor_.local_endpoint())},
        pause_{io},
        gate_{given_.credentials, access_of(given_, acceptor_.local_endpoint())} {
    if (given_.tls.is_wanted()) {
      certificates_.emplace(net::tls_context::side::server, given_.tls);
    }
  }

  static asio::awaitable<void> accept(std::shared_ptr<impl> self);
  void close() noexcept;

  void reload_certificates() {
    if (certificates_) certificates_->reload();
  }
  void replace_credentials(std::vector<core::credential> by) {
    gate_.replace_credentials(std::move(by));
  }
  [[nodiscard]] std::string const& address() const { return address_; }

 private:
  struct visitor {
    visitor(asio::ip::tcp::socket socket, net::tls_context const* certificates)
        : stream{std::move(socket), certificates}, limit{stream.get_executor(), [this] {
                                                           stream.close();
                                                         }} {}

    visitor_stream stream;
    time_limit limit;
  };

  static asio::awaitable<void> serve(std::shared_ptr<impl> self, std::shared_ptr<visitor> from);
  [[nodiscard]] reply answer(http_request const& asked) const;

  options given_;
  std::function<server::standby_view()> view_;
  asio::ip::tcp::acceptor acceptor_;
  std::string address_;
  asio::steady_timer pause_;
  authenticator gate_;
  std::optional<net::tls_context> certificates_;
  std::size_t connections_{};
  bool is_closed_{};
};

asio::awaitable<void> standby_page::impl::accept(std::shared_ptr<impl> self) {
  boost::system::error_code failure;
  while (!self->is_closed_) {
    asio::ip::tcp::socket socket{self->acceptor_.get_executor()};
    co_await self->acceptor_.async_accept(socket,
                                          asio::redirect_error(asio::use_awaitable, failure));
    if (self->is_closed_) co_return;
    if (failure) {
      self->pause_.expires_after(rest);
      co_await self->pause_.async_wait(asio::redirect_error(asio::use_awaitable, failure));
    } else if (self->connections_ < connections_max) {
      ++self->connections_;
      auto const* const certificates = self->certificates_ ? &*self->certificates_ : nullptr;
      auto const from = std::make_shared<visitor>(std::move(socket), certificates);
      // An error on a connection ends only that connection.
      asio::co_spawn(self->acceptor_.get_executor(), serve(self, from),
                     [self](std::exception_ptr) { --self->connections_; });
    }
  }
}

asio::awaitable<void> standby_page::impl::serve(std::shared_ptr<impl> self,
                                                std::shared_ptr<visitor> from) {
  boost::system::error_code failure;
  from->limit.set(self->given_.request_timeout);
  status const secured = co_await visitor_stream::shake_hands(from->stream);
  if (!secured.ok()) co_return;
  boost::beast::flat_buffer buffer{self->given_.header_bytes_max};
  http::request_parser<http::empty_body> in;
  in.header_limit(static_cast<std::uint32_t>(self->given_.header_bytes_max));
  co_await http::async_read_header(from->stream, buffer, in,
                                   asio::redirect_error(asio::use_awaitable, failure));
  if (failure || self->is_closed_) co_return;
  auto const& header = in.get();
  http_request asked;
  asked.method = header.method_string();
  asked.target = header.target();
  if (header.count(http::field::host) > 0) asked.host = std::string{header[http::field::host]};
  asked.authorization = std::string{header[http::field::authorization]};
  asked.is_certified = from->stream.is_certified();
  reply made = self->answer(asked);
  http::response<http::string_body> out{static_cast<http::status>(made.code), header.version()};
  out.set(http::field::content_type, made.type);
  out.set(http::field::cache_control, "no-store");
  out.set("X-Content-Type-Options", "nosniff");
  out.keep_alive(false);
  out.content_length(made.text.size());
  if (header.method() != http::verb::head) out.body() = std::move(made.text);
  from->limit.set(self->given_.answer_timeout);
  co_await http::async_write(from->stream, out, asio::redirect_error(asio::use_awaitable, failure));
  from->limit.lift();
  from->stream.socket().shutdown(asio::ip::tcp::socket::shutdown_send, failure);
}

reply standby_page::impl::answer(http_request const& asked) const {
  if (status why = gate_.checked_host(asked); !why.ok()) return problem(421, why);
  auto const at = target::parse(asked.target);
  if (!at) return problem(http_code(at.error().code()), at.error());
  auto const now = view_();
  bool const looks = asked.method == "GET" || asked.method == "HEAD";
  if (looks && (at->path() == "/livez" || at->path() == "/healthz")) return {200, "ok\n"};
  if (looks && at->path() == "/readyz") return {503, readiness(now)};
  if (looks && at->path() == "/") return {200, statement(now)};
  if (auto const as = gate_.role_of(asked); !as) {
    return problem(http_code(as.error().code()), as.error());
  }
  if (looks && at->path() == "/metrics") {
    return {200, metrics(now, usage_of_this_process()), metrics_type};
  }
  return problem(503, {errc::unavailable, "This is a standby of job " + core::in_quotes(now.job) +
                                              ": " + who_leads(now) + "."});
}

void standby_page::impl::close() noexcept {
  boost::system::error_code ignored;
  is_closed_ = true;
  acceptor_.close(ignored);
  try {
    pause_.cancel();
  } catch (boost::system::system_error const&) {
  }
}

standby_page::standby_page(asio::io_context& io, options o,
                           std::function<server::standby_view()> view)
    : impl_{std::make_shared<impl>(io, std::move(o), std::move(view))} {
  asio::co_spawn(io, impl::accept(impl_), asio::detached);
}

standby_page::~standby_page() { impl_->close(); }

void standby_page::reload_certificates() { impl_->reload_certificates(); }

void standby_page::replace_credentials(std::vector<core::credential> by) {
  impl_->replace_credentials(std::move(by));
}

std::string const& standby_page::address() const { return impl_->address(); }

}  // namespace coxswain::status_page
