#pragma once
// PUBLIC. What a session holds for a while, as owning handles: an item taken from a queue, and a
// lock. A handle that is destroyed gives back what it holds, without waiting for the reply: the
// item returns to its place in the queue, the lock is free. Created by client::take and
// client::locked. Does not keep the client alive, with whose session everything is given back
// anyway. It may be destroyed on any thread, but not while its client is; its calls are used as
// those of the client.

#include "coxswain/client/call_options.hpp"
#include "coxswain/client/initiation.hpp"
#include "coxswain/client/keys.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace coxswain {

namespace detail {
class connection;

// How a handle's calls begin. Without a client they throw FAILED_PRECONDITION.
[[nodiscard]] initiation begin_at(std::weak_ptr<connection> const& at);
}  // namespace detail

class taken_item {
 public:
  // Holds nothing.
  taken_item() = default;
  ~taken_item();
  taken_item(taken_item&& other) noexcept = default;
  taken_item& operator=(taken_item&& other) noexcept;

  [[nodiscard]] std::string const& value() const noexcept { return item_.value; }
  [[nodiscard]] std::uint64_t number() const noexcept { return item_.number; }
  // How often it was taken before and came back.
  [[nodiscard]] std::uint32_t redeliveries() const noexcept { return item_.redeliveries; }

  // The item is done, and gone. FAILED_PRECONDITION: the lease was over before, so another consumer
  // may have got it. The handle then holds nothing.
  template <detail::token_for<void>... Token>
  auto finish(call_options const& options = {}, Token&&... token) {
    auto const begin = detail::begin_at(at_);
    return detail::initiate(begin, finishing(options), std::forward<Token>(token)...);
  }

  // Hands it back: the item returns to its place. Errors as for `finish`.
  template <detail::token_for<void>... Token>
  auto release(call_options const& options = {}, Token&&... token) {
    auto const begin = detail::begin_at(at_);
    return detail::initiate(begin, releasing(options), std::forward<Token>(token)...);
  }

  // The lease expires this much later than now. FAILED_PRECONDITION: it is over.
  template <detail::token_for<void>... Token>
  auto extend(time_limit lease = core::lease_default, call_options const& options = {},
              Token&&... token) {
    return detail::initiate(detail::begin_at(at_), extending(lease, options),
                            std::forward<Token>(token)...);
  }

  // Gives up the handle's ownership without a call: the session holds the item until the lease
  // expires, or until it is finished or released through the client.
  queue_item detach() noexcept;

 private:
  friend class blocking_item;
  friend class detail::client_calls;
  taken_item(std::weak_ptr<detail::connection> at, queue_item item)
      : at_{std::move(at)}, item_{std::move(item)} {}
  detail::call<void> finishing(call_options const& options);
  detail::call<void> releasing(call_options const& options);
  [[nodiscard]] detail::call<void> extending(time_limit lease, call_options const& options) const;
  void give_back() noexcept;

  std::weak_ptr<detail::connection> at_;  // none: it holds nothing
  queue_item item_;
};

class held_lock {
 public:
  // Holds nothing.
  held_lock() = default;
  ~held_lock();
  held_lock(held_lock&& other) noexcept = default;
  held_lock& operator=(held_lock&& other) noexcept;

  [[nodiscard]] std::string const& name() const noexcept { return name_; }
  // The fencing token.
  [[nodiscard]] std::uint64_t token() const noexcept { return token_; }

  // As client::unlock. The handle then holds nothing.
  template <detail::token_for<void>... Token>
  auto unlock(call_options const& options = {}, Token&&... token) {
    auto const begin = detail::begin_at(at_);
    return detail::initiate(begin, unlocking(options), std::forward<Token>(token)...);
  }

  // Gives up the handle's ownership without a call, and returns the token.
  std::uint64_t detach() noexcept;

 private:
  friend class blocking_lock;
  friend class detail::client_calls;
  held_lock(std::weak_ptr<detail::connection> at, std::string name, std::uint64_t token)
      : at_{std::move(at)}, name_{std::move(name)}, token_{token} {}
  detail::call<void> unlocking(call_options const& options);
  void give_back() noexcept;

  std::weak_ptr<detail::connection> at_;  // none: it holds nothing
  std::string name_;
  std::uint64_t token_{};
};

namespace detail {

// The client's calls for these.
template <class Client>
class holding_calls {
 public:
  // As `pop`, but the item is leased until it is finished: it returns to its place in the queue,
  // and goes to the next consumer, if it is released, its handle is destroyed, the lease expires,
  // or this session or its process ends. So no item is lost, but one can be processed twice.
  //
  //   taken_item item = co_await c.take("jobs");
  //   co_await work(item.value());
  //   co_await item.finish();
  template <detail::token_for<taken_item>... Token>
  auto take(std::string_view queue, take_options const& options = {}, Token&&... token) {
    return self().start(self().calls_.take(queue, options), std::forward<Token>(token)...);
  }

  // The number of items that wait in a queue, without those that are taken and not finished yet.
  template <detail::token_for<std::uint64_t>... Token>
  auto queue_length(std::string_view queue, call_options const& options = {}, Token&&... token) {
    return self().start(self().calls_.queue_length(queue, options), std::forward<Token>(token)...);
  }

  // As the functions of `taken_item`, for an item without a handle.
  template <detail::token_for<void>... Token>
  auto finish(queue_item const& item, call_options const& options = {}, Token&&... token) {
    return self().start(self().calls_.finish(item, options), std::forward<Token>(token)...);
  }
  template <detail::token_for<void>... Token>
  auto release(queue_item const& item, call_options const& options = {}, Token&&... token) {
    return self().start(self().calls_.release(item, options), std::forward<Token>(token)...);
  }
  template <detail::token_for<void>... Token>
  auto extend(queue_item const& item, time_limit lease = core::lease_default,
              call_options const& options = {}, Token&&... token) {
    return self().start(self().calls_.extend(item, lease, options), std::forward<Token>(token)...);
  }

  // As `lock`, with a handle, which unlocks when it is destroyed.
  template <detail::token_for<held_lock>... Token>
  auto locked(std::string_view name, call_options const& options = {}, Token&&... token) {
    return self().start(self().calls_.locked(name, options), std::forward<Token>(token)...);
  }

 private:
  Client& self() { return static_cast<Client&>(*this); }
};

}  // namespace detail
}  // namespace coxswain
