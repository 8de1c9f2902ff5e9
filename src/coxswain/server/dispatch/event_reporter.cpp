#include "coxswain/server/dispatch/event_reporter.hpp"

#include <cstddef>
#include <exception>

namespace coxswain::server {
namespace {

// The capacity kept between deliveries, in events.
constexpr std::size_t room_max = 64;

}  // namespace

void event_reporter::deliver(time_point now) {
  if (!has_events()) return;
  auto events = std::exchange(room_, {});  // the log may call back
  core_.take_events(now, events);
  for (auto& event : reported_) events.push_back(std::move(event));
  reported_.clear();
  if (log_) log_events(events);
  events.clear();
  if (events.capacity() <= room_max) room_ = std::move(events);
}

void event_reporter::log_events(std::vector<core::event> const& events) const {
  for (auto const& event : events) {
    try {
      log_(event);
    } catch (std::exception const&) {
    }
  }
}

}  // namespace coxswain::server
