#pragma once
// The stream of a visitor: TCP, or TLS over it. Used by Beast.

#include "coxswain/net/asio_tls.hpp"
#include "coxswain/net/tls_certificate.hpp"
#include "coxswain/net/tls_context.hpp"

#include <boost/beast/core/role.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace coxswain::status_page {

class visitor_stream {
 public:
  using executor_type = asio::ip::tcp::socket::executor_type;

  // Uses TLS if there are certificates, which must outlive it. If they require client certificates,
  // one that is presented must be valid, but presenting one is optional.
  visitor_stream(asio::ip::tcp::socket socket, net::tls_context const* certificates);

  // Before anything is read or written. Not needed without TLS, and then OK.
  static asio::awaitable<status> shake_hands(visitor_stream& of);

  // Its peer has presented a required certificate.
  [[nodiscard]] bool is_certified() const;
  [[nodiscard]] bool is_encrypted() const noexcept { return tls_ != nullptr; }

  // Not after it was moved from.
  [[nodiscard]] asio::ip::tcp::socket& socket() noexcept {
    return tls_ ? tls_->stream.next_layer() : *plain_;
  }

  // The stream below, for a plaintext reply; it is moved from afterwards.
  [[nodiscard]] asio::ip::tcp::socket release() { return std::move(socket()); }

  // Cancels pending operations, or closes it; no effect after it was moved from.
  void cancel() noexcept;
  void close() noexcept;

  [[nodiscard]] executor_type get_executor() noexcept { return socket().get_executor(); }

  template <class Buffers, class Token>
  auto async_read_some(Buffers const& into, Token&& token) {
    auto begin = [this](auto handler, Buffers const& buffers) {
      if (tls_) return tls_->stream.async_read_some(buffers, std::move(handler));
      plain_->async_read_some(buffers, std::move(handler));
    };
    return asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(
        std::move(begin), token, into);
  }

  template <class Buffers, class Token>
  auto async_write_some(Buffers const& from, Token&& token) {
    auto begin = [this](auto handler, Buffers const& buffers) {
      if (tls_) return tls_->stream.async_write_some(buffers, std::move(handler));
      plain_->async_write_some(buffers, std::move(handler));
    };
    return asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(
        std::move(begin), token, from);
  }

  // Required by Beast's WebSocket: for a timeout, and for the end of the stream.
  friend void beast_close_socket(visitor_stream& of) { of.close(); }
  friend void teardown(boost::beast::role_type, visitor_stream& of,
                       boost::system::error_code& problem) {
    of.socket().shutdown(asio::ip::tcp::socket::shutdown_both, problem);
  }
  template <class Handler>
  friend void async_teardown(boost::beast::role_type role, visitor_stream& of, Handler&& handler) {
    boost::system::error_code problem;
    teardown(role, of, problem);
    asio::post(of.get_executor(),
               [handler = std::forward<Handler>(handler), problem]() mutable { handler(problem); });
  }

 private:
  struct encrypted {
    encrypted(asio::ip::tcp::socket socket, net::tls_context const& by);

    asio::ssl::context context;
    asio::ssl::stream<asio::ip::tcp::socket> stream;
    net::peer_check peer;
  };

  std::unique_ptr<asio::ip::tcp::socket> plain_;
  std::unique_ptr<encrypted> tls_;
};

}  // namespace coxswain::status_page
