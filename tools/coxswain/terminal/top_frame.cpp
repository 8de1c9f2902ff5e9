#include "terminal/top_frame.hpp"

#include "options/units.hpp"
#include "text/event_line.hpp"
#include "text/job_words.hpp"
#include "text/status_text.hpp"
#include "text/task_ranges.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/core/observe/pace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace coxswain::tools {
namespace {

// A wait this old is highlighted; a round is also logged.
constexpr duration long_wait = 10s;

constexpr std::size_t tasks_in_table_max = 64;
constexpr std::size_t stragglers_shown = 5;
constexpr std::size_t events_lines_least = 5;
constexpr std::size_t processes_named_max = 3;

using lines = std::vector<styled_line>;

struct section {
  lines all;
  std::size_t least{};  // with fewer lines it is omitted
};

// The label of this task; empty: it has none, or is not among the tasks. A round may name a task of
// an earlier epoch, and the pages of a list may be of different epochs.
std::string_view label_of(core::snapshot const& job, task_id which) {
  auto const at =
      std::lower_bound(job.tasks.begin(), job.tasks.end(), which,
                       [](core::snapshot::task const& t, task_id id) { return t.id < id; });
  return at == job.tasks.end() || at->id != which ? std::string_view{} : at->label;
}

// "3 (b12:3391)".
std::string named(task_id task, core::snapshot const& job) {
  auto const label = label_of(job, task);
  return label.empty() ? fmt::to_string(task.value) : fmt::format("{} ({})", task.value, label);
}

// "3,17-24", and of a few tasks also which processes they are.
std::string named(std::vector<task_id> const& which, core::snapshot const& job) {
  if (which.size() > processes_named_max) return ranges_of(which);
  std::string text;
  for (auto const task : which) text += (text.empty() ? "" : ",") + named(task, job);
  return text;
}

styled_line title(std::string_view text, std::string_view beside = {}) {
  styled_line line{text, style::title};
  if (!beside.empty()) line.add("  ").add(beside, style::dim);
  return line;
}

void add_wrapped(lines& to, std::string_view text, std::size_t columns, std::size_t lines_max,
                 style how, std::string_view indent = {}) {
  for (auto const& part : wrapped(text, columns - std::min(columns, indent.size()), lines_max)) {
    to.push_back(styled_line{indent}.add(part, how));
  }
}

style style_of(core::job_state::kind what) {
  using kind = core::job_state::kind;
  switch (what) {
    case kind::failed: return style::alarm;
    case kind::deadlock: return style::bad;
    case kind::waiting:
    case kind::slow: return style::warning;
    default: return style::bold;
  }
}

// By the coordinator's clock; none: it is not known.
std::optional<wall_time> time_of(job_view const& view) {
  if (view.events.empty()) return std::nullopt;
  auto const& newest = view.events.back();
  return newest.time.plus(view.job.uptime - newest.at);
}

// "12 steps per minute"; empty: none are made, or the headline says it.
std::string pace_text(core::snapshot const& job) {
  auto const pace = core::pace_of(job.rounds, job.uptime);
  bool const is_said = job.state.headline.find(" per minute") != std::string::npos;
  if (!pace || is_said) return {};
  auto const per_minute =
      static_cast<double>(duration{1min}.count()) / static_cast<double>(pace->step.count());
  return fmt::format("   {:.{}f} steps per minute", per_minute, per_minute < 10 ? 1 : 0);
}

// How long ago it was, and what followed from it; then what did not.
lines failure(job_view const& view) {
  auto const& job = view.job;
  auto const& error = *job.error;
  lines all;
  std::vector<task_id> ended;
  for (auto const& t : job.tasks) {
    if (t.ended_with_job) ended.push_back(t.id);
  }
  std::string after;
  auto const now = time_of(view);
  if (now && job.state.since) {
    duration const age = std::chrono::milliseconds{now->unix_ms - job.state.since->unix_ms};
    after = text_of(std::max(age, duration{})) + " ago";
  }
  if (!ended.empty()) {
    after += fmt::format("{}{} ended with the job: {}", after.empty() ? "" : "; ",
                         counted(ended.size(), "task"), ranges_of(ended));
  }
  if (!after.empty()) all.emplace_back("  " + after, style::dim);
  constexpr std::size_t later_shown = 3;
  std::size_t shown{};
  for (auto const& f : error.later) {
    bool const is_consequence = f.task && std::binary_search(ended.begin(), ended.end(), *f.task);
    if (is_consequence || shown == later_shown) continue;
    ++shown;
    all.emplace_back(fmt::format("  then {}: {}", who(f.task), f.why.text()), style::bad);
  }
  if (error.later_count > shown + ended.size()) {
    auto const more = error.later_count - shown - ended.size();
    all.emplace_back(fmt::format("  and {} more", more), style::bad);
  }
  return all;
}

// Whether the coordinator answers, how the job is, and since when it has failed.
section headline(job_view const& view, std::size_t columns) {
  auto const& job = view.job;
  constexpr std::size_t lines_of_sentence = 20;
  lines all;
  if (view.lost) {
    add_wrapped(all, "No answer since " + view.lost->since + "; last known state:", columns, 2,
                style::alarm);
    add_wrapped(all, view.lost->why, columns, 2, style::dim, "  ");
  }
  if (!job.state.headline.empty()) {
    add_wrapped(all, job.state.headline, columns, lines_of_sentence, style_of(job.state.what));
  }
  if (job.error) {
    auto more = failure(view);
    std::move(more.begin(), more.end(), std::back_inserter(all));
  }
  styled_line first{fmt::format("job '{}'", job.job), style::bold};
  first.add(fmt::format(" at {}   up {}   coordinator {}   {}", view.address, text_of(job.uptime),
                        job.version, counted(job.sessions, "session")));
  all.push_back(std::move(first));
  if (job.leader) all.emplace_back(leader_text(*job.leader));
  auto const epoch = job.elastic ? fmt::format("   epoch {}", job.elastic->epoch) : std::string{};
  auto const spares =
      job.spares_waiting == 0 ? std::string{} : "   " + counted(job.spares_waiting, "spare");
  all.emplace_back(fmt::format("{}: {}{}   {} of {} memory   {}", counted(job.tasks.size(), "task"),
                               tally(job.tasks), pace_text(job) + epoch + spares,
                               size_text(job.memory_bytes), size_text(job.memory_bytes_max),
                               counted(job.keys, "key")));
  return {std::move(all), 1};
}

// Who waits for what, who is missing, and which waits are stuck.
section missing(job_view const& view, std::size_t columns) {
  auto const& why = view.why;
  auto const count = why.waits.size() + why.more;
  lines all{title("MISSING", count == 0 ? "no call is waiting" : counted(count, "wait"))};
  bool const is_said = view.job.state.what == core::job_state::kind::deadlock;
  if (!why.stuck.empty() && !is_said) all.emplace_back("  " + why.stuck, style::bad);
  for (auto const& w : why.waits) {
    styled_line line{"  "};
    line.add(what_text(w), style::bold);
    if (w.stuck) line.add(" STUCK", style::bad);
    using kind = core::why_answer::kind;
    bool const is_held = w.what == kind::lock || w.what == kind::pop;
    if (w.missing && !is_held) {
      line.add(fmt::format("  {}/{}", w.missing->arrived, w.missing->expected));
    }
    line.add("  waits ").add(text_of(w.age), w.age < long_wait ? style::plain : style::warning);
    line.add(w.remaining ? ", times out in " + text_of(*w.remaining) : ", without limit");
    all.push_back(line.add(": ").add(waiting_text(w)));
    if (!w.missing) continue;
    auto const how = w.age < long_wait ? style::plain : style::warning;
    auto const& f = *w.missing;
    if (is_held) {
      all.emplace_back(
          fmt::format("    {} {}", w.what == kind::lock ? "held by" : "leased to", f.missing));
    } else if (!f.missing.empty()) {
      add_wrapped(all,
                  fmt::format("missing {}: {}", f.expected - f.arrived,
                              ranges_text(f.missing, f.missing_cut)),
                  columns, 3, how, "    ");
    }
    for (auto const& m : f.known) all.emplace_back("    " + missing_task_text(m), how);
  }
  return {std::move(all), count == 0 ? 1U : 3U};
}

enum class concern : std::uint8_t { failed, suspect, never_connected, returning, joining, none };

constexpr std::array concerns{std::pair{"failed", style::bad}, std::pair{"suspect", style::warning},
                              std::pair{"never connected", style::warning},
                              std::pair{"returning", style::busy},
                              std::pair{"joining", style::busy}};

concern concern_of(core::snapshot::task const& t) {
  switch (t.state) {
    case task_state::failed: return concern::failed;
    case task_state::never_connected: return concern::never_connected;
    case task_state::returning: return concern::returning;
    case task_state::joining: return t.suspect ? concern::suspect : concern::joining;
    case task_state::connected: return t.suspect ? concern::suspect : concern::none;
    case task_state::left: break;
  }
  return concern::none;
}

// How far the connected tasks are.
std::string steps_text(core::snapshot const& job) {
  std::uint64_t first{};
  std::uint64_t last{};
  std::vector<task_id> behind;
  for (auto const& t : job.tasks) {
    if (!t.progress || t.state != task_state::connected) continue;
    auto const step = t.progress->step;
    if (behind.empty() || step < first) {
      if (behind.empty()) last = step;
      behind.clear();
      first = step;
    }
    last = std::max(last, step);
    if (step == first) behind.push_back(t.id);
  }
  if (behind.empty()) return {};
  if (first == last) return fmt::format("all at step {}", first);
  return fmt::format("steps {} to {}; furthest behind: {}", first, last, ranges_of(behind));
}

// The tasks that are not as they should be, how far the others are, and a few tasks as a table.
section tasks(core::snapshot const& job) {
  std::array<std::vector<task_id>, concerns.size() + 1> by_concern{};
  for (auto const& t : job.tasks) {
    by_concern[static_cast<std::size_t>(concern_of(t))].push_back(t.id);
  }
  auto const steps = steps_text(job);
  lines all{title("TASKS", steps)};
  for (std::size_t i = 0; i < concerns.size(); ++i) {
    if (by_concern[i].empty()) continue;
    auto const& [name, how] = concerns[i];
    styled_line line{"  "};
    line.add(fmt::format("{} {}: ", by_concern[i].size(), name), how);
    all.push_back(line.add(named(by_concern[i], job)));
  }
  auto const least = all.size();
  if (job.tasks.empty() || job.tasks.size() > tasks_in_table_max) {
    if (least == 1 && steps.empty()) return {};
    return {std::move(all), least};
  }
  std::string_view table;
  auto const text = tasks_text(job.tasks);
  for (table = text; !table.empty();) {
    auto const end = table.find('\n');
    all.emplace_back(table.substr(0, end));
    table.remove_prefix(end + 1);
  }
  return {std::move(all), least};
}

section stragglers(core::snapshot const& job) {
  if (job.stragglers.empty()) return {};
  lines all{title("STRAGGLERS", fmt::format("last in the last {}; lag after the median arrival",
                                            counted(job.stragglers.front().of, "round")))};
  for (auto const& s : job.stragglers) {
    if (all.size() > stragglers_shown) break;
    styled_line line{"  "};
    line.add("task " + named(s.task, job), style::bold);
    all.push_back(
        line.add(fmt::format(": {}, {} on average, {} at most", counted(s.times_last, "time"),
                             text_of(s.lag_mean), text_of(s.lag_max))));
  }
  return {std::move(all), 2};
}

// The last ones; as many as there is room for.
section events(job_view const& view, std::size_t lines_max) {
  if (view.events.empty()) return {};
  auto const now = *time_of(view);
  lines all{title("EVENTS")};
  auto const count = std::min(view.events.size(), lines_max - std::min<std::size_t>(lines_max, 1));
  for (auto e = view.events.end() - static_cast<std::ptrdiff_t>(count); e != view.events.end();
       ++e) {
    auto const level = e->what.level;
    all.emplace_back("  " + short_event_text(*e, now), level == core::severity::info ? style::plain
                                                       : level == core::severity::warning
                                                           ? style::warning
                                                           : style::bad);
  }
  return {std::move(all), 2};
}

}  // namespace

std::vector<styled_line> top_frame(job_view const& view, screen_size size) {
  std::array sections{headline(view, size.columns), missing(view, size.columns), tasks(view.job),
                      stragglers(view.job)};
  // The headline gets what it wants, then each section its least, then each what it wants.
  sections[0].least = sections[0].all.size();
  auto left = size.lines;
  std::array<std::size_t, sections.size()> given{};
  for (std::size_t i = 0; i < sections.size(); ++i) {
    auto const least = std::min(sections[i].least, sections[i].all.size());
    given[i] = least <= left || i == 0 ? std::min(least, left) : 0;
    left -= given[i];
  }
  auto const least_events = view.events.empty() || left < 2
                                ? 0
                                : std::min({left, events_lines_least, view.events.size() + 1});
  left -= least_events;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (given[i] < sections[i].least) continue;
    auto const more = std::min(sections[i].all.size() - given[i], left);
    given[i] += more;
    left -= more;
  }
  lines frame;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    auto const begin = sections[i].all.begin();
    std::move(begin, begin + static_cast<std::ptrdiff_t>(given[i]), std::back_inserter(frame));
  }
  if (least_events > 0) {
    auto last = events(view, least_events + left).all;
    std::move(last.begin(), last.end(), std::back_inserter(frame));
  }
  for (auto& line : frame) line.cut(size.columns);
  return frame;
}

}  // namespace coxswain::tools
