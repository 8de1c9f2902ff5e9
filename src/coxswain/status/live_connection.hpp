#pragma once
// A watcher over WebSocket: two coroutines, one that writes the feed's messages, one that reads
// only to answer pings and to detect the end. A message from the watcher ends the connection. Not
// here: the messages (live_feed).

#include "coxswain/net/asio.hpp"
#include "coxswain/status/page_context.hpp"
#include "coxswain/status/time_limit.hpp"
#include "coxswain/status/visitor_stream.hpp"

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/websocket/stream.hpp>

#include <memory>

namespace coxswain::status_page {

class live_connection final : public watcher, public std::enable_shared_from_this<live_connection> {
 public:
  using request = boost::beast::http::request<boost::beast::http::string_body>;

  live_connection(visitor_stream stream, page_context& context, watch_registry& registry);

  // Runs until the watcher disconnects or is disconnected, or the page is closed.
  static asio::awaitable<void> serve(std::shared_ptr<live_connection> self, request const& asked);

  // Ends it at once.
  void close() noexcept;

 private:
  void wake() noexcept override;
  [[nodiscard]] bool is_current() const override;
  asio::awaitable<bool> accept(request const& asked);
  asio::awaitable<void> send_updates();
  asio::awaitable<void> write(text_ptr text);
  static asio::awaitable<void> listen(std::shared_ptr<live_connection> self);

  page_context& context_;
  watch_registry& registry_;
  boost::beast::websocket::stream<visitor_stream, false> socket_;
  boost::beast::flat_buffer heard_;
  time_limit limit_;
  asio::steady_timer updated_;
  live_feed::place at_;
  bool is_writing_{};
  bool has_ended_{};
  bool has_spoken_{};
};

}  // namespace coxswain::status_page
