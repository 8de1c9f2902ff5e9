#pragma once
// An event of the coordinator as a line for people.

#include "coxswain/core/model/messages.hpp"

#include <string>

namespace coxswain::tools {

// Each without the end of the line: the wall clock (RFC 3339) and the seconds since the coordinator
// started, severity and text.
[[nodiscard]] std::string event_text(core::events_answer::entry const& e);
// Local time of the coordinator only; with the date unless `now` is on the same day.
[[nodiscard]] std::string short_event_text(core::events_answer::entry const& e, wall_time now);

}  // namespace coxswain::tools
