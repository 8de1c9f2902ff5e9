#pragma once
// One call, for a coroutine that waits for its messages and its end. Destroying it cancels it. Not
// thread-safe.

#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/etcd/channel.hpp"
#include "coxswain/net/asio.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

namespace coxswain::etcd {

class call final : public call_events, public std::enable_shared_from_this<call> {
 public:
  explicit call(asio::any_io_executor const& executor) : wakes_{executor} {}
  ~call();
  call(call const&) = delete;
  call& operator=(call const&) = delete;

  // Starts it. Once.
  void start(std::shared_ptr<channel> over, call_request const& how, std::string message);

  // A further message of a stream.
  void send(std::string message);

  // Cancels it, and ends waiting.
  void cancel();

  // Waits until there is a message, or it has ended: true; at most until `deadline`: false. `self`
  // is this.
  static asio::awaitable<bool> wait(std::shared_ptr<call> self, time_point deadline);

  // The oldest message; none if there is none.
  [[nodiscard]] std::optional<std::string> take();

  // Its end, once it has ended and all messages were taken.
  [[nodiscard]] std::optional<call_end> const& end() const noexcept { return end_; }

 private:
  void message(std::string content) override;
  void ended(call_end how) override;

  asio::steady_timer wakes_;
  std::shared_ptr<channel> over_;
  std::uint64_t number_{};
  std::deque<std::string> messages_;
  std::optional<call_end> end_;
};

}  // namespace coxswain::etcd
