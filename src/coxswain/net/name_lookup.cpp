#include "coxswain/net/name_lookup.hpp"

#include "coxswain/net/signals_blocked.hpp"

#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace coxswain::net {
namespace {

// Of one context, at a time. Names that cannot be looked up must not keep all others waiting.
constexpr unsigned threads_max = 8;

bool needs_thread(endpoint const& at) {
  if (at.is_unix()) return false;
  boost::system::error_code no_number;
  asio::ip::make_address(at.host(), no_number);
  return no_number.failed();
}

}  // namespace

// Belongs to its threads, and to the context until that ends.
class name_lookup::threads {
 public:
  explicit threads(asio::any_io_executor home) : home_{std::move(home)} {}

  // Throws std::system_error: there can be no thread.
  static void ask(std::shared_ptr<threads> self, std::shared_ptr<name_lookup> what) {
    std::lock_guard const lock{self->mutex_};
    self->waiting_.push_back(std::move(what));
    if (self->count_ == threads_max) return;
    signals_blocked const blocked;
    try {
      std::thread{[self] { run(*self); }}.detach();
      ++self->count_;
    } catch (std::system_error const&) {
      if (self->count_ == 0) {
        self->waiting_.clear();
        throw;
      }
    }
  }

  // The context ends: nothing is reported from now on.
  void leave() {
    std::lock_guard const lock{mutex_};
    home_ = {};
    waiting_.clear();
  }

 private:
  static void run(threads& self) {
    std::unique_lock lock{self.mutex_};
    while (!self.waiting_.empty()) {
      auto const next = std::move(self.waiting_.front());
      self.waiting_.pop_front();
      if (!next->is_wanted_) continue;
      lock.unlock();
      auto found = next->of_.resolve(endpoint::purpose::connect);
      lock.lock();
      if (!self.home_ || !next->is_wanted_) continue;
      asio::post(self.home_, [next, found = std::move(found)]() mutable {
        next->answer_.emplace(std::move(found));
        next->answered_.open();
      });
    }
    --self.count_;
  }

  std::mutex mutex_;
  asio::any_io_executor home_;  // empty once the context has ended
  std::deque<std::shared_ptr<name_lookup>> waiting_;
  unsigned count_{};
};

class name_lookup::service : public asio::execution_context::service {
 public:
  using key_type = service;
  static inline asio::execution_context::id id;

  explicit service(asio::execution_context& owner) : asio::execution_context::service{owner} {}

  void ask(asio::any_io_executor const& home, std::shared_ptr<name_lookup> what) {
    if (!threads_) threads_ = std::make_shared<threads>(home);
    threads::ask(threads_, std::move(what));
  }

 private:
  void shutdown() override {
    if (threads_) threads_->leave();
  }

  std::shared_ptr<threads> threads_;
};

asio::awaitable<result<std::vector<socket_address>>> name_lookup::run(
    std::shared_ptr<name_lookup> self) {
  auto const& of = self->of_;
  if (!needs_thread(of)) co_return of.resolve(endpoint::purpose::connect);
  auto const executor = co_await asio::this_coro::executor;
  try {
    auto& context = asio::query(executor, asio::execution::context);
    asio::use_service<service>(context).ask(executor, self);
  } catch (std::system_error const& problem) {
    co_return status{errc::unavailable, "The host name '" + of.host() + "' of '" + of.text() +
                                            "' cannot be looked up: " + problem.what() + "."};
  }
  co_await self->answered_.wait();
  if (!self->answer_) co_return status{errc::cancelled, "it was given up"};
  co_return std::move(*self->answer_);
}

void name_lookup::abandon() noexcept {
  is_wanted_ = false;
  answered_.open();
}

}  // namespace coxswain::net
