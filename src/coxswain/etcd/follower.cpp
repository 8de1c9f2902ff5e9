#include "coxswain/etcd/follower.hpp"

#include "coxswain/etcd/calls.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace coxswain::etcd {
namespace {

// For reads, whose failure is reported.
constexpr duration read_timeout = 3s;

// After a failure.
constexpr duration pause = 100ms;

// A watch that is silent for this long may be behind.
constexpr duration silence_max = 5s;

// Each has at most value_bytes_max.
constexpr std::int64_t entries_at_once = 8;

void read_on_success(pb::TxnRequest& in, std::string key) {
  in.add_success()->mutable_request_range()->set_key(std::move(key));
}

// Changes were missed: read everything again.
status must_begin_again(std::string text) { return {errc::out_of_range, std::move(text)}; }

}  // namespace

asio::awaitable<std::optional<std::uint64_t>> count_entries_after(std::shared_ptr<client> by,
                                                                  job_keys keys,
                                                                  std::uint64_t number,
                                                                  time_point give_up_at) {
  pb::RangeRequest request;
  request.set_key(keys.entry(number + 1));
  request.set_range_end(keys.log_end());
  request.set_count_only(true);
  auto const reply = co_await range(std::move(by), std::move(request), give_up_at);
  if (!reply.why.ok()) co_return std::nullopt;
  co_return static_cast<std::uint64_t>(reply.content.count());
}

asio::awaitable<void> follower::run(std::shared_ptr<follower> self) {
  asio::steady_timer timer{self->by_->executor()};
  while (self->to_ != nullptr) {
    status why = co_await read(self);
    while (why.ok() && self->to_ != nullptr) why = co_await watch(self);
    if (self->to_ == nullptr || self->by_->is_closed()) break;
    if (why.code() != errc::out_of_range) self->to_->trouble(why);
    timer.expires_after(pause);
    boost::system::error_code ignored;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

void follower::stop() {
  to_ = nullptr;
  if (stream_) stream_->cancel();
}

void follower::change_member() {
  by_->leave(member_);
  if (stream_) stream_->cancel();
}

void follower::begin_again() {
  begins_again_ = true;
  if (stream_) stream_->cancel();
}

// All at the revision of the first read, so that the watch can begin after it.
asio::awaitable<status> follower::read(std::shared_ptr<follower> self) {
  pb::TxnRequest request;
  read_on_success(request, self->keys_.head());
  read_on_success(request, self->keys_.leader());
  read_on_success(request, self->keys_.epoch());
  read_on_success(request, self->keys_.latest_snapshot());
  auto const reply = co_await transact(self->by_, std::move(request), clock_now() + read_timeout);
  if (!reply.why.ok()) co_return reply.why;
  auto const value = [&](int which) {
    auto const* const pair = found(reply.content, which);
    return pair == nullptr ? std::string{} : pair->value();
  };
  self->revision_ = reply.content.header().revision();
  self->state_ = {};
  self->state_.head = value(0);
  self->term_ = number_in(value(2));
  self->leader_ = {};
  if (auto const* const pair = found(reply.content, 1)) {
    self->leader_.address = pair->value();
    self->leader_.lease = pair->lease();
    self->leader_.revision = pair->create_revision();
  }
  status why = co_await read_snapshot(self, value(3));
  if (!why.ok() || self->to_ == nullptr) co_return why;
  self->last_ = self->state_.number;
  self->to_->begins(std::move(self->state_));
  why = co_await read_entries(self);
  if (!why.ok() || self->to_ == nullptr) co_return why;
  self->to_->is_at(self->revision_, self->leader_, self->term_);
  co_return why;
}

asio::awaitable<status> follower::read_snapshot(std::shared_ptr<follower> self, std::string which) {
  if (which.empty()) co_return status{};
  self->state_.number = number_in(which);
  auto const space = which.find(' ');
  auto const parts = space == std::string::npos ? 0 : number_in(which.substr(space + 1));
  for (std::uint64_t i = 0; i < parts; ++i) {
    pb::RangeRequest request;
    request.set_key(self->keys_.snapshot_part(self->state_.number, i));
    request.set_revision(self->revision_);
    auto const reply = co_await range(self->by_, std::move(request), clock_now() + read_timeout);
    if (is_compacted(reply.why)) co_return must_begin_again(reply.why.message());
    if (!reply.why.ok()) co_return reply.why;
    if (reply.content.kvs().empty()) {
      co_return status{errc::data_loss, "a part of the job's snapshot in etcd is missing"};
    }
    self->state_.snapshot += reply.content.kvs(0).value();
  }
  co_return status{};
}

asio::awaitable<status> follower::read_entries(std::shared_ptr<follower> self) {
  for (;;) {
    pb::RangeRequest request;
    request.set_key(self->keys_.entry(self->last_ + 1));
    request.set_range_end(self->keys_.log_end());
    request.set_limit(entries_at_once);
    request.set_revision(self->revision_);
    auto const reply = co_await range(self->by_, std::move(request), clock_now() + read_timeout);
    if (is_compacted(reply.why)) co_return must_begin_again(reply.why.message());
    if (!reply.why.ok() || self->to_ == nullptr) co_return reply.why;
    for (auto const& pair : reply.content.kvs()) {
      if (self->to_ == nullptr) co_return status{};
      if (self->keys_.entry_number(pair.key()) != self->last_ + 1) {
        co_return status{errc::data_loss, "entry " + std::to_string(self->last_ + 1) +
                                              " of the job's log in etcd is missing"};
      }
      self->to_->entry(++self->last_, pair.value());
    }
    if (!reply.content.more()) co_return status{};
  }
}

// One watch, until it ends; OK: another one can go on where it was.
asio::awaitable<status> follower::watch(std::shared_ptr<follower> self) {
  pb::WatchRequest request;
  auto& what = *request.mutable_create_request();
  what.set_key(self->keys_.watch_begin());
  what.set_range_end(self->keys_.watch_end());
  what.set_start_revision(self->revision_ + 1);
  what.set_fragment(true);
  self->member_ = self->by_->member();
  self->newest_ = 0;
  auto const stream = self->by_->open("/etcdserverpb.Watch/Watch", request.SerializeAsString());
  self->stream_ = stream;
  while (self->to_ != nullptr) {
    bool const is_heard = co_await call::wait(stream, clock_now() + silence_max);
    if (!is_heard) {
      bool const is_behind = co_await is_silent(self);
      if (is_behind) break;
      continue;
    }
    while (auto const message = stream->take()) {
      if (self->to_ == nullptr) co_return status{};
      status why = self->take(*message);
      if (!why.ok()) co_return why;
    }
    if (!stream->end()) continue;
    if (std::exchange(self->begins_again_, false)) {
      co_return must_begin_again("as was requested");
    }
    auto const means = meaning_of(*stream->end());
    if (means.next == reaction::authenticate) self->by_->forget_token();
    if (means.next == reaction::give_up) co_return stream->end()->outcome;
    break;
  }
  self->by_->leave(self->member_);
  // Authenticates, if need be.
  auto const reply = co_await read_leader(self->by_, self->keys_, clock_now() + read_timeout);
  co_return reply.why;
}

// Whether a silent watch has missed a change of the leader.
asio::awaitable<bool> follower::is_silent(std::shared_ptr<follower> self) {
  auto const known = self->leader_.revision;
  auto const reply = co_await read_leader(self->by_, self->keys_, clock_now() + read_timeout);
  co_return !reply.why.ok() || (reply.who.revision != known && known == self->leader_.revision);
}

status follower::take(std::string const& message) {
  pb::WatchResponse response;
  if (!response.ParseFromString(message)) {
    return {errc::internal, "etcd has sent a malformed event"};
  }
  if (response.compact_revision() > 0) return must_begin_again("history was compacted");
  if (response.canceled()) return {errc::unavailable, response.cancel_reason()};
  for (auto const& event : response.events()) {
    if (to_ == nullptr) return {};
    auto const& kv = event.kv();
    if (kv.mod_revision() <= revision_) continue;
    newest_ = std::max(newest_, kv.mod_revision());
    bool const is_put = event.type() == mvccpb::Event::PUT;
    if (kv.key() == keys_.leader()) {
      leader_ = {};
      if (!is_put) continue;
      leader_.address = kv.value();
      leader_.lease = kv.lease();
      leader_.revision = kv.create_revision();
    } else if (kv.key() == keys_.epoch() && is_put) {
      term_ = number_in(kv.value());
    } else if (kv.key() == keys_.head() && is_put) {
      job_state fresh;
      fresh.head = kv.value();
      last_ = 0;
      to_->begins(std::move(fresh));
    } else if (auto const number = keys_.entry_number(kv.key()); number && is_put) {
      if (*number <= last_) continue;
      if (*number != last_ + 1) return must_begin_again("entries were missed");
      to_->entry(++last_, kv.value());
    }
  }
  if (response.fragment() || newest_ == 0 || to_ == nullptr) return {};
  revision_ = newest_;
  to_->is_at(revision_, leader_, term_);
  return {};
}

}  // namespace coxswain::etcd
