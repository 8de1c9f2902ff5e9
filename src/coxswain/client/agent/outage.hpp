#pragma once
// The time without a connection to the coordinator: since when, what the tries to connect gave, and
// when to report it. Not here: when to try (backoff), and when to give up (agent).

#include "coxswain/base/error.hpp"
#include "coxswain/base/time.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace coxswain::detail {

class outage {
 public:
  // The connection was lost, or there is none yet.
  void begin(time_point now);

  // There is a connection.
  void end() {
    announced_ = false;
    last_error_ = {};
  }

  // Whether the owner knows of it; from now on it does.
  [[nodiscard]] bool is_announced() const noexcept { return announced_; }
  void announce() noexcept { announced_ = true; }

  // A try to connect begins; it has failed; it was refused, or otherwise got no connection.
  void tried() noexcept { ++tries_; }
  void failed(status why) { last_error_ = std::move(why); }
  void note_refusal(time_point now, bool refused);

  // Every try since then was refused; none if the last one was not.
  [[nodiscard]] std::optional<time_point> const& refused_since() const noexcept {
    return refused_since_;
  }

  // When the next report is due.
  [[nodiscard]] time_point report_at() const noexcept { return report_at_; }

  // The report, and schedules the next one. `place` is the coordinator, `obstacle` why there is no
  // connection, and at `end` the session gives up; time_point::max() for never.
  [[nodiscard]] std::string report(time_point now, std::string const& place,
                                   std::string const& obstacle, time_point end);

  [[nodiscard]] duration length(time_point now) const { return now - down_at_; }
  [[nodiscard]] status const& last_error() const noexcept { return last_error_; }

  // For people: "3 tries".
  [[nodiscard]] std::string tries_text() const;

 private:
  time_point down_at_{};
  time_point report_at_{};
  duration report_every_{};
  std::optional<time_point> refused_since_;
  std::uint64_t tries_{};
  status last_error_;
  bool announced_{};
};

}  // namespace coxswain::detail
