// Looking at the coordinator without changing it.

#include "coxswain/core/picture_budget.hpp"
#include "coxswain/core/state.hpp"
#include "coxswain/core/text.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::core {
namespace {

// A barrier looks at all tasks for those that are missing, each quickly.
constexpr std::size_t tasks_per_step = 16;

// A task that is shown is mostly texts, which are copied and encoded.
constexpr std::size_t steps_per_task_shown = 2;

}  // namespace

snapshot::barrier coordinator::state::picture(time_point now, snapshot::kind kind, std::string name,
                                              meeting const& m) const {
  std::vector<task_id> const tasks = awaited(m);
  snapshot::barrier b;
  b.name = std::move(name);
  b.what = kind;
  b.expected = m.expected().size();
  b.arrived = b.expected - static_cast<std::uint32_t>(tasks.size());
  task_ranges missing = ranges(tasks);
  b.missing = std::move(missing.text);
  b.missing_cut = missing.cut;
  b.age = now - m.opened();
  if (time_point const deadline = m.deadline(); deadline != time_point::max()) {
    b.remaining = deadline - now;
  }
  return b;
}

void coordinator::state::handle(call const& c, inspect_args& args) {
  auto const first = args.first_task.value;
  auto const page = [&] {
    snapshot made = first == 0 ? look_at_job(c.now) : snapshot{};
    show_tasks(c.now, made, first, options.page_entries_max);
    tally.steps += made.tasks.size() * steps_per_task_shown;
    for (auto const& b : made.barriers) tally.steps += 1 + b.expected / tasks_per_step;
    return share(std::move(made));
  };
  answer_now(c, first == 0 ? first_page_.at(c.now, tally.steps, page) : page(), false);
}

snapshot coordinator::state::look(time_point now) const {
  snapshot all = look_at_job(now);
  show_tasks(now, all, 0, roster_.size());
  return all;
}

// At most so many, from this one on.
void coordinator::state::show_tasks(time_point now, snapshot& to, std::uint32_t first,
                                    std::size_t most) const {
  auto const end = static_cast<std::uint32_t>(std::min<std::size_t>(roster_.size(), first + most));
  for (std::uint32_t i = first; i < end; ++i) {
    task const& t = roster_.at(task_id{i});
    std::optional<duration> heard;
    if (auto const at = last_heard(t)) heard = now - *at;
    std::optional<task_progress> made;
    if (auto const& p = t.progress) made = task_progress{p->step, now - p->rose.since, p->told};
    to.tasks.push_back({task_id{i},
                        t.state,
                        is_suspect(t),
                        t.self,
                        heard,
                        from_of(t).label(),
                        from_of(t).peer(),
                        t.error(),
                        t.recoverable,
                        made,
                        {}});
    auto const due = t.last ? deadlines_.when(t.last->return_due) : std::nullopt;
    if (due && *due != time_point::max()) {
      to.tasks.back().returns_by = options.started.plus(*due - started_);
    }
  }
  if (end < roster_.size()) to.next_task = task_id{end};
}

// All but the tasks.
snapshot coordinator::state::look_at_job(time_point now) const {
  snapshot s;
  s.job = options.job;
  s.coordinator = self_;
  s.version = options.version;
  s.uptime = now - started_;
  add_open_barriers(now, s);
  s.error = error;
  s.keys = keys_.size();
  s.key_bytes = keys_.bytes_stored();
  s.sessions = sessions_.all().size();
  s.waiting_gets = keys_.waiting();
  s.memory_bytes = memory->used();
  s.memory_bytes_max = memory->owned_max();
  s.lateness_p99 = lateness_.p99();
  s.lateness_max = lateness_.max();
  s.deadlines_answered = lateness_.answered();
  s.queued_items = queues_.items();
  s.waiting_pops = queues_.waiting();
  s.waiting_key_watches = key_watches_.waiting();
  s.stuck_tasks = static_cast<std::uint32_t>(stuck_told_.size());
  s.rounds = rounds_.all();
  s.stragglers = rounds_.stragglers();
  return s;
}

// The oldest rounds first.
void coordinator::state::add_open_barriers(time_point now, snapshot& to) const {
  using kind = snapshot::kind;
  picture_budget budget{options.participants_per_picture_max};
  auto const has_room = [&](std::size_t participants) {
    return to.barriers.size() < options.page_entries_max && budget.take(participants);
  };
  to.more_barriers += barriers_.open_rounds().size();
  for (auto const& [_, b] : barriers_.open_rounds()) {
    if (!has_room(b->round.expected().size())) break;
    --to.more_barriers;
    to.barriers.push_back(picture(now, kind::tasks, b->name, b->round));
    to.barriers.back().round = b->number;
  }
  to.more_barriers += count_barriers_.all().size();
  for (auto const& [name, w] : count_barriers_.all()) {
    if (!has_room(0)) break;
    --to.more_barriers;
    auto const arrived = static_cast<std::uint32_t>(w.arrived.size());
    to.barriers.push_back(
        {name, kind::count, w.number, arrived, w.count, {}, {}, now - w.opened, {}});
  }
  for (auto const& [platform, x] : topologies_.all()) {
    if (x.outcome) continue;
    if (has_room(x.waiting.expected().size())) {
      to.barriers.push_back(picture(now, kind::topology, platform, x.waiting));
    } else {
      ++to.more_barriers;
    }
  }
  if (join_.is_open()) to.barriers.push_back(picture(now, kind::join, "join", join_));
  if (leave_.is_open()) to.barriers.push_back(picture(now, kind::leave, "leave", leave_));
}

events_answer coordinator::state::events_since(std::optional<std::uint64_t> after,
                                               severity at_least, std::size_t last_of_each) const {
  return event_log_.since(after, at_least, last_of_each);
}

listing_answer coordinator::state::keys(std::string const& prefix, std::string const& after,
                                        std::size_t most) const {
  listing_answer found;
  keys_.scan(prefix, after, [&](std::string const& key, kv_store::entry const& e) {
    if (found.entries.size() == most) return false;
    found.entries.push_back({key, e.value, e.version});
    return true;
  });
  found.version = keys_.version();
  return found;
}

result<value_answer> coordinator::state::value(std::string_view key) const {
  std::string path{key};
  if (status why = checked_key(path); !why.ok()) return why;
  auto const* const held = keys_.find(path);
  if (!held) return status{errc::not_found, "key " + shortened(path, 900) + " not found"};
  return value_answer{held->value, held->version};
}

bytes coordinator::state::exchange_value(std::string_view key, bytes by) {
  std::string path{key};
  return checked_key(path).ok() ? keys_.exchange(path, std::move(by)) : bytes{};
}

barrier_history coordinator::state::history(time_point now, std::string_view name) const {
  barrier_history all;
  auto const* const b = barriers_.find(name);
  if (!b) return all;
  all.passed = b->passed;
  if (!b->round.is_open()) return all;
  all.open = b->number;
  all.missing = missing_text(now, describe(now, b->round, b->number));
  return all;
}

bool coordinator::state::done() const {
  bool const nobody_is_here =
      roster_.count(task_state::connected) == 0 && roster_.count(task_state::joining) == 0;
  bool const somebody_comes =
      roster_.count(task_state::never_connected) + roster_.count(task_state::returning) > 0;
  return nobody_is_here && (error || !somebody_comes);
}

bool coordinator::state::drained() const {
  bool owes = false;
  sessions_.all().each([&](session_id, session const& s) {
    owes = owes || std::any_of(s.kept.begin(), s.kept.end(),
                               [](kept_reply const& k) { return k.is_leave; });
  });
  return !owes;
}

}  // namespace coxswain::core
