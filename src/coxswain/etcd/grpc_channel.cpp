#include "coxswain/etcd/grpc_channel.hpp"

#include <array>
#include <chrono>
#include <exception>
#include <utility>
#include <variant>

namespace coxswain::etcd {
namespace {

constexpr duration peer_timeout = 3s;
constexpr std::size_t output_bytes = 64 * 1024;
constexpr std::size_t input_bytes = 64 * 1024;

// A page of entries, and the events of a watch, can be large.
constexpr std::size_t message_bytes_max = 256 * 1024 * 1024;

status connection_closed() { return {errc::cancelled, "the connection was closed"}; }

}  // namespace

std::shared_ptr<grpc_channel> grpc_channel::open(
    asio::any_io_executor executor, net::endpoint to,
    std::shared_ptr<net::tls_context const> certificates) {
  std::shared_ptr<grpc_channel> made{
      new grpc_channel{executor, std::move(to), std::move(certificates)}};
  asio::co_spawn(executor, run(made), asio::detached);
  return made;
}

grpc_channel::grpc_channel(asio::any_io_executor executor, net::endpoint to,
                           std::shared_ptr<net::tls_context const> certificates)
    : executor_{executor},
      to_{std::move(to)},
      has_tls_{certificates != nullptr},
      over_{
          std::make_shared<net::transport>(executor, peer_timeout, std::move(certificates), "h2")},
      session_{{.message_bytes_max = message_bytes_max}} {}

std::uint64_t grpc_channel::start(call_request const& how, std::string message,
                                  std::weak_ptr<call_events> to) {
  std::array<http2::header_field, 3> metadata{http2::header_field{"user-agent", "coxswain"},
                                              http2::header_field{"hasleader", "true"},
                                              http2::header_field{"token", how.token}};
  http2::call_start begin;
  auto const authority = to_.text();
  begin.path = how.path;
  begin.authority = authority;
  begin.scheme = has_tls_ ? "https" : "http";
  begin.metadata = std::span{metadata}.first(how.token.empty() ? 2 : 3);
  if (how.timeout != without_limit) begin.timeout = how.timeout;
  begin.stays_open = how.is_stream;
  auto const stream = is_broken_ ? std::nullopt : session_.start(begin, message);
  if (!stream) {
    is_broken_ = true;
    asio::post(executor_, [to = std::move(to)] {
      auto const who = to.lock();
      if (who) who->ended({{errc::unavailable, "the connection takes no more calls"}, true});
    });
    return 0;
  }
  auto const number = static_cast<std::uint64_t>(stream->value);
  calls_.emplace(number, std::move(to));
  flush();
  return number;
}

void grpc_channel::send(std::uint64_t call, std::string message) {
  if (calls_.count(call) == 0) return;
  session_.send(http2::stream_id{static_cast<std::int32_t>(call)}, message);
  flush();
}

void grpc_channel::cancel(std::uint64_t call) {
  if (calls_.erase(call) == 0) return;
  session_.cancel(http2::stream_id{static_cast<std::int32_t>(call)});
  flush();
}

void grpc_channel::close() {
  is_broken_ = true;
  over_->drop();
}

asio::awaitable<void> grpc_channel::run(std::shared_ptr<grpc_channel> self) {
  auto const failure = co_await net::transport::open(self->over_, self->to_, 0);
  if (self->over_->is_dropped()) co_return self->fail(connection_closed(), true);
  if (!failure.why.ok()) {
    self->over_->drop();
    co_return self->fail(failure.why, true);
  }
  self->flush();
  auto const why = co_await read(self);
  self->over_->drop();
  self->fail(why, false);
}

asio::awaitable<status> grpc_channel::read(std::shared_ptr<grpc_channel> self) {
  using outcome = net::transfer::outcome;
  std::string buffer(input_bytes, '\0');
  while (!self->over_->is_dropped()) {
    auto const got = self->over_->read_some(buffer);
    if (got.how == outcome::eof || got.how == outcome::failed) {
      co_return self->over_->loss(got, "etcd");
    }
    if (got.how == outcome::done) self->take(std::string_view{buffer}.substr(0, got.bytes));
    if (!self->session_.wants_read()) {
      auto const text = self->to_.text() + " has ended the connection. " + self->session_.error();
      co_return status{errc::unavailable, text};
    }
    if (got.how == outcome::would_block) co_await net::transport::readable(self->over_);
  }
  co_return connection_closed();
}

void grpc_channel::take(std::string_view input) {
  events_.clear();
  try {
    session_.receive(clock_now(), input, events_);
  } catch (std::exception const&) {
    return over_->drop();  // out of memory
  }
  for (auto& event : events_) {
    if (auto* const reply = std::get_if<http2::reply_message>(&event)) {
      auto const found = calls_.find(static_cast<std::uint64_t>(reply->stream.value));
      auto const who = found == calls_.end() ? nullptr : found->second.lock();
      if (who) who->message(std::move(reply->message));
    } else if (auto* const end = std::get_if<http2::call_ended>(&event)) {
      auto const found = calls_.extract(static_cast<std::uint64_t>(end->stream.value));
      auto const who = found ? found.mapped().lock() : nullptr;
      if (who) who->ended({std::move(end->outcome), end->is_unseen});
    } else if (std::holds_alternative<http2::peer_goodbye>(event)) {
      is_broken_ = true;  // for new calls
    }
  }
  flush();
}

void grpc_channel::flush() {
  if (!over_->is_open() || over_->is_dropped() || waits_for_room_) return;
  for (;;) {
    if (written_ == output_.size()) {
      output_.clear();
      written_ = 0;
      if (!session_.wants_write()) return;
      session_.append_output(output_, output_bytes);
      if (output_.empty()) return;
    }
    auto const sent = over_->write_some(std::string_view{output_}.substr(written_));
    if (sent.how == net::transfer::outcome::failed) return;  // reading reports it
    written_ += sent.bytes;
    if (written_ < output_.size()) break;
  }
  waits_for_room_ = true;
  asio::co_spawn(executor_, await_room(shared_from_this()), asio::detached);
}

asio::awaitable<void> grpc_channel::await_room(std::shared_ptr<grpc_channel> self) {
  co_await net::transport::writable(self->over_);
  self->waits_for_room_ = false;
  self->flush();
}

void grpc_channel::fail(status const& why, bool is_unseen) {
  is_broken_ = true;
  for (auto const& [number, to] : std::exchange(calls_, {})) {
    auto const who = to.lock();
    if (who) who->ended({why, is_unseen});
  }
}

}  // namespace coxswain::etcd
