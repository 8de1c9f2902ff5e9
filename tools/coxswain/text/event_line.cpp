#include "text/event_line.hpp"

#include "terminal/harmless_text.hpp"

#include "coxswain/status/json.hpp"

#include <fmt/format.h>

#include <chrono>

namespace coxswain::tools {

namespace {

// "error   task 7 (b12:3391) failed: ... [10,000 like this since 14:03:07.2, of tasks 0-9999]"
std::string what_happened(core::events_answer::entry const& e) {
  auto text =
      fmt::format("{:<8}{}", status_page::name_of(e.what.level), harmless_line(e.what.text));
  if (e.count < 2) return text;
  auto const first = e.time.plus(e.first_at - e.at);
  text += fmt::format(" [{} like this since {}", e.count, clock_text(first, e.time));
  if (!e.tasks.empty()) text += ", of tasks " + e.tasks;
  if (e.tasks_cut > 0) text += fmt::format(" and {} more", e.tasks_cut);
  return text + "]";
}

}  // namespace

std::string event_text(core::events_answer::entry const& e) {
  auto const at = std::chrono::floor<std::chrono::milliseconds>(e.at).count();
  return fmt::format("{} {:>6}.{:03} {}", rfc3339(e.time), at / 1000, at % 1000, what_happened(e));
}

std::string short_event_text(core::events_answer::entry const& e, wall_time now) {
  return clock_text(e.time, now) + " " + what_happened(e);
}

}  // namespace coxswain::tools
