#include "process/forwarder.hpp"

#include "options/exit_code.hpp"

#include "coxswain/client/asking.hpp"
#include "coxswain/net/gate.hpp"
#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/frame.hpp"

#include <fmt/format.h>
#include <boost/system/system_error.hpp>

#include <poll.h>

#include <exception>
#include <string_view>
#include <utility>

namespace coxswain::tools {
namespace {

using net::transport;

using local = asio::local::stream_protocol;
using boost::system::error_code;

// Longer than any client waits for its handshake.
constexpr duration open_max = 30s;

// When descriptors are exhausted.
constexpr duration accept_again_after = 100ms;

constexpr std::size_t read_bytes = 64 * 1024;

local::acceptor listen(asio::any_io_executor const& executor, std::string const& path) {
  try {
    return local::acceptor{executor, local::endpoint{path}};
  } catch (boost::system::system_error const& problem) {
    throw program_error{exit_code::failed, fmt::format("cannot listen on '{}' (below TMPDIR): {}",
                                                       path, problem.code().message())};
  }
}

// The reply to a program's handshake while the coordinator is unreachable. It retries.
std::string unreachable(status const& why) {
  core::answer last;
  status reason{errc::unavailable, "coxswain task cannot reach the coordinator: " + why.message()};
  last.value = core::goodbye{std::move(reason), true};
  auto const encoded = wire::encode(last);
  std::string frame;
  wire::append_server_head(frame, request_id{}, encoded.size());
  frame.append(encoded.head).append(encoded.tail.view());
  return frame;
}

}  // namespace

struct forwarder::carried {
  carried(local::socket from, net::endpoint where, std::shared_ptr<transport> onward)
      : program{std::move(from)}, to{std::move(where)}, coordinator{std::move(onward)} {}

  void end() {
    error_code ignored;
    coordinator->drop();
    program.close(ignored);
    ended.open();
  }

  // Even if not all that it has sent was read.
  [[nodiscard]] bool has_program_ended() {
    pollfd one{program.native_handle(), POLLRDHUP, 0};
    return ::poll(&one, 1, 0) > 0;
  }

  static asio::awaitable<void> carry_up(std::shared_ptr<carried> self);
  static asio::awaitable<void> carry_down(std::shared_ptr<carried> self);

  local::socket program;
  net::endpoint to;
  std::shared_ptr<transport> coordinator;
  net::gate ended;
};

asio::awaitable<void> forwarder::carried::carry_up(std::shared_ptr<carried> self) {
  std::vector<char> room(read_bytes);
  error_code problem;
  for (;;) {
    auto const count = co_await self->program.async_read_some(
        asio::buffer(room), asio::redirect_error(asio::use_awaitable, problem));
    if (problem) break;
    std::string_view rest{room.data(), count};
    while (!rest.empty() && !self->coordinator->is_dropped()) {
      auto const went = self->coordinator->write_some(rest);
      rest.remove_prefix(went.bytes);
      if (went.how == net::transfer::outcome::done) continue;
      // Output of the coordinator before its close is still in transit.
      if (went.how != net::transfer::outcome::would_block) co_return;
      co_await transport::writable(self->coordinator);
    }
    if (self->coordinator->is_dropped()) co_return;
  }
  // The program's last input is in transit: the coordinator reads it, and then ends this.
  if (!self->coordinator->is_dropped()) self->coordinator->shut_write();
}

asio::awaitable<void> forwarder::carried::carry_down(std::shared_ptr<carried> self) {
  std::vector<char> room(read_bytes);
  error_code ignored;  // a program that has ended reads nothing
  while (!self->coordinator->is_dropped()) {
    auto const got = self->coordinator->read_some(room);
    if (got.how == net::transfer::outcome::done) {
      co_await asio::async_write(self->program, asio::buffer(room.data(), got.bytes),
                                 asio::redirect_error(asio::use_awaitable, ignored));
      if (got.bytes == room.size()) continue;
    } else if (got.how != net::transfer::outcome::would_block) {
      break;
    }
    if (self->coordinator->is_dropped()) break;
    co_await transport::readable(self->coordinator);
  }
  self->end();
}

asio::awaitable<void> forwarder::carry(std::shared_ptr<carried> both) {
  asio::steady_timer timer{both->program.get_executor(), open_max};
  auto give_up = [given = std::weak_ptr{both}](error_code problem) {
    if (auto const late = given.lock(); late && !problem) late->end();
  };
  timer.async_wait(std::move(give_up));
  auto const failure = co_await transport::open(both->coordinator, both->to, 0);
  timer.cancel();
  if (both->coordinator->is_dropped()) co_return;
  if (!failure.why.ok()) {
    auto const frame = unreachable(failure.why);
    error_code ignored;
    co_await asio::async_write(both->program, asio::buffer(frame),
                               asio::redirect_error(asio::use_awaitable, ignored));
    both->end();
    co_return;
  }
  auto const executor = both->program.get_executor();
  asio::co_spawn(executor, carried::carry_up(both), asio::detached);
  co_await carried::carry_down(both);
}

forwarder::forwarder(client const& task)
    : path_{directory_.path() + "/task"},
      task_{detail::connection_of(task)},
      peer_timeout_{task_->session().value().heartbeat_timeout},
      acceptor_{listen(task_->executor(), path_)} {}

asio::awaitable<void> forwarder::serve(std::shared_ptr<forwarder> self) {
  asio::steady_timer retry_timer{self->acceptor_.get_executor()};
  error_code problem;
  while (self->acceptor_.is_open()) {
    auto program =
        co_await self->acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, problem));
    if (!problem) {
      self->take(std::move(program));
    } else if (problem != asio::error::operation_aborted) {
      retry_timer.expires_after(accept_again_after);
      co_await retry_timer.async_wait(asio::redirect_error(asio::use_awaitable, problem));
    }
  }
}

void forwarder::take(local::socket program) {
  std::erase_if(all_, [](auto const& one) { return one.expired(); });
  reload_certificates();
  auto const executor = acceptor_.get_executor();
  auto const to = task_->address();
  auto onward =
      std::make_shared<transport>(executor, peer_timeout_, to.is_unix() ? nullptr : certificates_);
  auto const both = std::make_shared<carried>(std::move(program), to, std::move(onward));
  all_.push_back(both);
  asio::co_spawn(executor, carry(both), asio::detached);
}

// Files can be replaced while this process runs; if they cannot be read, the previous ones stay in
// use.
void forwarder::reload_certificates() noexcept {
  auto const& files = task_->options().tls;
  if (!files.is_wanted()) return;
  try {
    certificates_ = std::make_shared<net::tls_context const>(net::tls_context::side::client, files);
  } catch (std::exception const&) {
  }
}

asio::awaitable<void> forwarder::finish_ended(std::shared_ptr<forwarder> self, duration longest) {
  std::vector<std::shared_ptr<carried>> ending;
  for (auto const& one : self->all_) {
    auto both = one.lock();
    if (both && both->program.is_open() && both->has_program_ended()) {
      ending.push_back(std::move(both));
    }
  }
  asio::steady_timer limit{self->acceptor_.get_executor(), longest};
  auto give_up = [ending](error_code problem) {
    for (auto const& one : ending) {
      if (!problem) one->end();
    }
  };
  limit.async_wait(std::move(give_up));
  for (auto const& one : ending) co_await one->ended.wait();
}

void forwarder::follow() {
  auto const now_at = task_->address();
  for (auto const& one : all_) {
    if (auto const both = one.lock(); both && both->to != now_at) both->end();
  }
}

void forwarder::close() {
  error_code ignored;
  acceptor_.close(ignored);
  for (auto const& one : all_) {
    if (auto const both = one.lock()) both->end();
  }
}

}  // namespace coxswain::tools
