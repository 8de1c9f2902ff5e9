#include "coxswain/etcd/client.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/etcd/grpc_channel.hpp"
#include "coxswain/net/tls_context.hpp"
#include "etcd/rpc.pb.h"

#include <chrono>
#include <utility>

namespace coxswain::etcd {
namespace {

// Between calls that are repeated: at another member at once, and after all of them.
constexpr duration pause_short = 10ms;
constexpr duration pause_long = 100ms;

raw_reply failed(status why, meaning means, std::size_t member) {
  raw_reply made;
  made.why = std::move(why);
  made.means = means;
  made.member = member;
  return made;
}

raw_reply closed() {
  return failed({errc::cancelled, "the client of etcd is closed"}, {effect::unknown}, 0);
}

}  // namespace

std::shared_ptr<client> client::make(asio::any_io_executor executor, client_options o) {
  std::shared_ptr<net::tls_context const> certificates;
  if (o.tls.is_wanted()) {
    certificates = std::make_shared<net::tls_context>(net::tls_context::side::client, o.tls);
  }
  auto connect = [executor, members = o.members, certificates](std::size_t member) {
    return std::static_pointer_cast<channel>(
        grpc_channel::open(executor, members[member], certificates));
  };
  return make(std::move(executor), std::move(o), std::move(connect));
}

std::shared_ptr<client> client::make(asio::any_io_executor executor, client_options o,
                                     connector how) {
  if (o.members.empty()) throw error{{errc::invalid_argument, "no member of etcd is named"}};
  return std::shared_ptr<client>{new client{std::move(executor), std::move(o), std::move(how)}};
}

client::client(asio::any_io_executor executor, client_options o, connector how)
    : executor_{std::move(executor)},
      options_{std::move(o)},
      connect_{std::move(how)},
      channels_(options_.members.size()) {}

asio::awaitable<raw_reply> client::ask(std::shared_ptr<client> self, std::string_view path,
                                       std::string message) {
  bool const has_user = !self->options_.user.empty();
  if (has_user && self->token_.empty()) {
    auto const why = co_await authenticate(self);
    if (!why.ok()) co_return failed(why, meaning_of({why}), self->member_);
  }
  auto reply = co_await ask_once(self, path, message);
  if (reply.means.next != reaction::authenticate || !has_user) co_return reply;
  self->token_.clear();
  auto const why = co_await authenticate(self);
  if (!why.ok()) co_return failed(why, meaning_of({why}), self->member_);
  co_return co_await ask_once(self, path, message);
}

asio::awaitable<raw_reply> client::ask_once(std::shared_ptr<client> self, std::string_view path,
                                            std::string message) {
  if (self->is_closed_) co_return closed();
  auto const member = self->member_;
  auto const open_call = std::make_shared<call>(self->executor_);
  call_request how;
  how.path = path;
  how.token = self->token_;
  how.timeout = self->options_.call_timeout;
  open_call->start(self->channel_to(member), how, std::move(message));
  auto const deadline = clock_now() + self->options_.call_timeout;

  std::optional<std::string> content;
  while (!open_call->end()) {
    bool const in_time = co_await call::wait(open_call, deadline);
    if (!in_time) {
      self->leave(member);
      status why{errc::deadline_exceeded, self->name(member) + " does not answer"};
      co_return failed(std::move(why), {effect::unknown, reaction::go_elsewhere}, member);
    }
    if (auto some = open_call->take()) content = std::move(some);
  }
  if (self->is_closed_) co_return closed();
  auto const& end = *open_call->end();
  if (end.outcome.ok() && content) {
    raw_reply made;
    made.message = *std::move(content);
    made.member = member;
    co_return made;
  }
  status why = end.outcome;
  if (why.ok()) why = status{errc::internal, self->name(member) + " has sent no reply"};
  auto const means = meaning_of({why, end.is_unseen});
  if (means.next == reaction::go_elsewhere) self->leave(member);
  co_return failed(std::move(why), means, member);
}

asio::awaitable<raw_reply> client::settle(std::shared_ptr<client> self, std::string_view path,
                                          std::string message, time_point give_up_at) {
  asio::steady_timer timer{self->executor_};
  for (std::size_t failures = 1;; ++failures) {
    auto reply = co_await ask(self, path, message);
    bool const is_final = reply.why.ok() || reply.means.next == reaction::give_up;
    if (is_final || clock_now() >= give_up_at) co_return reply;
    bool const is_round = failures % self->members() == 0;
    timer.expires_after(is_round ? pause_long : pause_short);
    boost::system::error_code ignored;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

asio::awaitable<status> client::authenticate(std::shared_ptr<client> self) {
  etcdserverpb::AuthenticateRequest request;
  request.set_name(self->options_.user);
  request.set_password(self->options_.password);
  auto const reply =
      co_await ask_once(self, "/etcdserverpb.Auth/Authenticate", request.SerializeAsString());
  if (!reply.why.ok() && !needs_no_user(reply.why)) co_return reply.why;
  etcdserverpb::AuthenticateResponse response;
  bool const is_well_formed = response.ParseFromString(reply.message);
  if (reply.why.ok() && (!is_well_formed || response.token().empty())) {
    co_return status{errc::internal, "etcd has sent no token"};
  }
  self->token_ = reply.why.ok() ? response.token() : "none";
  co_return status{};
}

std::shared_ptr<call> client::open(std::string_view path, std::string message) {
  auto made = std::make_shared<call>(executor_);
  call_request how;
  how.path = path;
  how.token = token_;
  how.is_stream = true;
  made->start(channel_to(member_), how, std::move(message));
  return made;
}

void client::leave(std::size_t member) {
  if (member_ == member) member_ = (member_ + 1) % members();
}

status client::check_cluster(std::uint64_t id, std::size_t member) {
  if (cluster_ == 0) {
    cluster_ = id;
    cluster_of_ = member;
  }
  if (cluster_ == id) return {};
  return {errc::failed_precondition,
          "the members of etcd belong to different clusters: " + name(cluster_of_) + " to " +
              std::to_string(cluster_) + ", " + name(member) + " to " + std::to_string(id)};
}

void client::close() {
  is_closed_ = true;
  for (auto const& channel : channels_) {
    if (channel) channel->close();
  }
}

std::shared_ptr<channel> client::channel_to(std::size_t member) {
  auto& channel = channels_[member];
  if (!channel || channel->is_broken()) channel = connect_(member);
  if (is_closed_) channel->close();
  return channel;
}

}  // namespace coxswain::etcd
