#include "coxswain/core/observe/event_log.hpp"

#include "coxswain/core/kernel/text.hpp"

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

namespace coxswain::core {
namespace {

// The longest time between two events of a run.
constexpr duration alike_gap = 1min;

// The size limit of one answer, so that a slow reader cannot make the coordinator copy much.
constexpr std::size_t answer_events_max = 1'000;
constexpr std::size_t answer_bytes_max = 256 * 1024;

std::size_t bytes_shown(events_answer::entry const& e) {
  return sizeof(e) + e.what.text.size() + e.what.barrier.size() + e.tasks.size();
}

// Makes the key of events that differ only in task and numbers.
void make_key(std::string& key, event const& what, std::string_view subject) {
  key.clear();
  key += static_cast<char>(what.level);
  key += static_cast<char>(what.kind);
  // Each number as one mark.
  auto const add = [&key](std::string_view text) {
    for (char const c : text) {
      bool const is_digit = c >= '0' && c <= '9';
      if (!is_digit) key += c;
      if (is_digit && key.back() != '#') key += '#';
    }
  };
  std::string_view const text = what.text;
  auto const at = subject.empty() ? text.npos : text.find(subject);
  add(text.substr(0, at));
  if (at != text.npos) add(text.substr(at + subject.size()));
}

// " [32 like this in 1.5 s, of tasks 0-31]"
std::string many_text(events_answer::entry const& e) {
  std::string text =
      " [" + std::to_string(e.count) + " like this in " + in_words(e.at - e.first_at);
  if (!e.tasks.empty()) text += ", of tasks " + e.tasks;
  if (e.tasks_cut > 0) text += " and " + std::to_string(e.tasks_cut) + " more";
  return text + ']';
}

void note(std::vector<bool>& tasks, std::optional<task_id> task) {
  if (!task) return;
  if (tasks.size() <= task->value) tasks.resize(std::size_t{task->value} + 1);
  tasks[task->value] = true;
}

}  // namespace

std::optional<event> event_log::add(duration at, event what, std::string_view subject) {
  std::uint64_t const number = last() + 1;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(what.level); ++i) last_[i] = number;
  auto& of = histories_[what.kind == event_kind::job_failed ? job_failure
                                                            : static_cast<std::size_t>(what.level)];
  make_key(key_, what, subject);
  auto const group = run_of(at, number);
  lines::node_type folded;
  if (++group->count > alike_max(what.kind)) {
    folded = fold(*group, of);
    note(group->tasks, what.task);
  }
  group->last_at = at;
  group->lines.push_back(number);
  line const& added = add(of.lines, std::move(folded), number, at, what, group);
  of.bytes += bytes_of(added);
  bool const is_one_of_many = group->count > alike_max(what.kind);
  if (is_one_of_many && std::has_single_bit(group->count))
    what.text += many_text(shown(number, added));
  while (of.lines.size() > std::max<std::size_t>(most_.events, 1) ||
         (of.bytes > most_.bytes && of.lines.size() > 1)) {
    drop_oldest(of);
  }
  if (is_one_of_many && !std::has_single_bit(group->count)) return std::nullopt;
  return what;
}

// Into the memory of a folded line and of its text, if there is one.
event_log::line const& event_log::add(lines& to, lines::node_type&& into, std::uint64_t number,
                                      duration at, event const& what,
                                      std::shared_ptr<run> const& group) {
  if (into.empty()) {
    return to.emplace_hint(to.end(), number, line{at, what, group})->second;
  }
  into.key() = number;
  line& l = into.mapped();
  l.at = at;
  l.what = what;
  l.group = group;
  return to.insert(to.end(), std::move(into))->second;
}

std::shared_ptr<event_log::run> event_log::run_of(duration at, std::uint64_t number) {
  auto& latest = runs_[key_];
  if (!latest || at - latest->last_at > alike_gap) {
    latest = std::make_shared<run>();
    latest->key = key_;
    latest->first = number;
    latest->first_at = at;
  }
  return latest;
}

// By default, consequences are one line as soon as there are two.
std::size_t event_log::alike_max(event_kind kind) const {
  if (kind != event_kind::ended_with_job) return most_.alike;
  constexpr std::size_t part = 16;
  return std::max<std::size_t>(most_.alike / part, 1);
}

// The line about to be added represents all before it. Returns one of those, if there are any.
event_log::lines::node_type event_log::fold(run& all, history& of) {
  lines::node_type last;
  boost::container::small_vector<std::optional<task_id>, 8> about;
  for (std::uint64_t const number : all.lines) {
    auto const at = of.lines.find(number);
    about.push_back(at->second.what.task);
    of.bytes -= bytes_of(at->second);
    last = of.lines.extract(at);
  }
  for (auto const& task : about) note(all.tasks, task);
  all.lines.clear();
  return last;
}

// Including the containers' overhead, and its share of a run.
std::size_t event_log::bytes_of(line const& l) {
  constexpr std::size_t beside = sizeof(run) + 128;
  run const& r = *l.group;
  return sizeof(l) + beside + l.what.text.size() + l.what.barrier.size() + r.key.size() +
         r.tasks.size() / 8;
}

void event_log::drop_oldest(history& of) {
  auto const oldest = of.lines.begin();
  auto const group = oldest->second.group;
  of.bytes -= bytes_of(oldest->second);
  of.dropped.push_back(oldest->first);
  if (of.dropped.size() > std::max<std::size_t>(most_.events, 1)) of.dropped.pop_front();
  of.lines.erase(oldest);
  group->lines.pop_front();
  if (!group->lines.empty()) return;
  auto const latest = runs_.find(group->key);
  if (latest != runs_.end() && latest->second == group) runs_.erase(latest);
}

std::optional<events_answer::entry> event_log::latest(event_kind kind) const {
  constexpr std::size_t looked_at_max = 1'000;
  for (std::size_t i = histories; i-- > 0;) {
    auto const& all = histories_[i].lines;
    std::size_t looked_at = 0;
    for (auto l = all.rbegin(); l != all.rend() && looked_at < looked_at_max; ++l, ++looked_at) {
      if (l->second.what.kind == kind) return shown(l->first, l->second);
    }
  }
  return std::nullopt;
}

std::size_t event_log::size() const noexcept {
  std::size_t sum = 0;
  for (history const& kept : histories_) sum += kept.lines.size();
  return sum;
}

std::uint64_t event_log::lost(std::uint64_t after, severity at_least) const noexcept {
  std::uint64_t sum = 0;
  for (auto i = static_cast<std::size_t>(at_least); i < histories; ++i) {
    auto const& dropped = histories_[i].dropped;
    auto const from = std::upper_bound(dropped.begin(), dropped.end(), after);
    sum += static_cast<std::uint64_t>(dropped.end() - from);
  }
  return sum;
}

events_answer event_log::since(std::optional<std::uint64_t> after, severity at_least,
                               std::size_t last_of_each) const {
  events_answer found;
  found.lost = after ? lost(*after, at_least) : 0;
  found.through = last();
  std::array<lines::const_iterator, histories> next;
  for (std::size_t i = 0; i < histories; ++i) {
    auto const& all = histories_[i].lines;
    next[i] = all.upper_bound(after.value_or(0));
    if (i < static_cast<std::size_t>(at_least)) next[i] = all.end();
    if (after || last_of_each == 0) continue;
    if (i < static_cast<std::size_t>(at_least)) continue;
    auto const most = static_cast<std::ptrdiff_t>(std::min(all.size(), last_of_each));
    next[i] = std::prev(all.end(), most);
  }
  for (std::size_t bytes = 0;;) {
    std::size_t earliest = histories;
    for (std::size_t i = 0; i < histories; ++i) {
      if (next[i] == histories_[i].lines.end()) continue;
      if (earliest == histories || next[i]->first < next[earliest]->first) earliest = i;
    }
    if (earliest == histories) return found;
    auto event = shown(next[earliest]->first, next[earliest]->second);
    ++next[earliest];
    bytes += bytes_shown(event);
    bool const is_full = found.entries.size() == answer_events_max || bytes > answer_bytes_max;
    if (is_full && !found.entries.empty()) {
      found.through = found.entries.back().number;
      return found;
    }
    found.entries.push_back(std::move(event));
  }
}

events_answer::entry event_log::shown(std::uint64_t number, line const& l) const {
  events_answer::entry entry{number, l.at, l.what};
  entry.time = started_.plus(l.at);
  entry.first = l.group->first;
  entry.first_at = l.at;
  if (l.group->count <= alike_max(l.what.kind)) return entry;
  entry.count = l.group->count;
  entry.first_at = l.group->first_at;
  std::vector<task_id> about;
  for (std::uint32_t i = 0; i < l.group->tasks.size(); ++i) {
    if (l.group->tasks[i]) about.push_back(task_id{i});
  }
  auto tasks = ranges(about);
  entry.tasks = std::move(tasks.text);
  entry.tasks_cut = tasks.cut;
  return entry;
}

}  // namespace coxswain::core
