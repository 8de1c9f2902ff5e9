#pragma once
// The known state of a watched job. Not here: polling (job_feed), and layout (top_frame).

#include "coxswain/core/model/messages.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::tools {

struct job_view {
  std::string address;
  core::snapshot job;
  core::why_answer why;
  std::vector<core::events_answer::entry> events;  // the last ones, oldest first

  // The coordinator does not answer: why, and since when, "23:10:12". The state is from before.
  struct silence {
    std::string why;
    std::string since;
  };
  std::optional<silence> lost;
};

// How many events are read, of each severity.
constexpr std::uint32_t events_shown_max = 50;

struct screen_size {
  std::size_t columns{80};
  std::size_t lines{24};
};

}  // namespace coxswain::tools
