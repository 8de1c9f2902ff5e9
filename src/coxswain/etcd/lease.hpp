#pragma once
// A lease, granted and kept alive. Its id is drawn by the caller, so that a grant can be repeated.
// Do not rely on it for exclusion: etcd may end it although it has confirmed it, and the reverse.
// Not thread-safe.

#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/etcd/client.hpp"
#include "coxswain/net/asio.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

namespace coxswain::etcd {

class lease {
 public:
  // `id` is random, above zero. `ttl` in seconds; etcd has a minimum.
  lease(std::shared_ptr<client> by, std::int64_t id, std::int64_t ttl);

  [[nodiscard]] std::int64_t id() const noexcept { return id_; }

  // Grants it, and keeps it alive until `stop`. UNAVAILABLE and others: it could not be granted
  // before `give_up_at`.
  static asio::awaitable<status> grant(std::shared_ptr<lease> self, time_point give_up_at);

  // Ends keeping it alive.
  void stop() noexcept;

  // Stops, and revokes it, if that can be done before `give_up_at`.
  static asio::awaitable<void> revoke(std::shared_ptr<lease> self, time_point give_up_at);

  // Until when it lives, as far as it was confirmed: counted from when the confirmed request was
  // sent.
  [[nodiscard]] time_point valid_until() const noexcept { return valid_until_; }

  // Whether etcd has reported that it has ended.
  [[nodiscard]] bool is_lost() const noexcept { return is_lost_; }

 private:
  // A stream of requests, each of which is answered in turn.
  struct stream {
    std::shared_ptr<call> over;
    std::size_t member{};
    std::deque<time_point> sent;  // of the requests without an answer
  };

  static asio::awaitable<void> keep(std::shared_ptr<lease> self);
  void ask();
  void take_replies(stream& from);

  std::shared_ptr<client> by_;
  std::int64_t id_;
  duration ttl_;
  time_point valid_until_{};
  bool is_lost_{};
  bool is_stopped_{};
  asio::steady_timer wakes_;
  std::deque<stream> streams_;  // the newest last; older ones may answer late
};

}  // namespace coxswain::etcd
