#pragma once
// One connection of a page: reads requests, one after the other, and writes their responses; each
// step has a time limit, and input has a size limit. Not here: the responses (routes).

#include "coxswain/net/asio.hpp"
#include "coxswain/status/page_context.hpp"
#include "coxswain/status/time_limit.hpp"
#include "coxswain/status/visitor_stream.hpp"

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <memory>
#include <string>

namespace coxswain::status_page {

class live_connection;

class http_connection : public std::enable_shared_from_this<http_connection> {
 public:
  // Uses TLS if there are certificates. One for probes only answers a single request, which must be
  // a probe.
  http_connection(asio::ip::tcp::socket socket, net::tls_context const* certificates,
                  page_context& context, watch_registry& registry, bool only_probes);
  ~http_connection();

  // Runs until the peer disconnects or is disconnected, or the page is closed.
  static asio::awaitable<void> serve(std::shared_ptr<http_connection> self);

  // Ends it at once.
  void close() noexcept;

 private:
  using parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  using request = boost::beast::http::request<boost::beast::http::string_body>;

  // Whether the connection may continue with another request.
  asio::awaitable<bool> shake_hands();
  asio::awaitable<bool> converse();
  asio::awaitable<void> await_bytes(duration timeout);
  asio::awaitable<bool> reply(request const& asked);
  asio::awaitable<bool> refuse(boost::system::error_code why);
  asio::awaitable<bool> watch(request const& asked);
  asio::awaitable<void> slow_down(http_request const& asked, unsigned code);
  asio::awaitable<void> send(request const& asked, http_answer const& a, bool keep_alive);
  asio::awaitable<void> drain();
  [[nodiscard]] bool begins_frame() const;
  asio::awaitable<bool> send_elsewhere();
  [[nodiscard]] http_request described(request const& asked) const;

  page_context& context_;
  watch_registry& registry_;
  std::string peer_;
  visitor_stream stream_;
  boost::beast::flat_buffer buffer_;
  time_limit limit_;
  asio::steady_timer pause_;
  boost::system::error_code problem_;  // of the last step
  bool has_asked_{};
  bool only_probes_;
  std::shared_ptr<live_connection> live_;
};

}  // namespace coxswain::status_page
