#include "coxswain/etcd/log_writer.hpp"

#include "coxswain/etcd/calls.hpp"
#include "coxswain/etcd/election.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <utility>

namespace coxswain::etcd {
namespace {

constexpr duration retry_pause = 10ms;
constexpr duration round_pause = 100ms;

// For each transaction but appends, which have no limit.
constexpr duration transaction_timeout = 30s;

// Entries removed by one transaction: etcd does nothing else meanwhile.
constexpr std::uint64_t removed_at_once_max = 1'000;

status deposed() { return {errc::aborted, "another coordinator leads the job now"}; }

}  // namespace

log_writer::log_writer(std::shared_ptr<client> by, job_keys keys, std::int64_t revision,
                       std::uint64_t first, std::uint64_t last, std::function<void()> changed)
    : by_{std::move(by)},
      keys_{std::move(keys)},
      revision_{revision},
      first_{first},
      last_{last},
      durable_{last},
      changed_{std::move(changed)} {}

asio::awaitable<status> log_writer::begin(std::shared_ptr<log_writer> self, std::string head) {
  pb::TxnRequest request;
  require_created(request, self->keys_.leader(), self->revision_);
  remove_on_success(request, self->keys_.log_begin(), self->keys_.log_end());
  remove_on_success(request, self->keys_.snapshots_begin(), self->keys_.snapshots_end());
  put_on_success(request, self->keys_.head(), std::move(head));
  auto const reply =
      co_await transact(self->by_, std::move(request), clock_now() + transaction_timeout);
  if (!reply.why.ok()) co_return reply.why;
  if (!reply.content.succeeded()) co_return deposed();
  self->first_ = 1;
  self->last_ = self->durable_ = 0;
  co_return status{};
}

void log_writer::append(std::string entry) {
  assert(has_room());
  asio::co_spawn(by_->executor(), settle(shared_from_this(), ++last_, std::move(entry)),
                 asio::detached);
}

asio::awaitable<void> log_writer::settle(std::shared_ptr<log_writer> self, std::uint64_t number,
                                         std::string entry) {
  auto const key = self->keys_.entry(number);
  auto const previous = self->keys_.entry(number - 1);
  pb::TxnRequest request;
  require_created(request, self->keys_.leader(), self->revision_);
  require_created(request, key, 0);
  if (self->durable_ + 1 < number) require_existing(request, previous);
  put_on_success(request, key, std::move(entry));
  read_on_failure(request, self->keys_.leader());
  read_on_failure(request, key);
  for (std::size_t failures = 0; !self->is_stopped_ && self->failure_.ok();) {
    auto const reply = co_await transact(self->by_, request, time_point{});
    if (self->is_stopped_) break;
    if (!reply.why.ok()) {
      if (reply.means.next == reaction::give_up) co_return self->fail(reply.why);
      self->trouble_ = reply.why;
      bool const is_round = ++failures % self->by_->members() == 0;
      duration const rest = is_round ? round_pause : retry_pause;
      co_await pause(self, rest);
      continue;
    }
    if (reply.content.succeeded()) co_return self->settled(number);
    auto const* const leader = found(reply.content, 0);
    if (leader == nullptr || leader->create_revision() != self->revision_) {
      co_return self->fail(deposed());
    }
    // Only this leader writes, so it was an earlier try that was applied.
    if (found(reply.content, 1) != nullptr) co_return self->settled(number);
    co_await pause(self, retry_pause);  // the previous entry is not there yet
  }
}

asio::awaitable<void> log_writer::pause(std::shared_ptr<log_writer> self, duration how_long) {
  asio::steady_timer timer{self->by_->executor(), how_long};
  boost::system::error_code ignored;
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

void log_writer::settled(std::uint64_t number) {
  trouble_ = {};
  done_.insert(number);
  auto const before = durable_;
  while (!done_.empty() && *done_.begin() == durable_ + 1) {
    done_.erase(done_.begin());
    ++durable_;
  }
  if (durable_ != before && !is_stopped_) changed_();
}

void log_writer::fail(status why) {
  if (!failure_.ok() || is_stopped_) return;
  failure_ = std::move(why);
  changed_();
}

asio::awaitable<status> log_writer::confirm(std::shared_ptr<log_writer> self,
                                            time_point give_up_at) {
  auto const reply = co_await read_leader(self->by_, self->keys_, give_up_at);
  if (!reply.why.ok()) co_return reply.why;
  if (reply.who.revision != self->revision_) co_return deposed();
  co_return status{};
}

asio::awaitable<status> log_writer::write_snapshot(std::shared_ptr<log_writer> self,
                                                   std::uint64_t number, std::string bytes) {
  std::uint64_t parts = 0;
  for (std::size_t at = 0; at < bytes.size(); at += value_bytes_max) {
    auto key = self->keys_.snapshot_part(number, parts++);
    status why = co_await write(self, std::move(key), bytes.substr(at, value_bytes_max));
    if (!why.ok()) co_return why;
  }
  auto const which = std::to_string(number) + " " + std::to_string(parts);
  status why = co_await write(self, self->keys_.latest_snapshot(), which);
  if (!why.ok()) co_return why;
  auto const before_last = self->last_removal_;
  why = co_await remove(self, self->keys_.snapshots_begin(), self->keys_.snapshots_before(number));
  // The last entry is required by the one after it.
  while (why.ok() && self->first_ < number) {
    auto const end = std::min(self->first_ + removed_at_once_max, number);
    why = co_await remove(self, self->keys_.entry(self->first_), self->keys_.entry(end));
    if (why.ok()) self->first_ = end;
  }
  if (!why.ok() || before_last == 0) co_return why;
  // Others may still be reading from before this removal.
  pb::CompactionRequest request;
  request.set_revision(before_last);
  auto const reply = co_await etcd::settle<pb::HeaderResponse>(
      self->by_, "/etcdserverpb.KV/Compact", request, clock_now() + transaction_timeout);
  co_return is_compacted(reply.why) ? status{} : reply.why;
}

asio::awaitable<status> log_writer::write(std::shared_ptr<log_writer> self, std::string key,
                                          std::string value) {
  pb::TxnRequest request;
  require_created(request, self->keys_.leader(), self->revision_);
  put_on_success(request, std::move(key), std::move(value));
  auto const reply =
      co_await transact(self->by_, std::move(request), clock_now() + transaction_timeout);
  if (!reply.why.ok()) co_return reply.why;
  if (!reply.content.succeeded()) co_return deposed();
  co_return status{};
}

asio::awaitable<status> log_writer::remove(std::shared_ptr<log_writer> self, std::string begin,
                                           std::string end) {
  pb::TxnRequest request;
  require_created(request, self->keys_.leader(), self->revision_);
  remove_on_success(request, std::move(begin), std::move(end));
  auto const reply =
      co_await transact(self->by_, std::move(request), clock_now() + transaction_timeout);
  if (!reply.why.ok()) co_return reply.why;
  if (!reply.content.succeeded()) co_return deposed();
  self->last_removal_ = reply.content.header().revision();
  co_return status{};
}

}  // namespace coxswain::etcd
