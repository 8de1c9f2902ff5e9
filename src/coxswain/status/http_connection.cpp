#include "coxswain/status/http_connection.hpp"

#include "coxswain/status/live_connection.hpp"

#include <boost/beast/http/read.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/websocket/rfc6455.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <utility>

namespace coxswain::status_page {
namespace {

namespace http = boost::beast::http;

// How long, and how much, further input of a refused peer is read, so that it gets the response
// before its writes fail.
constexpr duration drain_timeout = 2s;
constexpr int drain_reads_max = 64;

// Of a further request: enough to know that it begins.
constexpr std::size_t first_bytes = 1024;

std::string peer_name(asio::ip::tcp::socket const& socket) {
  boost::system::error_code problem;
  auto const peer = socket.remote_endpoint(problem);
  return problem ? "an unknown peer" : peer.address().to_string();
}

http_answer answer_to(boost::system::error_code const& why, bool is_late, text_pool& texts) {
  status reason{errc::invalid_argument, "Not an HTTP request: " + why.message()};
  unsigned code = 400;
  if (is_late) {
    reason = {errc::deadline_exceeded, "The request took too long to arrive."};
    code = 408;
  } else if (why == http::error::header_limit || why == http::error::buffer_overflow) {
    reason = {errc::resource_exhausted, "The header of the request is too long."};
    code = 431;
  } else if (why == http::error::body_limit) {
    reason = {errc::resource_exhausted, "The body of the request is too long."};
    code = 413;
  }
  http_answer a;
  a.code = code;
  a.body = texts.share(error_json(reason));
  return a;
}

}  // namespace

http_connection::http_connection(asio::ip::tcp::socket socket, net::tls_context const* certificates,
                                 page_context& context, watch_registry& registry, bool only_probes)
    : context_{context},
      registry_{registry},
      peer_{peer_name(socket)},
      stream_{std::move(socket), certificates},
      buffer_{context.given.header_bytes_max + context.given.body_bytes_max},
      limit_{stream_.get_executor(), [this] { stream_.cancel(); }},
      pause_{stream_.get_executor()},
      only_probes_{only_probes} {}

http_connection::~http_connection() = default;

void http_connection::close() noexcept {
  stream_.close();
  pause_.cancel();
  if (live_) live_->close();
}

asio::awaitable<void> http_connection::serve(std::shared_ptr<http_connection> self) {
  bool goes_on = co_await self->shake_hands();
  while (goes_on && !self->context_.is_closed) goes_on = co_await self->converse();
  self->limit_.lift();
  self->close();
}

asio::awaitable<bool> http_connection::shake_hands() {
  limit_.set(context_.given.request_timeout);
  status const why = co_await visitor_stream::shake_hands(stream_);
  if (why.ok()) co_return true;
  context_.refused(peer_, limit_.is_over() ? status{errc::deadline_exceeded,
                                                    "There was no whole TLS handshake in time."}
                                           : why);
  // A peer that used plain HTTP can read this response.
  if (why.code() != errc::failed_precondition) co_return false;
  asio::ip::tcp::socket plain = stream_.release();
  stream_ = visitor_stream{std::move(plain), nullptr};
  auto answer = context_.paths.refusal(
      {errc::failed_precondition, "This port speaks HTTPS only: ask for https://."});
  answer.code = 400;
  request const unknown{};
  co_await send(unknown, answer, false);
  if (!problem_) co_await drain();
  co_return false;
}

asio::awaitable<bool> http_connection::converse() {
  if (buffer_.size() == 0) {
    auto const timeout = has_asked_ ? context_.given.idle_timeout : context_.given.request_timeout;
    co_await await_bytes(timeout);
    if (context_.is_closed || (problem_ && has_asked_)) co_return false;
    if (problem_) co_return co_await refuse(problem_);
  }
  if (!std::exchange(has_asked_, true) && begins_frame()) co_return co_await send_elsewhere();
  parser in;
  in.header_limit(static_cast<std::uint32_t>(context_.given.header_bytes_max));
  in.body_limit(context_.given.body_bytes_max);
  limit_.set(context_.given.request_timeout);
  co_await http::async_read(stream_, buffer_, in,
                            asio::redirect_error(asio::use_awaitable, problem_));
  if (context_.is_closed) co_return false;
  bool goes_on = false;
  if (problem_) {
    goes_on = co_await refuse(problem_);
  } else {
    goes_on = co_await reply(in.get());
  }
  co_return goes_on;
}

asio::awaitable<void> http_connection::await_bytes(duration timeout) {
  limit_.set(timeout);
  auto const room = buffer_.prepare(first_bytes);
  auto const got =
      co_await stream_.async_read_some(room, asio::redirect_error(asio::use_awaitable, problem_));
  buffer_.commit(got);
}

// No request begins with a zero byte; the length of a coordinator's Hello does.
bool http_connection::begins_frame() const {
  auto const bytes = buffer_.data();
  return bytes.size() > 0 && *static_cast<char const*>(bytes.data()) == '\0';
}

asio::awaitable<bool> http_connection::send_elsewhere() {
  std::string const goodbye = context_.wrong_port();
  limit_.set(context_.given.answer_timeout);
  co_await asio::async_write(stream_, asio::buffer(goodbye),
                             asio::redirect_error(asio::use_awaitable, problem_));
  if (!problem_) co_await drain();
  co_return false;
}

http_request http_connection::described(request const& asked) const {
  auto const field = [&](http::field which) { return std::string{asked[which]}; };
  http_request r;
  r.method = asked.method_string();
  r.target = asked.target();
  if (asked.count(http::field::host) > 0) r.host = field(http::field::host);
  if (asked.count(http::field::origin) > 0) r.origin = field(http::field::origin);
  r.authorization = field(http::field::authorization);
  r.cookie = field(http::field::cookie);
  r.content_type = field(http::field::content_type);
  r.body = asked.body();
  r.peer = peer_;
  r.is_certified = stream_.is_certified();
  return r;
}

asio::awaitable<bool> http_connection::reply(request const& asked) {
  auto const hosts = asked.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && asked.version() > 10)) {
    co_return co_await refuse(make_error_code(http::error::bad_field));
  }
  if (only_probes_ && !is_probe(asked.target())) {
    auto answer =
        context_.paths.refusal({errc::resource_exhausted, "There are too many connections."});
    answer.code = 503;
    co_await send(asked, answer, false);
    if (!problem_) co_await drain();
    co_return false;
  }
  bool const wants_feed =
      boost::beast::websocket::is_upgrade(asked) && asked.target() == "/api/v1/live";
  if (wants_feed) co_return co_await watch(asked);
  http_request const described_one = described(asked);
  auto answer = context_.paths.answer(std::chrono::steady_clock::now(), described_one);
  if (answer.awaits_durability) {
    limit_.lift();
    status const why = co_await context_.durable();
    if (context_.is_closed) co_return false;
    if (!why.ok()) answer = context_.paths.refusal(why);
  }
  co_await slow_down(described_one, answer.code);
  if (context_.is_closed) co_return false;
  bool const keep_alive = asked.keep_alive() && !only_probes_;
  co_await send(asked, answer, keep_alive);
  if (answer.afterwards && !context_.is_closed) answer.afterwards();
  co_return keep_alive && !problem_;
}

asio::awaitable<bool> http_connection::refuse(boost::system::error_code why) {
  bool const is_late = limit_.is_over();
  bool const is_wrong = why.category() == make_error_code(http::error::bad_field).category() &&
                        why != http::error::end_of_stream && why != http::error::partial_message;
  if (!is_late && !is_wrong) co_return false;
  auto const answer = answer_to(why, is_late, context_.texts);
  request const unknown{};
  co_await send(unknown, answer, false);
  if (!problem_) co_await drain();
  co_return false;
}

asio::awaitable<bool> http_connection::watch(request const& asked) {
  http_request const described_one = described(asked);
  if (status why = context_.paths.may_watch(described_one); !why.ok()) {
    auto const answer = context_.paths.refusal(why);
    co_await slow_down(described_one, answer.code);
    if (!context_.is_closed) co_await send(asked, answer, false);
    co_return false;
  }
  limit_.lift();
  live_ = std::make_shared<live_connection>(std::move(stream_), context_, registry_);
  co_await live_connection::serve(live_, asked);
  co_return false;
}

// Responses to wrong tokens are delayed, as at the coordinator's port, to prevent guessing.
asio::awaitable<void> http_connection::slow_down(http_request const& asked, unsigned code) {
  bool const is_wrong = code == 401 && (!asked.authorization.empty() || asked.target == "/login");
  if (!is_wrong) co_return;
  limit_.lift();
  auto const end = std::chrono::steady_clock::now() + server::slowed_max;
  for (auto now = end - server::slowed_max; now < end && !context_.is_closed;) {
    auto const when = context_.wrong_tokens.begin(now, peer_);
    if (when <= now) co_return;
    pause_.expires_at(std::min(when, end));
    co_await pause_.async_wait(asio::redirect_error(asio::use_awaitable, problem_));
    now = std::chrono::steady_clock::now();
  }
}

asio::awaitable<void> http_connection::send(request const& asked, http_answer const& a,
                                            bool keep_alive) {
  http::response<http::span_body<char const>> out{static_cast<http::status>(a.code),
                                                  asked.version()};
  out.set(http::field::content_type, a.content_type);
  out.set(http::field::cache_control, "no-store");
  out.set("X-Content-Type-Options", "nosniff");
  for (auto const& [name, value] : a.fields) out.set(name, value);
  out.keep_alive(keep_alive);
  out.content_length(a.body->size());
  if (asked.method() != http::verb::head) {
    out.body() = boost::beast::span<char const>{a.body->data(), a.body->size()};
  }
  limit_.set(context_.given.answer_timeout);
  co_await http::async_write(stream_, out, asio::redirect_error(asio::use_awaitable, problem_));
}

asio::awaitable<void> http_connection::drain() {
  std::array<char, 4096> thrown_away;
  boost::system::error_code ignored;
  stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  limit_.set(drain_timeout);
  for (int i = 0; i < drain_reads_max && !problem_; ++i) {
    co_await stream_.socket().async_read_some(asio::buffer(thrown_away),
                                              asio::redirect_error(asio::use_awaitable, problem_));
  }
}

}  // namespace coxswain::status_page
