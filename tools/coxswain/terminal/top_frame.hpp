#pragma once
// What `coxswain top` shows of a job: the headline and its failure, what is missing, the tasks, the
// stragglers and the last events. It is made of what `status --json`, `why --json` and `events
// --json` write. Not here: polling (job_feed), and the screen (terminal).

#include "terminal/job_view.hpp"
#include "terminal/styled_line.hpp"

#include <vector>

namespace coxswain::tools {

// At most as many lines as the screen has, none wider than it. On a small screen the last sections
// are cut first.
[[nodiscard]] std::vector<styled_line> top_frame(job_view const& view, screen_size size);

}  // namespace coxswain::tools
