#include "coxswain/core/observe/picture_verbs.hpp"

#include "coxswain/core/concerns.hpp"
#include "coxswain/core/kernel/text.hpp"
#include "coxswain/core/observe/headline.hpp"
#include "coxswain/core/observe/picture_budget.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::core {
namespace {

// A barrier checks all tasks for missing ones, each quickly.
constexpr std::size_t tasks_per_step = 16;

// A task that is shown is mostly texts, which are copied and encoded.
constexpr std::size_t steps_per_task_shown = 2;

}  // namespace

snapshot::barrier picture_verbs::picture(time_point now, snapshot::kind kind, std::string name,
                                         meeting const& m) const {
  std::vector<task_id> const tasks = concerns_.missing.from(m);
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

void picture_verbs::handle(call const& c, inspect_args& args) {
  auto const first = args.first_task.value;
  if (first == 0) concerns_.missing.ask(c.now);
  auto const page = [&] {
    snapshot made = first == 0 ? picture_of_job(c.now, kernel_.tally.steps) : snapshot{};
    show_tasks(c.now, made, first, options_.page_entries_max);
    kernel_.tally.steps += made.tasks.size() * steps_per_task_shown;
    for (auto const& b : made.barriers) kernel_.tally.steps += 1 + b.expected / tasks_per_step;
    for (auto const& r : made.relays) kernel_.tally.steps += 1 + r.clients / tasks_per_step;
    return calls_.share(std::move(made));
  };
  calls_.answer_now(c, first == 0 ? first_page_.at(c.now, kernel_.tally.steps, page) : page(),
                    false);
}

snapshot picture_verbs::look(time_point now) const {
  std::uint64_t steps{};
  snapshot all = picture_of_job(now, steps);
  show_tasks(now, all, 0, roster_.size());
  return all;
}

// At most this many, from this one on.
void picture_verbs::show_tasks(time_point now, snapshot& to, std::uint32_t first,
                               std::size_t most) const {
  auto const end = static_cast<std::uint32_t>(std::min<std::size_t>(roster_.size(), first + most));
  for (std::uint32_t i = first; i < end; ++i) {
    task const& t = roster_.at(task_id{i});
    std::optional<duration> heard;
    if (auto const at = kernel_.last_heard(t)) heard = now - *at;
    std::optional<task_progress> made;
    if (auto const& p = t.progress) made = task_progress{p->step, now - p->rose.since, p->reported};
    to.tasks.push_back({task_id{i},
                        t.state,
                        kernel_.is_suspect(t),
                        t.self,
                        heard,
                        kernel_.from_of(t).label(),
                        kernel_.from_of(t).peer(),
                        t.error(),
                        t.recoverable,
                        made,
                        {},
                        t.last && t.last->ended_with_job});
    auto const due = t.last ? deadlines_.when(t.last->return_due) : std::nullopt;
    if (due && *due != time_point::max()) {
      to.tasks.back().returns_by = options_.started.plus(*due - kernel_.started);
    }
  }
  if (end < roster_.size()) to.next_task = task_id{end};
}

// All but the tasks.
snapshot picture_verbs::picture_of_job(time_point now, std::uint64_t& steps) const {
  snapshot s;
  s.state = headline{concerns_, now, steps}.state();
  s.job = options_.job;
  s.coordinator = kernel_.self;
  s.version = options_.version;
  s.uptime = now - kernel_.started;
  add_open_barriers(now, s);
  s.error = error_;
  s.keys = concerns_.keys.store().size();
  s.key_bytes = concerns_.keys.store().bytes_stored();
  s.sessions = sessions_.all().size();
  s.waiting_gets = concerns_.keys.store().waiting();
  s.memory_bytes = memory_.used();
  s.memory_bytes_max = memory_.owned_max();
  s.lateness_p99 = kernel_.lateness.p99();
  s.lateness_max = kernel_.lateness.max();
  s.deadlines_answered = kernel_.lateness.answered();
  s.queued_items = concerns_.queues.all().items();
  s.waiting_pops = concerns_.queues.all().waiting();
  s.waiting_key_watches = concerns_.key_watches.waiting();
  concerns_.queues.show(s);
  s.locks_held = concerns_.locks.held();
  s.waiting_locks = concerns_.locks.waiting();
  s.stuck_tasks = static_cast<std::uint32_t>(concerns_.why.stuck_tasks());
  s.rounds = concerns_.barriers.ended().all();
  s.stragglers = concerns_.barriers.ended().stragglers();
  concerns_.epochs.show(now, s);
  concerns_.enrolment.show(now, s);
  concerns_.connections.show(s);
  s.missing = concerns_.missing.view(now, steps);
  return s;
}

// The oldest rounds first.
void picture_verbs::add_open_barriers(time_point now, snapshot& to) const {
  using kind = snapshot::kind;
  picture_budget budget{options_.participants_per_picture_max};
  auto const has_room = [&](std::size_t participants) {
    return to.barriers.size() < options_.page_entries_max && budget.take(participants);
  };
  to.more_barriers += concerns_.barriers.all().open_rounds().size();
  for (auto const& [_, b] : concerns_.barriers.all().open_rounds()) {
    if (!has_room(b->round.expected().size())) break;
    --to.more_barriers;
    to.barriers.push_back(picture(now, kind::tasks, b->name, b->round));
    to.barriers.back().round = b->number;
  }
  to.more_barriers += concerns_.count_barriers.all().all().size();
  for (auto const& [name, w] : concerns_.count_barriers.all().all()) {
    if (!has_room(0)) break;
    --to.more_barriers;
    auto const arrived = static_cast<std::uint32_t>(w.arrived.size());
    to.barriers.push_back(
        {name, kind::count, w.number, arrived, w.count, {}, {}, now - w.opened, {}});
  }
  for (auto const& [platform, x] : concerns_.topologies.all().all()) {
    if (x.outcome) continue;
    if (has_room(x.waiting.expected().size())) {
      to.barriers.push_back(picture(now, kind::topology, platform, x.waiting));
    } else {
      ++to.more_barriers;
    }
  }
  if (concerns_.joins.together().is_open())
    to.barriers.push_back(picture(now, kind::join, "join", concerns_.joins.together()));
  if (concerns_.leaves.together().is_open())
    to.barriers.push_back(picture(now, kind::leave, "leave", concerns_.leaves.together()));
}

}  // namespace coxswain::core
