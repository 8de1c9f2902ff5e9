#pragma once
// A faulty network in virtual time: a connection is two byte pipes with a delay and random splits,
// which can be cut or silently dropped. Not here: its users (world).

#include "coxswain/base/ids.hpp"
#include "coxswain/base/time.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <random>
#include <string>
#include <string_view>

namespace coxswain::sim {

using generator = std::mt19937_64;

// A number from `low` to `high`, both included.
[[nodiscard]] inline std::uint64_t between(generator& random, std::uint64_t low,
                                           std::uint64_t high) {
  return std::uniform_int_distribution<std::uint64_t>{low, high}(random);
}

[[nodiscard]] inline duration between(generator& random, duration low, duration high) {
  return duration{static_cast<std::int64_t>(between(random, static_cast<std::uint64_t>(low.count()),
                                                    static_cast<std::uint64_t>(high.count())))};
}

// One direction of a connection: bytes arrive in order, each piece with a delay; the end may follow
// the last piece.
class pipe {
 public:
  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

  // After this many bytes in total nothing more arrives.
  void stop_after(std::uint64_t bytes) { stop_after_ = bytes; }

  void send(time_point now, generator& random, duration delay_max, std::string_view bytes) {
    while (!bytes.empty() && !closed_) {
      std::size_t const count = between(random, 1, bytes.size());
      last_ = std::max(last_, now + between(random, 0ns, delay_max));
      pieces_.push_back({last_, std::string{bytes.substr(0, count)}});
      bytes.remove_prefix(count);
    }
  }

  // The sender closes: the end arrives after everything that was sent.
  void finish(time_point now, generator& random, duration delay_max) {
    if (closed_) return;
    closed_ = true;
    last_ = std::max(last_, now + between(random, 0ns, delay_max));
    pieces_.push_back({last_, {}});
  }

  // Data in transit is lost, and the end arrives.
  void cut(time_point now, generator& random, duration delay_max) {
    pieces_.clear();
    closed_ = false;
    last_ = now;
    finish(now, random, delay_max);
  }

  // Data in transit is lost, and nothing more arrives, not even the end.
  void mute() {
    pieces_.clear();
    closed_ = true;
  }

  // When the end arrives.
  [[nodiscard]] time_point end() const {
    bool const comes = !pieces_.empty() && pieces_.back().bytes.empty();
    return comes ? pieces_.back().at : time_point::max();
  }

  // When the next piece arrives.
  [[nodiscard]] time_point next() const {
    return pieces_.empty() ? time_point::max() : pieces_.front().at;
  }

  // The data that has arrived by `now`.
  [[nodiscard]] std::string take(time_point now) {
    std::string all;
    while (!pieces_.empty() && pieces_.front().at <= now) {
      if (pieces_.front().bytes.empty()) ended_ = true;
      all += pieces_.front().bytes;
      pieces_.pop_front();
    }
    all.resize(std::min<std::uint64_t>(all.size(), stop_after_ - arrived_));
    arrived_ += all.size();
    return all;
  }

  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] bool stopped() const { return arrived_ >= stop_after_; }
  [[nodiscard]] std::uint64_t arrived() const { return arrived_; }

 private:
  struct piece {
    time_point at;
    std::string bytes;  // empty: the end
  };
  std::deque<piece> pieces_;
  time_point last_{};
  bool closed_{};
  bool ended_{};
  std::uint64_t arrived_{};
  std::uint64_t stop_after_{never};
};

class relay_process;

// A connection between a process and the coordinator, or a relay.
struct link {
  std::uint64_t number{};  // of all links of a world
  std::size_t address{};   // of those of the process
  relay_process* via{};    // null: the coordinator
  bool relay_knows{};      // the relay holds it still
  connection_id at_server{};
  bool waits_to_be_accepted{};
  bool server_knows{};  // the server holds it still
  duration delay_max{};
  bool reading_paused{};      // the server does not read until it has written its queued output
  time_point unread_until{};  // until then the client's host accepts nothing; zero: no limit
  pipe up;                    // to the coordinator
  pipe down;                  // to the client
};

}  // namespace coxswain::sim
