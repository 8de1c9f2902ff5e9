#pragma once
// The stream of a visitor: TCP, or TLS over it. Used by Beast.

#include "coxswain/net/asio_tls.hpp"
#include "coxswain/net/tls_certificate.hpp"
#include "coxswain/net/tls_context.hpp"

#include <boost/beast/core/role.hpp>
#include <boost/container/static_vector.hpp>

#include <cstddef>
#include <memory>
#include <type_traits>
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
    return asio::async_initiate<Token, transferred>(transfer{this}, token, first_of(into));
  }
  template <class Buffers, class Token>
  auto async_write_some(Buffers const& from, Token&& token) {
    return asio::async_initiate<Token, transferred>(transfer{this}, token, first_of(from));
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
  using transferred = void(boost::system::error_code, std::size_t);
  using completion = asio::any_completion_handler<transferred>;

  // One call transfers no more buffers than these.
  template <class Buffer>
  using buffers = boost::container::static_vector<Buffer, 16>;

  // Erases the type of the handler, so that the sockets' operations are compiled only once.
  struct transfer {
    visitor_stream* stream;

    template <class Buffer>
    void operator()(completion done, buffers<Buffer> const& memory) const {
      stream->begin(memory, std::move(done));
    }
  };

  template <class Buffers>
  static auto first_of(Buffers const& all) {
    using begin = decltype(asio::buffer_sequence_begin(all));
    using buffer = std::conditional_t<
        std::is_convertible_v<decltype(*std::declval<begin>()), asio::mutable_buffer>,
        asio::mutable_buffer, asio::const_buffer>;
    buffers<buffer> first;
    auto const end = asio::buffer_sequence_end(all);
    for (auto at = asio::buffer_sequence_begin(all); at != end && first.size() < first.capacity();
         ++at) {
      first.push_back(*at);
    }
    return first;
  }

  void begin(buffers<asio::mutable_buffer> const& into, completion done);
  void begin(buffers<asio::const_buffer> const& from, completion done);

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
