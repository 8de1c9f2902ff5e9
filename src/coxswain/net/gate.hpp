#pragma once
// Opens once; coroutines wait for it. Not here: passing values.
//
// Not thread-safe. Must outlive the coroutines that wait: let them hold its owner.

#include "coxswain/net/asio.hpp"

#include <boost/system/system_error.hpp>

#include <vector>

namespace coxswain::net {

class gate {
 public:
  gate() = default;
  gate(gate const&) = delete;
  gate& operator=(gate const&) = delete;

  // Waiting coroutines are resumed soon, but not within this call.
  void open() {
    if (opened_) return;
    opened_ = true;
    for (auto* const timer : waiting_) timer->cancel();
  }

  [[nodiscard]] bool is_open() const noexcept { return opened_; }

  // Returns at once if it is open. Throws boost::system::system_error (operation_aborted) if the
  // wait is cancelled.
  asio::awaitable<void> wait() {
    if (opened_) co_return;
    auto const executor = co_await asio::this_coro::executor;
    asio::steady_timer never{executor, asio::steady_timer::time_point::max()};
    waiter const here{*this, never};
    boost::system::error_code cancelled;
    co_await never.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    if (!opened_) throw boost::system::system_error{cancelled};
  }

 private:
  // A waiting coroutine's entry, for as long as the coroutine lives.
  class waiter {
   public:
    waiter(gate& at, asio::steady_timer& who) : at_{at}, who_{who} { at_.waiting_.push_back(&who); }
    ~waiter() { std::erase(at_.waiting_, &who_); }
    waiter(waiter const&) = delete;
    waiter& operator=(waiter const&) = delete;

   private:
    gate& at_;
    asio::steady_timer& who_;
  };

  std::vector<asio::steady_timer*> waiting_;
  bool opened_{};
};

}  // namespace coxswain::net
