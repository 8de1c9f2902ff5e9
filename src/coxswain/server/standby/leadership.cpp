#include "coxswain/server/standby/leadership.hpp"

#include "coxswain/etcd/election.hpp"
#include "coxswain/etcd/usage.hpp"

#include <chrono>

namespace coxswain::server {
namespace {

// How often the lease is looked at, and how often the leader's key.
constexpr duration look_every = 200ms;
constexpr duration confirm_every = 1s;
constexpr duration ask_space_every = 10s;

constexpr std::int64_t mebibyte = 1024 * 1024;

}  // namespace

void leadership::watch() {
  asio::co_spawn(by_->executor(), watch_space(shared_from_this()), asio::detached);
  asio::co_spawn(by_->executor(), keep_watch(shared_from_this()), asio::detached);
}

asio::awaitable<void> leadership::keep_watch(std::shared_ptr<leadership> self) {
  asio::steady_timer timer{self->by_->executor()};
  auto confirm_at = clock_now() + confirm_every;
  while (!self->is_over_ && self->log->failure().ok()) {
    if (self->alive_->is_lost()) {
      co_return self->log->fail({errc::aborted, "etcd has ended the leader's lease"});
    }
    if (clock_now() > self->alive_->valid_until()) {
      co_return self->log->fail(
          {errc::unavailable, "etcd has not confirmed the leader's lease in time"});
    }
    if (clock_now() >= confirm_at) {
      status why = co_await etcd::log_writer::confirm(self->log->writer(), clock_now());
      if (self->is_over_) co_return;
      if (why.code() == errc::aborted) co_return self->log->fail(std::move(why));
      confirm_at = clock_now() + confirm_every;
    }
    self->report_trouble();
    timer.expires_after(look_every);
    boost::system::error_code ignored;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

void leadership::report_trouble() {
  auto const& trouble = log->trouble();
  if (trouble.ok() != is_in_trouble_) return;
  is_in_trouble_ = !trouble.ok();
  if (is_in_trouble_) {
    report_(core::severity::warning, "replies wait for etcd: " + trouble.text());
  } else {
    report_(core::severity::info, "etcd takes inputs again");
  }
}

asio::awaitable<void> leadership::watch_space(std::shared_ptr<leadership> self) {
  asio::steady_timer timer{self->by_->executor()};
  bool was_notified = false;
  while (!self->is_over_ && self->log->failure().ok()) {
    auto const now = co_await etcd::read_usage(self->by_, clock_now());
    bool const is_filling = now.why.ok() && now.bytes > now.quota / 2;
    if (is_filling && !was_notified && !self->is_over_) {
      self->report_(core::severity::warning, "etcd's database has " +
                                                 std::to_string(now.bytes / mebibyte) + " MiB of " +
                                                 std::to_string(now.quota / mebibyte) +
                                                 " MiB; when it is full, the job waits");
    }
    if (is_filling) self->log->free_space();
    was_notified = is_filling;
    timer.expires_after(ask_space_every);
    boost::system::error_code ignored;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

asio::awaitable<void> leadership::resign(std::shared_ptr<leadership> self, time_point give_up_at) {
  if (self->log) co_await etcd_journal::drain(self->log, give_up_at);
  self->is_over_ = true;
  static_cast<void>(co_await etcd::depose(self->by_, self->keys_, self->revision_, give_up_at));
  co_await etcd::lease::revoke(self->alive_, give_up_at);
}

void leadership::abandon() {
  is_over_ = true;
  alive_->stop();
}

}  // namespace coxswain::server
