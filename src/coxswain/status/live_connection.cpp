#include "coxswain/status/live_connection.hpp"

#include <boost/beast/websocket/rfc6455.hpp>

#include <cstddef>
#include <exception>
#include <utility>

namespace coxswain::status_page {
namespace {

namespace websocket = boost::beast::websocket;

constexpr std::size_t message_bytes_max = 4 * 1024;

// Time limit of the opening and closing handshakes.
constexpr duration handshake_timeout = 10s;

}  // namespace

live_connection::live_connection(visitor_stream stream, page_context& context,
                                 watch_registry& registry)
    : context_{context},
      registry_{registry},
      socket_{std::move(stream)},
      heard_{message_bytes_max},
      limit_{socket_.get_executor(), [this] { close(); }},
      updated_{socket_.get_executor(), asio::steady_timer::time_point::max()} {}

void live_connection::close() noexcept {
  has_ended_ = true;
  socket_.next_layer().close();
  wake();
}

void live_connection::wake() noexcept {
  try {
    updated_.cancel();
  } catch (boost::system::system_error const&) {
  }
}

bool live_connection::is_current() const {
  return has_ended_ || (!is_writing_ && context_.feed.is_current(at_));
}

asio::awaitable<void> live_connection::serve(std::shared_ptr<live_connection> self,
                                             request const& asked) {
  bool const is_welcome = co_await self->accept(asked);
  if (!is_welcome || self->context_.is_closed) co_return;
  self->registry_.enter(*self);
  asio::co_spawn(self->updated_.get_executor(), listen(self), asio::detached);
  // An error ends only this connection.
  try {
    co_await self->send_updates();
  } catch (std::exception const&) {
    self->close();
  }
  self->registry_.leave(*self);
}

asio::awaitable<bool> live_connection::accept(request const& asked) {
  websocket::stream_base::timeout limits{};
  limits.handshake_timeout = handshake_timeout;
  limits.idle_timeout = context_.given.idle_timeout;
  limits.keep_alive_pings = true;
  socket_.set_option(limits);
  socket_.read_message_max(message_bytes_max);
  socket_.auto_fragment(false);
  socket_.text(true);
  boost::system::error_code problem;
  co_await socket_.async_accept(asked, asio::redirect_error(asio::use_awaitable, problem));
  co_return !problem;
}

asio::awaitable<void> live_connection::send_updates() {
  boost::system::error_code ignored;
  while (!has_ended_ && !context_.is_closed) {
    if (has_spoken_ || context_.texts.is_full()) {
      auto const why = has_spoken_ ? websocket::close_code::policy_error
                                   : websocket::close_code::try_again_later;
      limit_.set(handshake_timeout);
      co_await socket_.async_close(why, asio::redirect_error(asio::use_awaitable, ignored));
      co_return close();
    }
    if (auto text = context_.feed.next(at_)) {
      co_await write(std::move(text));
    } else {
      co_await updated_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
  }
}

asio::awaitable<void> live_connection::write(text_ptr text) {
  boost::system::error_code problem;
  limit_.set(context_.given.answer_timeout);
  is_writing_ = true;
  co_await socket_.async_write(asio::buffer(*text),
                               asio::redirect_error(asio::use_awaitable, problem));
  limit_.lift();
  is_writing_ = false;
  if (problem) close();
}

asio::awaitable<void> live_connection::listen(std::shared_ptr<live_connection> self) {
  boost::system::error_code problem;
  co_await self->socket_.async_read(self->heard_,
                                    asio::redirect_error(asio::use_awaitable, problem));
  self->has_spoken_ = !problem;
  self->has_ended_ = static_cast<bool>(problem);
  self->wake();
}

}  // namespace coxswain::status_page
