#pragma once
// Coroutines that wait until a batch of the journal is durable. Not thread-safe. Not here: the
// outboxes, which hold output back (dispatch).

#include "coxswain/base/time.hpp"
#include "coxswain/net/asio.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace coxswain::server {

class durability_waits {
 public:
  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }

  // Waits until `open` has found the batch durable, or `open_all` was called, at most until
  // `give_up_at`. `at` lives until then.
  static asio::awaitable<void> wait(durability_waits& at, std::uint64_t batch,
                                    time_point give_up_at) {
    auto const executor = co_await asio::this_coro::executor;
    asio::steady_timer timer{executor, give_up_at};
    entry const here{at, batch, timer};
    boost::system::error_code ignored;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }

  template <class IsDurable>
  void open(IsDurable const& is_durable) {
    for (auto const* const waiter : waiting_) {
      if (is_durable(waiter->batch_)) waiter->timer_.cancel();
    }
  }
  void open_all() {
    for (auto const* const waiter : waiting_) waiter->timer_.cancel();
  }

 private:
  // For as long as the coroutine waits.
  class entry {
   public:
    entry(durability_waits& in, std::uint64_t batch, asio::steady_timer& timer)
        : batch_{batch}, timer_{timer}, in_{in} {
      in_.waiting_.push_back(this);
    }
    ~entry() { std::erase(in_.waiting_, this); }
    entry(entry const&) = delete;
    entry& operator=(entry const&) = delete;

    std::uint64_t batch_;
    asio::steady_timer& timer_;

   private:
    durability_waits& in_;
  };

  std::vector<entry const*> waiting_;
};

}  // namespace coxswain::server
