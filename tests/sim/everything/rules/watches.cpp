// Watches of keys, tasks and events report everything, once and in order.

#include "tests/sim/everything/rules/key_story.hpp"
#include "tests/sim/everything/rules/rules.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>

namespace coxswain::sim {
namespace {

bool ends_too_early(call_record const& c) {
  return c.timeout == without_limit || *c.answered < c.made + c.timeout;
}

void check_key_watch(history const& h, call_record const& c, violations& found) {
  auto const* const got = c.gave<core::key_changes_answer>();
  if (!got || !c.is_ok()) return;
  auto const& args = std::get<core::watch_keys_args>(c.asked);
  std::vector<core::key_change> expected;
  std::string const directory = normal(args.directory);
  for (key_record const& one : h.keys) {
    bool const is_new = args.after && one.what.version > *args.after;
    if (is_new && one.what.version <= got->version && concerns(one.what.key, directory)) {
      expected.push_back(one.what);
    }
  }
  if (got->changes != expected) found.push_back("not what has changed: " + h.text(c));
  bool const looked_its_part =
      args.after && got->version == *args.after + h.options.changes_looked_at_max;
  if (args.after && got->changes.empty() && !looked_its_part && ends_too_early(c)) {
    found.push_back("returned empty before its time: " + h.text(c));
  }
}

void check_task_watch(history const& h, call_record const& c,
                      std::map<std::uint64_t, core::tasks_answer const*> const& seen,
                      violations& found) {
  auto const* const got = c.gave<core::tasks_answer>();
  if (!got) return;
  auto const& args = std::get<core::watch_tasks_args>(c.asked);
  auto const same = seen.find(got->version);
  if (same != seen.end() && *same->second != *got) {
    found.push_back("the tasks were otherwise: " + h.text(c));
  }
  if (got->version < args.after.value_or(0)) found.push_back("an old version: " + h.text(c));
  if (got->version == args.after && ends_too_early(c)) {
    found.push_back("returned empty before its time: " + h.text(c));
  }
}

// Several similar events may be one line.
bool has_entry(core::events_answer const& got, std::uint64_t number) {
  return std::any_of(got.entries.begin(), got.entries.end(), [&](auto const& e) {
    return e.number == number || (e.count > 1 && e.first <= number && number < e.number);
  });
}

void check_event_watch(history const& h, call_record const& c, violations& found) {
  auto const* const got = c.gave<core::events_answer>();
  if (!got) return;
  auto const& args = std::get<core::watch_events_args>(c.asked);
  // Requested events may have been dropped; a watch without a start gets the kept ones.
  bool const is_cut = !args.after || got->lost > 0;
  bool is_right = true;
  std::size_t events = 0;
  for (event_record const& event : h.events) {
    auto const number = event.what.number;
    bool const is_asked = number > args.after.value_or(0) && number <= got->through &&
                          event.what.what.level >= args.at_least;
    auto const entry = std::find_if(got->entries.begin(), got->entries.end(),
                                    [&](auto const& e) { return e.number == number; });
    if (entry != got->entries.end()) {
      ++events;
      is_right =
          is_right && is_asked && entry->what == event.what.what && entry->at == event.what.at;
    } else if (is_asked && !is_cut) {
      is_right = is_right && has_entry(*got, number);
    }
  }
  if (!is_right || events != got->entries.size()) {
    found.push_back("not what has happened, " + std::to_string(got->entries.size()) +
                    " events after " + std::to_string(args.after.value_or(0)) + ", through " +
                    std::to_string(got->through) + ": " + h.text(c));
  }
}

void check_audit(history const& h, violations& found) {
  for (std::size_t i = 1; i < h.tasks.size(); ++i) {
    if (h.tasks[i].what.version > h.tasks[i - 1].what.version) continue;
    found.push_back("versions of tasks do not rise, at " + h.text(h.tasks[i].at));
  }
}

}  // namespace

void check_watches(history const& h, violations& found) {
  check_audit(h, found);
  std::map<std::uint64_t, core::tasks_answer const*> seen;
  for (task_sight const& s : h.tasks) seen.emplace(s.what.version, &s.what);
  // If the auditor lost events, it does not know which others to expect.
  bool const has_all = h.has_all_events();
  if (!has_all && !h.limits_are_small) found.push_back("the auditor missed events");
  for (call_record const& c : h.calls) {
    if (c.process == 0) continue;
    if (h.keys_are_whole && c.asks<core::watch_keys_args>()) check_key_watch(h, c, found);
    if (c.asks<core::watch_tasks_args>()) check_task_watch(h, c, seen, found);
    if (has_all && c.asks<core::watch_events_args>()) check_event_watch(h, c, found);
  }
}

}  // namespace coxswain::sim
