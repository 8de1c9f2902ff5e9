#pragma once
// Passes the core's events to the log, and those of the server itself after them. Not here: which
// events there are (core), printing them (the log).

#include "coxswain/core/model/event.hpp"
#include "coxswain/server/dispatch/recorded_core.hpp"

#include <functional>
#include <utility>
#include <vector>

namespace coxswain::server {

class event_reporter {
 public:
  // `core` must outlive it. `log` may be empty; its exceptions are ignored, since it is user code.
  event_reporter(recorded_core& core, std::function<void(core::event const&)> log)
      : core_{core}, log_{std::move(log)} {}

  // An event that does not come from the core; the next `deliver` passes it on.
  void report(core::event what) { reported_.push_back(std::move(what)); }

  [[nodiscard]] bool has_events() const {
    return core_.logic().untold() != 0 || !reported_.empty();
  }
  // Passes on all events. The log may call back.
  void deliver(time_point now);

 private:
  void log_events(std::vector<core::event> const& events) const;

  recorded_core& core_;
  std::function<void(core::event const&)> log_;
  std::vector<core::event> reported_;
  std::vector<core::event> room_;  // for the next events
};

}  // namespace coxswain::server
