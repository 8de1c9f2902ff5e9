#pragma once
// A job as lines for a screen of any size; the most important sections get room first. Not here:
// the sections (top_sections), and the terminal.

#include "terminal/job_view.hpp"
#include "terminal/styled_line.hpp"

#include <vector>

namespace coxswain::tools {

// Not more than `size.lines` lines, none wider than `size.columns`. The last one lists the keys if
// there is a keyboard.
[[nodiscard]] std::vector<styled_line> top_frame(job_view const& view, view_options const& how,
                                                 screen_size size, bool has_keys);

}  // namespace coxswain::tools
