#pragma once
// Aborts a connection's operation when it takes too long.

#include "coxswain/base/time.hpp"
#include "coxswain/net/asio.hpp"

#include <functional>
#include <memory>
#include <utility>

namespace coxswain::status_page {

class time_limit {
 public:
  // `abort` is called when the time is over, unless the limit was destroyed.
  time_limit(asio::any_io_executor on, std::function<void()> abort)
      : timer_{on}, abort_{std::make_shared<std::function<void()>>(std::move(abort))} {}

  // Sets the limit, from now on; it replaces the previous one.
  void set(duration d) {
    is_over_ = false;
    timer_.expires_after(d);
    timer_.async_wait([this, abort = std::weak_ptr{abort_}](boost::system::error_code cancelled) {
      auto const alive = abort.lock();
      if (cancelled || !alive || timer_.expiry() > asio::steady_timer::clock_type::now()) return;
      is_over_ = true;
      (*alive)();
    });
  }

  void lift() { timer_.cancel(); }

  [[nodiscard]] bool is_over() const noexcept { return is_over_; }

 private:
  asio::steady_timer timer_;
  std::shared_ptr<std::function<void()>> abort_;
  bool is_over_{};
};

}  // namespace coxswain::status_page
