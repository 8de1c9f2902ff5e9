#include "terminal/top_sections.hpp"

#include "options/units.hpp"
#include "terminal/sparkline.hpp"
#include "terminal/task_grid.hpp"
#include "text/event_line.hpp"
#include "text/job_words.hpp"
#include "text/status_text.hpp"
#include "text/task_ranges.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/status/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace coxswain::tools {
namespace {

// A round this old is highlighted; it is also logged.
constexpr duration long_wait = 10s;

constexpr std::size_t bar_columns = 10;
constexpr std::size_t later_failures_shown = 3;
constexpr std::size_t tasks_in_table_max = 64;
constexpr std::size_t stragglers_shown = 8;
constexpr std::size_t processes_named_max = 3;

using lines = std::vector<styled_line>;

// The order in which sections get scarce room. Those before the grid stay longest.
struct rank {
  enum order : int {
    head,
    failure,
    barriers,
    trouble,
    grid,
    waits,
    stragglers,
    latency,
    events,
    relays,
    tasks
  };
};

// A section whose lines are known. Its title has their total number.
section known(int rank, std::size_t least, lines all) {
  auto const wanted = all.size();
  auto made = [all = std::move(all)](std::size_t count) {
    return lines(all.begin(),
                 all.begin() + static_cast<std::ptrdiff_t>(std::min(count, all.size())));
  };
  return {{rank, std::min(least, wanted), wanted}, std::move(made)};
}

// The label of this task; empty: it has none, or is not among the tasks. A round may name a task of
// an earlier epoch, and the pages of a list may be of different epochs.
std::string_view label_of(core::snapshot const& job, task_id which) {
  auto const at =
      std::lower_bound(job.tasks.begin(), job.tasks.end(), which,
                       [](core::snapshot::task const& t, task_id id) { return t.id < id; });
  return at == job.tasks.end() || at->id != which ? std::string_view{} : at->label;
}

// "3,17-24", and of a few tasks also which processes they are: "3 (b12:3391)".
std::string named(std::vector<task_id> const& which, job_view const& view) {
  if (which.size() > processes_named_max) return ranges_of(which);
  std::string text;
  for (auto const task : which) {
    auto const label = label_of(view.job, task);
    text += fmt::format("{}{}", text.empty() ? "" : ",", task.value);
    if (!label.empty()) text += fmt::format(" ({})", label);
  }
  return text;
}

styled_line title(std::string_view text, std::string_view beside = {}) {
  styled_line line{text, style::title};
  if (!beside.empty()) line.add("  ").add(beside, style::dim);
  return line;
}

}  // namespace

section head_section(job_view const& view, std::size_t columns) {
  auto const& job = view.job;
  lines all;
  styled_line first{fmt::format("job '{}'", job.job), style::bold};
  first.add(fmt::format(" at {}   up {}   coordinator {}   {}", view.address, text_of(job.uptime),
                        job.version, counted(job.sessions, "session")));
  all.push_back(std::move(first));
  if (job.leader) all.emplace_back(leader_text(*job.leader));
  if (view.lost) {
    auto const text = fmt::format("NO ANSWER for {}, what follows is from before; tries again. {}",
                                  text_of(view.lost->length), view.lost->why);
    for (auto const& part : wrapped(text, columns, 2)) all.emplace_back(part, style::alarm);
  }
  auto const epoch = job.elastic ? fmt::format("   epoch {}", job.elastic->epoch) : std::string{};
  auto const spares =
      job.spares_waiting == 0 ? std::string{} : "   " + counted(job.spares_waiting, "spare");
  all.emplace_back(fmt::format("{}: {}{}   {} of {} memory   {}", counted(job.tasks.size(), "task"),
                               tally(job.tasks), epoch + spares, size_text(job.memory_bytes),
                               size_text(job.memory_bytes_max), counted(job.keys, "key")));
  auto const size = all.size();
  return known(rank::head, size, std::move(all));
}

section failure_section(job_view const& view, std::size_t columns) {
  lines all;
  if (!view.job.error) return known(rank::failure, 0, {});
  auto const& error = *view.job.error;
  auto const text =
      fmt::format(" THE JOB HAS FAILED: {}: {} ", who(error.cause.task), error.cause.why.text());
  for (auto const& part : wrapped(text, columns - std::min<std::size_t>(columns, 1), 6)) {
    styled_line line{part, style::alarm};
    all.push_back(line.fill(columns));
  }
  auto const least = std::min<std::size_t>(all.size(), 3);
  for (std::size_t i = 0; i < std::min(error.later.size(), later_failures_shown); ++i) {
    auto const& f = error.later[i];
    all.emplace_back(fmt::format("  then {}: {}", who(f.task), f.why.text()), style::bad);
  }
  if (error.later_count > later_failures_shown) {
    all.emplace_back(fmt::format("  and {} more", error.later_count - later_failures_shown),
                     style::bad);
  }
  return known(rank::failure, least, std::move(all));
}

section grid_section(job_view const& view, screen_size size) {
  auto const& all = view.job.tasks;
  if (all.empty()) return known(rank::grid, 0, {});
  auto const rows_max = std::max<std::size_t>(size.lines / 2, 1);
  auto const wanted = task_grid{all.size(), size.columns, rows_max}.rows();
  auto made = [&all, size](std::size_t count) {
    if (count < 2) return lines{};
    task_grid const grid{all.size(), size.columns, count - 1};
    std::array<bool, task_grid::marks> is_there{};
    for (auto const& t : all) is_there[static_cast<std::size_t>(task_grid::mark_of(t))] = true;
    auto first = title("TASKS");
    for (std::size_t i = 0; i < is_there.size(); ++i) {
      auto const m = static_cast<task_grid::mark>(i);
      auto const letter = task_grid::letter(m);
      if (is_there[i]) {
        first.add("  ").add({&letter, 1}, task_grid::style_of(m)).add(" ");
        first.add(task_grid::name(m), style::dim);
      }
    }
    if (grid.tasks_per_cell() > 1) {
      first.add(fmt::format("  each place: the worst of {} tasks", grid.tasks_per_cell()),
                style::dim);
    }
    auto shown = grid.lines(all);
    shown.insert(shown.begin(), std::move(first));
    return shown;
  };
  return {{rank::grid, std::min<std::size_t>(wanted, 4) + 1, wanted + 1}, std::move(made)};
}

section trouble_section(job_view const& view) {
  std::array<std::vector<task_id>, 5> who_is{};  // as the first five marks
  std::optional<std::pair<std::uint64_t, std::uint64_t>> steps;
  std::vector<task_id> behind;
  for (auto const& t : view.job.tasks) {
    auto const m = static_cast<std::size_t>(task_grid::mark_of(t));
    if (m < who_is.size()) who_is[m].push_back(t.id);
    if (!t.progress || t.state != task_state::connected) continue;
    auto const step = t.progress->step;
    if (!steps || step < steps->first) behind.clear();
    steps = steps ? std::pair{std::min(steps->first, step), std::max(steps->second, step)}
                  : std::pair{step, step};
    if (step == steps->first) behind.push_back(t.id);
  }
  lines all;
  for (std::size_t i = 0; i < who_is.size(); ++i) {
    if (who_is[i].empty()) continue;
    auto const m = static_cast<task_grid::mark>(i);
    styled_line line{"  "};
    line.add(fmt::format("{} {}: ", who_is[i].size(), task_grid::name(m)),
             m == task_grid::mark::failed ? style::bad : task_grid::style_of(m));
    all.push_back(line.add(named(who_is[i], view)));
  }
  if (steps && steps->first == steps->second) {
    all.emplace_back(fmt::format("  all at step {}", steps->first));
  } else if (steps) {
    all.emplace_back(fmt::format("  steps {} to {}; furthest behind: {}", steps->first,
                                 steps->second, ranges_of(behind)));
  }
  auto const size = all.size();
  return known(rank::trouble, size, std::move(all));
}

namespace {

section table_section(int rank, std::string_view text) {
  lines all;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    all.emplace_back(text.substr(at, text.find('\n', at) - at),
                     at == 0 ? style::title : style::plain);
  }
  auto shown = known(rank, 0, std::move(all));
  // A title without lines is omitted.
  auto made = [table = std::move(shown.made)](std::size_t count) {
    return count < 2 ? lines{} : table(count);
  };
  shown.made = std::move(made);
  return shown;
}

}  // namespace

section relays_section(job_view const& view) {
  return table_section(rank::relays, view.job.relays.empty() ? "" : relays_text(view.job));
}

section tasks_section(job_view const& view) {
  auto const& tasks = view.job.tasks;
  bool const is_shown = !tasks.empty() && tasks.size() <= tasks_in_table_max;
  return table_section(rank::tasks, is_shown ? tasks_text(tasks) : "");
}

namespace {

// "[######----]"
std::string progress_bar(std::uint32_t arrived, std::uint32_t expected) {
  auto const full = expected == 0 ? 0 : bar_columns * arrived / expected;
  return fmt::format("[{}{}]", std::string(full, '#'), std::string(bar_columns - full, '-'));
}

lines barrier_lines(core::snapshot::barrier const& b, std::size_t columns) {
  auto name = barrier_name(b);
  if (b.round.value > 0) name += fmt::format(" round {}", b.round.value);
  std::size_t const name_columns = columns < 100 ? 20 : 40;
  styled_line first{"  "};
  first.add(name, style::bold).cut(name_columns + 2).fill(name_columns + 3);
  first.add(progress_bar(b.arrived, b.expected), style::busy);
  first.add(fmt::format(" {}/{}", b.arrived, b.expected), style::bold);
  first.add("  waits ").add(text_of(b.age), b.age < long_wait ? style::plain : style::warning);
  first.add(b.remaining ? ", fails in " + text_of(*b.remaining) : ", without limit");
  lines all{std::move(first)};
  auto const missing = fmt::format("missing {}: {}", b.expected - b.arrived, missing_text(b));
  for (auto const& part : wrapped(missing, columns - std::min<std::size_t>(columns, 4), 3)) {
    styled_line line{"    "};
    all.push_back(line.add(part, b.age < long_wait ? style::plain : style::warning));
  }
  return all;
}

}  // namespace

section barriers_section(job_view const& view, std::size_t columns) {
  auto open = view.job.barriers;
  std::stable_sort(open.begin(), open.end(),
                   [](auto const& a, auto const& b) { return a.age > b.age; });
  lines all;
  all.push_back(title(
      "OPEN BARRIERS",
      open.empty() ? "none"
                   : fmt::format("{}, the oldest first", open.size() + view.job.more_barriers)));
  for (auto const& b : open) {
    auto more = barrier_lines(b, columns);
    all.insert(all.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
  }
  return known(rank::barriers, open.empty() ? 1 : 3, std::move(all));
}

section waits_section(job_view const& view) {
  lines all;
  auto const count = view.why.waits.size() + view.why.more;
  all.push_back(title("WHO WAITS FOR WHAT", count == 0 ? "nobody waits" : counted(count, "wait")));
  if (!view.why.stuck.empty()) {
    styled_line line{"  "};
    all.push_back(line.add(view.why.stuck, style::bad));
  }
  for (auto const& w : view.why.waits) {
    styled_line line{"  "};
    line.add(what_text(w), style::bold);
    if (w.stuck) line.add(" STUCK", style::bad);
    line.add(fmt::format(": {} for {}", waiting_text(w), text_of(w.age)));
    all.push_back(std::move(line));
    if (!w.missing) continue;
    for (auto const& m : w.missing->known) {
      all.emplace_back("    for " + missing_task_text(m),
                       m.state == task_state::connected ? style::plain : style::warning);
    }
  }
  return known(rank::waits, view.why.waits.empty() ? 1 : 3, std::move(all));
}

namespace {

// A host that came last in rounds, or a task that names none.
struct latecomer {
  std::string name;
  std::set<task_id> tasks;
  std::size_t times{};
  duration lag_sum{};
  duration lag_max{};
};

// "b12" of "b12:3391".
std::string host_of(std::string_view label) {
  return std::string{label.substr(0, std::min(label.rfind(':'), label.size()))};
}

// Most often last first; among equals, the one with more lag.
std::vector<latecomer> latecomers(core::snapshot const& job) {
  std::map<std::string, latecomer> by_name;
  for (auto const& r : job.rounds) {
    if (!r.last_task) continue;
    auto const host = host_of(label_of(job, *r.last_task));
    auto const name = host.empty() ? fmt::format("task {}", r.last_task->value) : host;
    auto& one = by_name[name];
    one.name = name;
    if (!host.empty()) one.tasks.insert(*r.last_task);
    ++one.times;
    one.lag_sum += r.lag;
    one.lag_max = std::max(one.lag_max, r.lag);
  }
  std::vector<latecomer> all;
  for (auto& [_, one] : by_name) all.push_back(std::move(one));
  std::stable_sort(all.begin(), all.end(), [](auto const& a, auto const& b) {
    return std::pair{a.times, a.lag_sum} > std::pair{b.times, b.lag_sum};
  });
  return all;
}

}  // namespace

section stragglers_section(job_view const& view) {
  auto const found = latecomers(view.job);
  if (found.empty()) return known(rank::stragglers, 0, {});
  lines all;
  all.push_back(title("WHO COMES LAST", fmt::format("of the last {}; lag after the median arrival",
                                                    counted(view.job.rounds.size(), "round"))));
  for (std::size_t i = 0; i < std::min(found.size(), stragglers_shown); ++i) {
    auto const& s = found[i];
    styled_line line{"  "};
    line.add(s.name, style::bold);
    line.add(fmt::format(": {}, {} on average, {} at most", counted(s.times, "time"),
                         text_of(s.lag_sum / s.times), text_of(s.lag_max)));
    if (!s.tasks.empty()) {
      line.add(fmt::format("; {} {}", s.tasks.size() == 1 ? "task" : "tasks",
                           ranges_of({s.tasks.begin(), s.tasks.end()})));
    }
    all.push_back(std::move(line));
  }
  return known(rank::stragglers, 2, std::move(all));
}

section latency_section(job_view const& view, std::size_t columns, bool has_unicode) {
  auto const& rounds = view.job.rounds;
  if (rounds.empty()) return known(rank::latency, 0, {});
  std::vector<bar> bars;
  std::vector<duration> passed;
  for (auto const& r : rounds) {
    bool const has_failed = r.outcome != errc::ok;
    bars.push_back({r.spread, has_failed});
    if (!has_failed) passed.push_back(r.spread);
  }
  std::sort(passed.begin(), passed.end());
  std::string text;
  if (!passed.empty()) {
    text = fmt::format("median {}, longest {}, ", text_of(passed[passed.size() / 2]),
                       text_of(passed.back()));
  }
  auto const failed = rounds.size() - passed.size();
  if (failed > 0) text += fmt::format("{} failed, ", failed);
  text += fmt::format("{} in {}", counted(rounds.size(), "round"),
                      text_of(rounds.back().at - rounds.front().at));
  styled_line line{"  "};
  auto const chart = sparkline(bars, columns - std::min<std::size_t>(columns, 2), has_unicode);
  lines all{title("BARRIER LATENCY", text), line.add(chart)};
  return known(rank::latency, 2, std::move(all));
}

section events_section(job_view const& view, view_options const& how) {
  std::vector<core::events_answer::entry const*> all;
  for (auto const& e : view.events) {
    if (e.what.level >= how.events_from) all.push_back(&e);
  }
  if (all.empty()) return known(rank::events, 0, {});
  auto const& newest = view.events.back();
  auto const now = newest.time.plus(view.job.uptime - newest.at);
  auto const size = all.size();
  auto made = [all = std::move(all), now, how](std::size_t count) {
    if (count < 2) return lines{};
    auto const shown = std::min(count - 1, all.size());
    auto const hidden = std::min(how.scrolled, all.size() - shown);  // after those that are shown
    std::string about;
    if (how.events_from != core::severity::info) {
      about = fmt::format("from {}", status_page::name_of(how.events_from));
    }
    if (hidden > 0)
      about += fmt::format("{}{} later ones below", about.empty() ? "" : ", ", hidden);
    lines found{title("EVENTS", about)};
    auto const end = all.end() - static_cast<std::ptrdiff_t>(hidden);
    for (auto e = end - static_cast<std::ptrdiff_t>(shown); e != end; ++e) {
      auto const level = (*e)->what.level;
      found.emplace_back("  " + short_event_text(**e, now),
                         level == core::severity::info      ? style::plain
                         : level == core::severity::warning ? style::warning
                                                            : style::bad);
    }
    return found;
  };
  return {{rank::events, 2, size + 1}, std::move(made)};
}

}  // namespace coxswain::tools
