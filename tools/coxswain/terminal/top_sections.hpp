#pragma once
// The parts of the screen of `coxswain top`: each states how many lines it wants, and fills those
// it gets. Not here: their distribution (lines_shared, top_frame).

#include "terminal/job_view.hpp"
#include "terminal/lines_shared.hpp"
#include "terminal/styled_line.hpp"

#include <functional>
#include <vector>

namespace coxswain::tools {

struct section {
  line_wish wish;
  std::function<std::vector<styled_line>(std::size_t lines)> made;
};

// The job and its coordinator, and whether it answers.
[[nodiscard]] section head_section(job_view const& view, std::size_t columns);

// Why the job has failed.
[[nodiscard]] section failure_section(job_view const& view, std::size_t columns);

// All tasks, one place each or for several.
[[nodiscard]] section grid_section(job_view const& view, screen_size size);

// The tasks that have failed, are suspect or have not come; how far the others are.
[[nodiscard]] section trouble_section(job_view const& view);

[[nodiscard]] section barriers_section(job_view const& view, std::size_t columns);
[[nodiscard]] section waits_section(job_view const& view);
[[nodiscard]] section stragglers_section(job_view const& view);
[[nodiscard]] section latency_section(job_view const& view, std::size_t columns, bool has_unicode);
[[nodiscard]] section events_section(job_view const& view, view_options const& how);

// The relays, and a few tasks, as tables if there is room.
[[nodiscard]] section relays_section(job_view const& view);
[[nodiscard]] section tasks_section(job_view const& view);

}  // namespace coxswain::tools
