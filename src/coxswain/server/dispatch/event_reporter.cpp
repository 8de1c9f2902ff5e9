#include "coxswain/server/dispatch/event_reporter.hpp"

#include <exception>

namespace coxswain::server {

void event_reporter::deliver(time_point now) {
  if (core_.logic().untold() == 0 && reported_.empty()) return;
  std::vector<core::event> events;
  core_.take_events(now, events);
  for (auto& one : reported_) events.push_back(std::move(one));
  reported_.clear();
  if (!log_) return;
  for (auto const& one : events) {
    try {
      log_(one);
    } catch (std::exception const&) {
    }
  }
}

}  // namespace coxswain::server
