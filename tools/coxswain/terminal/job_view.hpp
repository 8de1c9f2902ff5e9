#pragma once
// The known state of a watched job, and how to show it. Not here: polling (job_feed), and layout
// (top_frame).

#include "coxswain/core/model/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::tools {

struct job_view {
  std::string address;
  core::snapshot job;
  core::why_answer why;
  std::deque<core::events_answer::entry> events;  // the last ones of each severity, oldest first

  // The coordinator does not answer: why, and for how long. The state is from before.
  struct silence {
    std::string why;
    duration length{};
  };
  std::optional<silence> lost;
};

// How many events of each severity are kept.
constexpr std::uint32_t events_kept_max = 500;

// Adds events that came later, and forgets the oldest of each severity. A line that stands for
// several events replaces theirs.
void take_events(std::deque<core::events_answer::entry>& kept,
                 std::vector<core::events_answer::entry> news);

struct view_options {
  bool has_unicode{};
  bool is_paused{};
  bool shows_help{};
  core::severity events_from{core::severity::info};  // less severe ones are hidden
  std::size_t scrolled{};                            // by so many events into the past
};

struct screen_size {
  std::size_t columns{80};
  std::size_t lines{24};
};

}  // namespace coxswain::tools
