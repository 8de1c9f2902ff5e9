#include "coxswain/status/visitor_stream.hpp"

#include <openssl/ssl.h>

namespace coxswain::status_page {
namespace {

// One more owner of it.
SSL_CTX* shared(SSL_CTX* context) {
  SSL_CTX_up_ref(context);
  return context;
}

}  // namespace

visitor_stream::encrypted::encrypted(asio::ip::tcp::socket socket, net::tls_context const& by)
    : context{shared(by.native())}, stream{std::move(socket), context} {
  auto* const native = stream.native_handle();
  peer.uri_prefix = by.options().peer_uri_prefix;
  net::attach(native, peer);
  if (!by.options().ca.empty()) {
    SSL_set_verify(native, SSL_VERIFY_PEER, &net::check_peer);
  }
}

visitor_stream::visitor_stream(asio::ip::tcp::socket socket, net::tls_context const* certificates) {
  if (certificates != nullptr) {
    tls_ = std::make_unique<encrypted>(std::move(socket), *certificates);
  } else {
    plain_ = std::make_unique<asio::ip::tcp::socket>(std::move(socket));
  }
}

asio::awaitable<status> visitor_stream::shake_hands(visitor_stream& of) {
  if (!of.tls_) co_return status{};
  boost::system::error_code problem;
  co_await of.tls_->stream.async_handshake(asio::ssl::stream_base::server,
                                           asio::redirect_error(asio::use_awaitable, problem));
  if (!problem) co_return status{};
  bool const is_of_tls = problem.category() == asio::error::get_ssl_category();
  auto const number = is_of_tls ? static_cast<unsigned long>(problem.value()) : 0UL;
  co_return net::tls_problem(number, of.tls_->peer);
}

void visitor_stream::begin(buffers<asio::mutable_buffer> const& into, completion done) {
  if (tls_) return tls_->stream.async_read_some(into, std::move(done));
  plain_->async_read_some(into, std::move(done));
}

void visitor_stream::begin(buffers<asio::const_buffer> const& from, completion done) {
  if (tls_) return tls_->stream.async_write_some(from, std::move(done));
  plain_->async_write_some(from, std::move(done));
}

bool visitor_stream::is_certified() const {
  return tls_ && SSL_get0_peer_certificate(tls_->stream.native_handle()) != nullptr;
}

void visitor_stream::cancel() noexcept {
  boost::system::error_code ignored;
  if (plain_ || tls_) socket().cancel(ignored);
}

void visitor_stream::close() noexcept {
  boost::system::error_code ignored;
  if (plain_ || tls_) socket().close(ignored);
}

}  // namespace coxswain::status_page
