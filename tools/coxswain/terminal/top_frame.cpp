#include "terminal/top_frame.hpp"

#include "terminal/top_sections.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace coxswain::tools {
namespace {

constexpr std::string_view help_text{R"(coxswain top shows a job, live.

TASKS               each task, or several in one place, by state
OPEN BARRIERS       who has arrived, who is missing, and when the barrier fails
WHO WAITS FOR WHAT  the same for keys and queues; STUCK: those will never go on
WHO COMES LAST      hosts, in the last 256 rounds; lag after the median arrival
BARRIER LATENCY     from the first task to the last, in those; x: it failed
EVENTS              what the coordinator has logged, at its local time

q      end                        space  stand still, and go on
k j    older, newer events        ?      this text
g G    the oldest, the newest     also the arrow and page keys
e      events from warnings, from errors, all

The same elsewhere: coxswain status, why, events; serve --http has a page.)"};

std::vector<styled_line> help_lines() {
  std::vector<styled_line> all;
  for (std::string_view left = help_text; !left.empty();) {
    auto const end = std::min(left.find('\n'), left.size());
    all.emplace_back(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return all;
}

styled_line foot(view_options const& how) {
  styled_line line;
  if (how.is_paused) line.add("PAUSED", style::warning).add("  ");
  return line.add("q quit  space pause  k/j older/newer  e severity  ? help", style::dim);
}

std::vector<section> sections_of(job_view const& view, view_options const& how, screen_size size) {
  return {head_section(view, size.columns),
          failure_section(view, size.columns),
          grid_section(view, size),
          trouble_section(view),
          barriers_section(view, size.columns),
          waits_section(view),
          stragglers_section(view),
          latency_section(view, size.columns, how.has_unicode),
          relays_section(view),
          tasks_section(view),
          events_section(view, how)};
}

std::vector<styled_line> job_lines(job_view const& view, view_options const& how,
                                   screen_size size) {
  auto const sections = sections_of(view, how, size);
  std::vector<line_wish> wishes;
  for (auto const& one : sections) wishes.push_back(one.wish);
  auto const given = lines_shared(wishes, size.lines);
  std::vector<styled_line> all;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    auto more = sections[i].made(given[i]);
    std::move(more.begin(), more.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace

std::vector<styled_line> top_frame(job_view const& view, view_options const& how, screen_size size,
                                   bool has_keys) {
  // On a tiny screen the line of keys gives way to the job.
  bool const has_foot = has_keys && size.lines > 4;
  if (has_foot) --size.lines;
  auto all = how.shows_help ? help_lines() : job_lines(view, how, size);
  if (has_foot) {
    all.resize(size.lines);
    all.push_back(foot(how));
  } else if (all.size() > size.lines) {
    all.resize(size.lines);
  }
  for (auto& line : all) line.cut(size.columns);
  return all;
}

}  // namespace coxswain::tools
