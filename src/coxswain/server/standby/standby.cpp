#include "coxswain/server/standby/standby.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/etcd/election.hpp"
#include "coxswain/net/transport.hpp"
#include "coxswain/server/admission/rejections.hpp"
#include "coxswain/server/entropy.hpp"
#include "coxswain/server/journal/journal_files.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <utility>

namespace coxswain::server {
namespace {

// Etcd keeps a dead leader's key for this long, in seconds.
constexpr std::int64_t lease_ttl = 3;

// For each step of a campaign.
constexpr duration call_timeout = 5s;

// So that not all standbys begin at once.
constexpr duration delay_max = 50ms;

// After its own campaign a standby has the last inputs at once, unless its member lags.
constexpr duration lag_max = 500ms;

constexpr duration check_lag_every = 1s;

// A leader's process has ended if its connection was reset, and this many connects are refused.
constexpr int refusals_wanted = 3;
constexpr duration between_connects = 100ms;
constexpr duration between_failed_connects = 1s;
constexpr duration silence_max = 3s;

// The same for all processes that listen at this address, one after the other: of this boot of the
// machine, and of this network namespace.
std::uint32_t place_of(std::string const& address) {
  auto const boot = this_boot();
  std::error_code none;
  auto const network = std::filesystem::read_symlink("/proc/self/ns/net", none).string();
  if (boot == 0 || network.empty()) return static_cast<std::uint32_t>(draw_incarnation().value);
  return static_cast<std::uint32_t>(
      std::hash<std::string>{}(std::to_string(boot) + network + address));
}

// The upper half of a lease's id is the place of the process that drew it.
std::int64_t draw_lease(std::uint32_t place) {
  auto const drawn = static_cast<std::uint32_t>(draw_incarnation().value);
  auto const id = (std::uint64_t{place} << 32 | drawn) >> 1;
  return id == 0 ? 1 : static_cast<std::int64_t>(id);
}

bool is_of(std::uint32_t place, std::int64_t lease) {
  return static_cast<std::uint64_t>(lease) >> 31 == place;
}

}  // namespace

std::shared_ptr<standby> standby::make(asio::io_context& io, options o, standby_options s,
                                       reporter report) {
  return std::shared_ptr<standby>{new standby{io, std::move(o), std::move(s), std::move(report)}};
}

standby::standby(asio::io_context& io, options o, standby_options s, reporter report)
    : io_{io},
      options_{std::move(o)},
      settings_{std::move(s)},
      report_{std::move(report)},
      keys_{options_.core.job},
      redirector_{std::make_shared<redirector>(io, options_)},
      by_{etcd::client::make(io.get_executor(), settings_.etcd)},
      wakes_{io} {
  expect_restarts(options_);
  auto const& listens_at = redirector_->addresses().front();
  if (settings_.address.empty()) settings_.address = listens_at;
  place_ = place_of(listens_at);
}

void standby::stop() {
  is_stopped_ = true;
  wakes_.cancel();
}

asio::awaitable<std::shared_ptr<leadership>> standby::lead(std::shared_ptr<standby> self) {
  self->seen_leader_ = -1;
  self->redirector_->say(standby_says(self->options_.core.job, {}));
  self->redirector_->start();
  self->job_ = std::make_unique<replica>(
      self->options_, [raw = self.get()] { raw->wakes_.cancel(); }, self->report_);
  self->following_ = std::make_shared<etcd::follower>(self->by_, self->keys_, *self->job_);
  asio::co_spawn(self->io_, etcd::follower::run(self->following_), asio::detached);
  asio::co_spawn(self->io_, watch_lag(self), asio::detached);
  std::exception_ptr failure;
  std::shared_ptr<leadership> won;
  try {
    won = co_await await_turn(self);
  } catch (...) {
    failure = std::current_exception();
  }
  self->following_->stop();
  self->following_.reset();
  self->redirector_->stop();
  if (self->is_stopped_ && won) won->abandon();
  if (failure) std::rethrow_exception(failure);
  co_return won;
}

asio::awaitable<std::shared_ptr<leadership>> standby::await_turn(std::shared_ptr<standby> self) {
  auto& job = *self->job_;
  bool has_read_again = false;
  while (!self->is_stopped_) {
    if (!job.failure().ok()) throw error{job.failure()};
    auto const leader = job.leader();
    if (job.position() == 0) {
      co_await wait(self, 1s);
    } else if (leader.revision != 0) {
      has_read_again = false;
      self->see_leader();
      // The key of this process, from before etcd was away; or of one before it, which has ended,
      // since this one listens at its address.
      if (is_of(self->place_, leader.lease)) {
        static_cast<void>(co_await etcd::depose(self->by_, self->keys_, leader.revision,
                                                clock_now() + call_timeout));
      }
      co_await wait(self, 1s);
    } else if (job.has_seen_the_end()) {
      self->report_(core::severity::info,
                    "the job " + job.why_over() + ", and so this standby ends");
      co_return nullptr;
    } else if (!job.is_hot() && has_read_again) {
      co_await wait(self, 1s);
    } else if (!job.is_hot()) {
      has_read_again = true;  // there may be a snapshot now
      self->following_->begin_again();
      co_await wait(self, 1s);
    } else {
      self->see_leader();
      auto won = co_await campaign(self);
      if (won) co_return won;
    }
  }
  co_return nullptr;
}

asio::awaitable<void> standby::wait(std::shared_ptr<standby> self, duration at_most) {
  self->wakes_.expires_after(at_most);
  boost::system::error_code ignored;
  co_await self->wakes_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

asio::awaitable<std::shared_ptr<leadership>> standby::campaign(std::shared_ptr<standby> self) {
  auto& job = *self->job_;
  co_await wait(self, duration{draw_lease(self->place_) % delay_max.count()});
  if (self->is_stopped_ || job.leader().revision != 0) co_return nullptr;
  auto const alive = std::make_shared<etcd::lease>(self->by_, draw_lease(self->place_), lease_ttl);
  status why = co_await etcd::lease::grant(alive, clock_now() + call_timeout);
  etcd::campaign_result result;
  if (why.ok()) {
    result = co_await etcd::campaign(self->by_, self->keys_, self->settings_.address, alive->id(),
                                     clock_now() + call_timeout);
    why = result.why;
  }
  if (!why.ok()) self->report_(core::severity::warning, "no election: " + why.text());
  if (!result.is_won) {
    alive->stop();  // if it has won nevertheless, it finds its key
    co_return nullptr;
  }
  auto const made = std::make_shared<leadership>(self->by_, self->keys_, alive, result.who.revision,
                                                 result.term, self->report_);
  // Nobody else has written since, so then it has everything.
  auto lags_at = clock_now() + lag_max;
  while (!self->is_stopped_ && job.failure().ok() && job.position() < result.who.revision) {
    co_await wait(self, lag_max);
    if (clock_now() < lags_at) continue;
    if (alive->is_lost() || clock_now() > alive->valid_until()) {
      made->abandon();
      co_return nullptr;
    }
    self->following_->change_member();
    lags_at = clock_now() + lag_max;
  }
  bool const is_ready = !self->is_stopped_ && job.failure().ok() && job.is_hot();
  if (is_ready) co_return self->taken_over(made);
  co_await leadership::resign(made, clock_now() + 1s);
  co_return nullptr;
}

std::shared_ptr<leadership> standby::taken_over(std::shared_ptr<leadership> made) {
  auto const end = job_->end();
  if (auto const why = job_->why_over(); !why.empty()) {
    report_(core::severity::warning,
            "the job in etcd " + why + ": it is removed there, and a new job begins");
  }
  made->job = job_->take(clock_now());
  made->log = etcd_journal::make(by_, keys_, made->revision(), end);
  made->log->leave_out_above(options_.core.volatile_above);
  made->log->name_leader(settings_.address, made->term());
  made->watch();
  report_(core::severity::info, "leads the job, with term " + std::to_string(made->term()));
  return made;
}

void standby::see_leader() {
  auto const& leader = job_->leader();
  auto const before = std::exchange(seen_leader_, leader.revision);
  if (leader.revision == before) return;
  redirector_->say(standby_says(options_.core.job, leader.address));
  if (leader.revision == 0) {
    if (before > 0) report_(core::severity::warning, "nobody leads the job");
    return;
  }
  report_(core::severity::info, leader.address + " leads the job, with term " +
                                    std::to_string(job_->term()) + "; this is a standby");
  asio::co_spawn(io_, watch_process(shared_from_this(), leader), asio::detached);
}

standby_view standby::view() const {
  standby_view made;
  made.job = options_.core.job;
  made.version = options_.core.version;
  if (!job_) return made;
  made.leader = job_->leader().address;
  made.term = job_->term();
  made.lag_entries = lag_entries_;
  if (lag_entries_ != 0U) made.lag = clock_now() - caught_up_at_;
  made.obstacle = job_->obstacle();
  return made;
}

asio::awaitable<void> standby::watch_lag(std::shared_ptr<standby> self) {
  auto const by = self->following_;
  asio::steady_timer timer{self->io_};
  boost::system::error_code ignored;
  self->caught_up_at_ = clock_now();
  self->lag_entries_.reset();
  while (self->following_ == by && !self->is_stopped_) {
    auto const had = self->job_->end().entry;
    auto const behind = co_await etcd::count_entries_after(self->by_, self->keys_, had,
                                                           clock_now() + check_lag_every);
    if (self->following_ != by) co_return;
    self->lag_entries_ = behind;
    auto const has = self->job_->end().entry;
    if (behind && has > had) *self->lag_entries_ -= std::min(*behind, has - had);
    if (self->lag_entries_ == 0U) self->caught_up_at_ = clock_now();
    timer.expires_after(check_lag_every);
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

// When the process of the leader has ended, its machine refuses connections at once, and etcd would
// wait for the lease. If that is wrong, the leader is deposed, which is safe.
asio::awaitable<void> standby::watch_process(std::shared_ptr<standby> self, etcd::leader of) {
  auto const to = net::endpoint::parse(of.address);
  asio::steady_timer timer{self->io_};
  boost::system::error_code ignored;
  bool was_there = false;
  int refusals = 0;
  while (to && !self->is_stopped_ && self->seen_leader_ == of.revision) {
    auto const over =
        std::make_shared<net::transport>(self->io_.get_executor(), silence_max, nullptr);
    auto const failure = co_await net::transport::open(over, *to, 0);
    if (failure.why.ok()) {
      was_there = true;
      refusals = 0;
      std::array<char, 1024> some;
      for (;;) {
        auto const got = over->read_some(some);
        if (got.how == net::transfer::outcome::done) continue;
        if (got.how != net::transfer::outcome::would_block) break;
        co_await net::transport::readable(over);
      }
    } else if (failure.refused && was_there && ++refusals == refusals_wanted) {
      self->report_(core::severity::warning,
                    "the leader's process at " + of.address + " has ended");
      static_cast<void>(
          co_await etcd::depose(self->by_, self->keys_, of.revision, clock_now() + call_timeout));
      co_return;
    }
    over->drop();
    duration const pause = was_there ? between_connects : between_failed_connects;
    timer.expires_after(pause);
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

}  // namespace coxswain::server
