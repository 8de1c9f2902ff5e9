#pragma once
// The signs of life of a session that is connected: when a heartbeat is due, and when the silence
// of the coordinator means that the connection is dead. Not here: sending, and how long the session
// survives without a connection (agent).

#include "coxswain/base/time.hpp"
#include "coxswain/core/model/messages.hpp"

#include <optional>

namespace coxswain::detail {

class heartbeats {
 public:
  // The session's terms: the heartbeat period, or none at all if the coordinator wants none; and
  // how long a silence may last at most.
  void use(core::hello_answer const& terms);

  // The connection is one of several ways, through a relay, or the one of a relay, on whose signs
  // of life others depend: its silence is detected earlier.
  void watch_closely(bool yes) noexcept { watches_closely_ = yes; }

  // Something was sent.
  void sent(time_point now) noexcept { sent_at_ = now; }

  // A heartbeat was sent, which the coordinator is to reply to.
  void heartbeat_sent(time_point now) {
    heartbeat_sent_at_ = now;
    if (!unanswered_since_) unanswered_since_ = now;
  }

  // Something was received.
  void heard(time_point now) {
    heard_at_ = now;
    unanswered_since_.reset();
  }

  // A full transport accepts bytes again: the peer is alive, but this is no reply.
  void write_progressed(time_point now) {
    heard_at_ = now;
    if (unanswered_since_) unanswered_since_ = now;
  }

  // When the next heartbeat is due.
  [[nodiscard]] time_point next_at() const;

  // When the connection counts as dead; time_point::max() if no reply is outstanding.
  [[nodiscard]] time_point silent_at() const;

  [[nodiscard]] time_point heard_at() const noexcept { return heard_at_; }

  // How long a reply has been outstanding.
  [[nodiscard]] duration unanswered_for(time_point now) const {
    return unanswered_since_ ? now - *unanswered_since_ : duration::zero();
  }

 private:
  // How long a silence may last, if that is less than two and a half periods.
  [[nodiscard]] std::optional<duration> silence_max() const noexcept;

  duration period_{without_limit};
  duration suspect_after_{without_limit};
  bool watches_closely_{};
  time_point heard_at_{};
  time_point sent_at_{};
  time_point heartbeat_sent_at_{};
  std::optional<time_point> unanswered_since_;
};

}  // namespace coxswain::detail
