#include "coxswain/etcd/lease.hpp"

#include "coxswain/etcd/calls.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace coxswain::etcd {
namespace {

// Between requests; and how long one waits before another member is asked.
constexpr duration period = 1s;

// After a stream has ended.
constexpr duration pause_after_stream = 50ms;

constexpr std::size_t streams_max = 2;

}  // namespace

lease::lease(std::shared_ptr<client> by, std::int64_t id, std::int64_t ttl)
    : by_{std::move(by)}, id_{id}, ttl_{std::chrono::seconds{ttl}}, wakes_{by_->executor()} {}

asio::awaitable<status> lease::grant(std::shared_ptr<lease> self, time_point give_up_at) {
  pb::LeaseGrantRequest request;
  request.set_ttl(std::chrono::duration_cast<std::chrono::seconds>(self->ttl_).count());
  request.set_id(self->id_);
  auto const sent = clock_now();
  auto const reply = co_await settle<pb::LeaseGrantResponse>(
      self->by_, "/etcdserverpb.Lease/LeaseGrant", request, give_up_at);
  // An earlier try may have been applied although it seemed to fail.
  if (!reply.why.ok() && !is_lease_there(reply.why)) co_return reply.why;
  if (reply.why.ok()) self->ttl_ = std::chrono::seconds{reply.content.ttl()};
  self->valid_until_ = sent + self->ttl_;
  asio::co_spawn(self->by_->executor(), keep(self), asio::detached);
  co_return status{};
}

void lease::stop() noexcept {
  is_stopped_ = true;
  streams_.clear();
  wakes_.cancel();
}

asio::awaitable<void> lease::revoke(std::shared_ptr<lease> self, time_point give_up_at) {
  self->stop();
  pb::LeaseRevokeRequest request;
  request.set_id(self->id_);
  co_await settle<pb::HeaderResponse>(self->by_, "/etcdserverpb.Lease/LeaseRevoke", request,
                                      give_up_at);
}

asio::awaitable<void> lease::keep(std::shared_ptr<lease> self) {
  while (!self->is_stopped_ && !self->is_lost_ && !self->by_->is_closed()) {
    auto const asked = clock_now();
    self->ask();
    auto const newest = self->streams_.back().over;
    bool const is_heard = co_await call::wait(newest, asked + period);
    if (self->is_stopped_) break;
    for (auto& stream : self->streams_) self->take_replies(stream);
    bool const has_ended = newest->end().has_value();
    if (!is_heard || has_ended) self->by_->leave(self->streams_.back().member);
    if (has_ended) self->streams_.pop_back();
    if (!is_heard) continue;
    self->wakes_.expires_at(has_ended ? clock_now() + pause_after_stream : asked + period);
    boost::system::error_code ignored;
    co_await self->wakes_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  self->streams_.clear();
}

// Over the newest stream; over another one if that has not answered the last request.
void lease::ask() {
  pb::LeaseKeepAliveRequest request;
  request.set_id(id_);
  bool const is_answered = !streams_.empty() && streams_.back().sent.empty();
  if (is_answered) {
    streams_.back().over->send(request.SerializeAsString());
  } else {
    if (streams_.size() == streams_max) streams_.pop_front();
    streams_.push_back(
        {by_->open("/etcdserverpb.Lease/LeaseKeepAlive", request.SerializeAsString()),
         by_->member(),
         {}});
  }
  streams_.back().sent.push_back(clock_now());
}

void lease::take_replies(stream& from) {
  while (auto const message = from.over->take()) {
    pb::LeaseKeepAliveResponse response;
    if (!response.ParseFromString(*message) || from.sent.empty()) continue;
    if (response.ttl() <= 0) {
      is_lost_ = true;
      return;
    }
    auto const confirmed = from.sent.front() + std::chrono::seconds{response.ttl()};
    from.sent.pop_front();
    valid_until_ = std::max(valid_until_, confirmed);
  }
}

}  // namespace coxswain::etcd
