#include "coxswain/core/observe/why_verbs.hpp"

#include "coxswain/base/invariant.hpp"
#include "coxswain/core/concerns.hpp"
#include "coxswain/core/kernel/text.hpp"
#include "coxswain/core/observe/headline.hpp"
#include "coxswain/core/observe/picture_budget.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace coxswain::core {
namespace {

// A task that has waited for less time is not yet reported: its answer may be in transit.
constexpr duration waiting_time_min = 100ms;

// A review takes about a tenth of this for each task that waits or is missing somewhere.
constexpr duration pause_per_item = 200ns;

// Tasks that follow the first ones into a deadlock are reported together.
constexpr duration report_every = 1s;

constexpr std::size_t groups_reported_max = 8;
constexpr std::size_t waits_reported_max = 1000;

// Tasks that can be checked quickly: whether they are blocked, whether they are missing.
constexpr std::size_t waiting_tasks_per_step = 16;

// Gets and pops of clients without a task that are examined; the others are only counted.
constexpr std::size_t outsiders_shown_max = waits_reported_max / 2;

void add_tasks(why_answer::wait& w, wait_graph const& g, std::vector<task_id> tasks) {
  std::sort(tasks.begin(), tasks.end());
  tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());
  task_ranges all = ranges(tasks);
  w.waiting = std::move(all.text);
  w.cut = all.cut;
  w.stuck = std::any_of(tasks.begin(), tasks.end(), [&](task_id id) { return !g.is_able(id); });
}

}  // namespace

void why_verbs::stopping(time_point, status const&) { deadlines_.disarm(review_); }

void why_verbs::check_invariants() const {
  for (std::uint32_t i = 0; i < roster_.size(); ++i) {
    task const& t = roster_.at(task_id{i});
    invariant(
        !t.blocked.only_wait() || t.blocked.last_began() < kernel_.observed() || review_.armed(),
        "who has begun to wait will be looked at");
  }
}

// Not for each wait: there can be ten thousand at once.
void why_verbs::plan_review() {
  if (review_.armed() || kernel_.stopping) return;
  deadlines_.arm(
      review_,
      {deadline_after(kernel_.observed(), std::max(waiting_time_min, review_pause_)), due::review});
}

void why_verbs::review_due(time_point now) {
  deadlines_.disarm(review_);
  if (!stuck_reported_.empty() && now < stuck_reported_at_ + report_every) {
    return deadlines_.arm(review_, {stuck_reported_at_ + report_every, due::review});
  }
  bool may_be_stuck = false;
  std::optional<time_point> next;
  for (std::uint32_t i = 0; i < roster_.size(); ++i) {
    task const& t = roster_.at(task_id{i});
    if (!t.blocked.only_wait()) continue;
    time_point const counts = t.blocked.last_began() + waiting_time_min;
    may_be_stuck = may_be_stuck || counts <= now;
    if (counts > now) next = std::max(next, std::optional{counts});
  }
  if (may_be_stuck) {
    wait_graph const g = graph_of_waits(now);
    review_pause_ = static_cast<duration::rep>(g.size()) * pause_per_item;
    report_stuck(g, stuck_in(g));
  } else {
    report_stuck(wait_graph{0}, {});
  }
  if (next) deadlines_.arm(review_, {std::max(*next, now + review_pause_), due::review});
}

// Whether it can act without being released. Unknown for a suspect task.
bool why_verbs::may_act(time_point now, task const& t) const {
  bool const may_join = !error_ && !concerns_.ends.is_draining();
  switch (t.state) {
    case task_state::never_connected: return may_join || error_;
    case task_state::joining:
    case task_state::returning: return true;
    case task_state::failed: return may_join;  // it is recoverable
    case task_state::left: return false;
    case task_state::connected: break;
  }
  return !t.blocked.only_wait() || now - t.blocked.last_began() < waiting_time_min ||
         kernel_.is_suspect(t);
}

// Waits beyond the budget are unknown, so a task with one is assumed not to be blocked.
wait_graph why_verbs::graph_of_waits(time_point now) const {
  picture_budget budget{options_.participants_per_picture_max};
  wait_graph g{roster_.size()};
  std::vector<task_id> reading;
  for (std::uint32_t i = 0; i < roster_.size(); ++i) {
    task_id const id{i};
    if (may_act(now, roster_.at(id))) g.acts(id);
    if (roster_.at(id).blocked.for_anybody() > 0) reading.push_back(id);
  }
  g.wait_for_anybody(std::move(reading));
  sessions_.all().each([&](session_id, session const& s) {
    if (s.produces && s.tasks.empty()) g.outsider_acts();
  });
  for (waiting_concern const* const each : calls_.waiting_concerns()) each->add_to(g, budget);
  for (std::uint32_t i = 0; budget.is_exceeded() && i < roster_.size(); ++i) {
    blocking_calls const& calls = roster_.at(task_id{i}).blocked;
    if (g.waits_of(task_id{i}) + calls.for_anybody() < calls.open()) g.acts(task_id{i});
  }
  g.settle();
  return g;
}

std::vector<stuck_call> why_verbs::stuck_in(wait_graph const& g) const {
  std::vector<stuck_call> stuck;
  for (std::uint32_t i = 0; i < roster_.size(); ++i) {
    task const& t = roster_.at(task_id{i});
    if (!t.is_connected() || g.is_able(task_id{i})) continue;
    auto const first = std::find_if(t.waits.begin(), t.waits.end(), [&](ticket const who) {
      return calls_.blocking(*sessions_.parked_at(who)) != nullptr;
    });
    stuck.push_back({task_id{i}, *first});
  }
  return stuck;
}

// Once, until others are stuck or the same ones elsewhere.
void why_verbs::report_stuck(wait_graph const& g, std::vector<stuck_call> stuck) {
  if (stuck == stuck_reported_) return;
  if (!stuck.empty()) {
    auto const only = stuck.size() == 1 ? std::optional{stuck.front().task} : std::nullopt;
    // An observer can still set a key or push an item, and most gets and pops have a deadline.
    bool const only_read = std::all_of(stuck.begin(), stuck.end(), [this](stuck_call const& call) {
      return calls_.is_read(*sessions_.parked_at(call.call));
    });
    kernel_.log(only_read ? severity::warning : severity::error, event_kind::stuck,
                stuck_text(g, stuck), only);
  } else if (!error_) {
    std::vector<task_id> here;
    for (auto const& [id, _] : stuck_reported_) {
      bool const is_there = roster_.has(id) && roster_.at(id).is_connected();
      if (is_there) here.push_back(id);
    }
    std::string const verb = here.size() == 1 ? " is no longer blocked" : " are no longer blocked";
    if (!here.empty()) kernel_.log(severity::info, event_kind::unstuck, in_words(here) + verb);
  }
  stuck_reported_ = std::move(stuck);
  stuck_reported_at_ = kernel_.observed();
}

bool why_verbs::wait_alike(parked const& a, parked const& b) const {
  // A get and a get of several keys can wait for the same key.
  if (calls_.at(a).traits().listed_as && calls_.at(b).traits().listed_as) {
    return calls_.blocking(a)->goal_text(a) == calls_.blocking(b)->goal_text(b);
  }
  return a.at == b.at && a.number == b.number && a.name.get() == b.name.get();
}

// "deadlock: tasks 0-1 are blocked on each other: task 0 waits at barrier 'a' for task 1, ..."
std::string why_verbs::stuck_text(wait_graph const& g, std::vector<stuck_call> const& stuck) const {
  std::vector<stuck_group> groups;
  std::vector<task_id> all;
  std::size_t others = 0;
  for (auto const& [id, waits_with] : stuck) {
    all.push_back(id);
    parked const& p = *sessions_.parked_at(waits_with);
    auto const alike = std::find_if(groups.begin(), groups.end(), [&](stuck_group const& group) {
      return wait_alike(*group.call, p);
    });
    if (alike != groups.end()) {
      alike->tasks.push_back(id);
    } else if (groups.size() < groups_reported_max) {
      groups.push_back({&p, {id}});
    } else {
      ++others;
    }
  }
  auto const is_read = [&](stuck_group const& group) { return calls_.is_read(*group.call); };
  auto const is_at_barrier = [&](stuck_group const& group) {
    return group.call->at == concerns_.barriers.index();
  };
  bool const only_read = std::all_of(groups.begin(), groups.end(), is_read);
  bool const at_barrier = std::any_of(groups.begin(), groups.end(), is_at_barrier);
  bool const may_be_read = std::any_of(groups.begin(), groups.end(), is_read);
  std::string text = "deadlock: ";
  if (all.size() > 1 || only_read) {
    text += in_words(all) + (all.size() == 1 ? " is" : " are") +
            (only_read ? " blocked: " : " blocked on each other: ");
  }
  for (stuck_group const& group : groups) {
    text += (&group == &groups.front() ? "" : ", ") + stuck_text(g, group);
  }
  if (others > 0) text += " and " + std::to_string(others) + " other waits";
  text += "; ";
  if (at_barrier) text += may_be_read ? "cancel a round, " : "cancel a round or ";
  if (may_be_read) text += "supply what is missing or ";
  return text + "end a task";
}

std::string why_verbs::stuck_text(wait_graph const& g, stuck_group const& group) const {
  parked const& p = *group.call;
  std::string const text = in_words(group.tasks) + (group.tasks.size() == 1 ? " waits" : " wait");
  blocking_concern const& in = *calls_.blocking(p);
  if (calls_.is_read(p)) return text + " " + in.stuck_text(p);
  std::vector<task_id> missing = in.awaited(p);
  std::erase_if(missing, [&](task_id id) { return g.is_able(id); });
  if (missing == group.tasks) return text + " " + in.stuck_text(p) + ", which it holds itself";
  return text + " " + in.stuck_text(p) + " for " + in_words(missing);
}

void why_verbs::handle(call const& c, why_args&) {
  concerns_.missing.ask(c.now);
  auto const picture = [&] { return calls_.share(why(c.now, kernel_.tally.steps)); };
  calls_.answer_now(c, kept_.at(c.now, kernel_.tally.steps, picture), false);
}

why_answer why_verbs::why(time_point now, std::uint64_t& steps) const {
  using kind = why_answer::kind;
  wait_graph const g = graph_of_waits(now);
  picture_budget budget{options_.participants_per_picture_max};
  why_answer a;
  auto const has_room = [&](std::size_t participants) {
    return a.waits.size() < waits_reported_max && budget.take(participants);
  };
  a.more += concerns_.barriers.all().open_rounds().size();
  for (auto const& [_, b] : concerns_.barriers.all().open_rounds()) {
    if (!has_room(b->round.expected().size())) break;
    --a.more;
    a.waits.push_back(wait_in(now, g, kind::barrier, b->name, b->round));
    a.waits.back().missing->round = b->number;
  }
  a.more += concerns_.count_barriers.all().all().size();
  for (auto const& [name, w] : concerns_.count_barriers.all().all()) {
    if (!has_room(w.arrived.size())) break;
    --a.more;
    a.waits.push_back(wait_in(now, g, name, w));
  }
  if (concerns_.joins.together().is_open())
    a.waits.push_back(wait_in(now, g, kind::join, {}, concerns_.joins.together()));
  if (concerns_.leaves.together().is_open())
    a.waits.push_back(wait_in(now, g, kind::leave, {}, concerns_.leaves.together()));
  for (auto const& [platform, x] : concerns_.topologies.all().all()) {
    if (x.outcome) continue;
    if (has_room(x.waiting.expected().size())) {
      a.waits.push_back(wait_in(now, g, kind::topology, platform, x.waiting));
    } else {
      ++a.more;
    }
  }
  a.more += concerns_.alive.all().all().size();
  for (auto const& [_, q] : concerns_.alive.all().all()) {
    if (!has_room(q.members->size())) break;
    --a.more;
    a.waits.push_back(wait_in(now, g, q));
  }
  if (concerns_.preemptions.agreement().is_open()) a.waits.push_back(wait_for_agreement(now, g));
  steps += (g.size() + budget.taken() + roster_.size()) / waiting_tasks_per_step;
  add_listed(now, g, a, steps);
  steps += a.waits.size();
  if (auto const stuck = stuck_in(g); !stuck.empty()) a.stuck = stuck_text(g, stuck);
  for (auto& w : a.waits) {
    if (!w.missing) continue;
    for (missing_task& m : w.missing->known) concerns_.missing.add_view(now, m);
  }
  a.state = headline{concerns_, now, steps, &g}.state();
  return a;
}

std::optional<why_verbs::deadlock> why_verbs::known_deadlock(time_point now, wait_graph const* with,
                                                             std::uint64_t& steps) const {
  if (stuck_reported_.empty()) return std::nullopt;
  if (!with) {
    wait_graph const g = graph_of_waits(now);
    steps += (g.size() + roster_.size()) / waiting_tasks_per_step;
    return known_deadlock(now, &g, steps);
  }
  auto const stuck = stuck_in(*with);
  if (stuck.empty()) return std::nullopt;
  deadlock found{stuck_text(*with, stuck), {}, kernel_.started};
  for (auto const& [id, _] : stuck) {
    found.tasks.push_back(id);
    found.since = std::max(found.since, roster_.at(id).blocked.last_began());
  }
  return found;
}

why_answer::wait why_verbs::wait_in(time_point now, wait_graph const& g, why_answer::kind what,
                                    std::string name, meeting const& m) const {
  why_answer::wait w;
  w.what = what;
  w.name = std::move(name);
  w.missing = concerns_.missing.describe(now, m, {});
  w.age = now - m.opened();
  if (time_point const deadline = m.deadline(); deadline != time_point::max()) {
    w.remaining = std::max(deadline - now, duration::zero());
  }
  add_tasks(w, g, m.present());
  return w;
}

why_answer::wait why_verbs::wait_in(time_point now, wait_graph const& g, std::string const& name,
                                    count_barriers::waiting const& waiting) const {
  why_answer::wait w;
  w.what = why_answer::kind::count_barrier;
  w.name = name;
  barrier_failure& f = w.missing.emplace();
  f.round = waiting.number;
  f.arrived = static_cast<std::uint32_t>(waiting.arrived.size());
  f.expected = waiting.count;
  std::vector<task_id> tasks;
  for (auto const& [_, caller] : waiting.arrived) {
    add_call(now, w, caller);
    if (auto const task = sessions_.parked_at(caller)->task) tasks.push_back(*task);
  }
  w.others = f.arrived - static_cast<std::uint32_t>(tasks.size());
  add_tasks(w, g, std::move(tasks));
  return w;
}

why_answer::wait why_verbs::wait_in(time_point now, wait_graph const& g,
                                    alive_queries::query const& q) const {
  why_answer::wait w;
  w.what = why_answer::kind::alive;
  w.missing = concerns_.alive.missing_from(now, q);
  std::vector<task_id> asking;
  for (auto const& [id, calls] : q.called) {
    asking.push_back(id);
    for (ticket const call : calls) add_call(now, w, call);
  }
  add_tasks(w, g, std::move(asking));
  return w;
}

// Tasks that have answered wait for the others.
why_answer::wait why_verbs::wait_for_agreement(time_point now, wait_graph const& g) const {
  why_answer::wait w;
  w.what = why_answer::kind::preemption;
  std::vector<task_id> frozen;
  for (auto const& [id, how] : concerns_.preemptions.agreement().answers()) {
    frozen.push_back(id);
    add_call(now, w, how.who);
  }
  std::vector<task_id> missing = concerns_.preemptions.awaited_for_agreement();
  auto const all = static_cast<std::uint32_t>(frozen.size() + missing.size());
  w.missing = concerns_.missing.describe(now, std::move(missing), all);
  w.remaining = concerns_.preemptions.remaining(now);
  add_tasks(w, g, std::move(frozen));
  w.stuck = false;  // it is answered for the tasks, and not for long
  return w;
}

// Calls that are listed one by one, such as gets and pops; those for the same thing together: of
// all tasks, and of some of the other clients.
void why_verbs::add_listed(time_point now, wait_graph const& g, why_answer& to,
                           std::uint64_t& steps) const {
  struct group {
    why_answer::wait shown;
    std::vector<task_id> tasks;
  };
  std::map<std::pair<why_answer::kind, std::string_view>, group> groups;
  std::size_t const visited_max = options_.participants_per_picture_max;
  std::size_t visited = 0;
  std::size_t looked = 0;
  auto const look = [&](ticket who, parked const& p) {
    ++visited;
    auto const listed_as = calls_.at(p).traits().listed_as;
    if (visited > visited_max || !listed_as) return;
    ++looked;
    blocking_concern const& in = *calls_.blocking(p);
    auto const [at, is_new] = groups.try_emplace({*listed_as, in.listed_name(p)});
    group& waiting = at->second;
    if (is_new) in.describe(p, waiting.shown);
    if (p.task) {
      waiting.tasks.push_back(*p.task);
    } else {
      ++waiting.shown.others;
    }
    add_call(now, waiting.shown, who);
  };
  for (std::uint32_t i = 0; i < roster_.size() && visited < visited_max; ++i) {
    for (ticket const who : roster_.at(task_id{i}).waits) look(who, *sessions_.parked_at(who));
  }
  std::size_t const most = looked + outsiders_shown_max;
  sessions_.all().each([&](session_id id, session const& s) {
    if (looked >= most || visited >= visited_max) return;
    s.open.each([&](request_id open_id, parked const& p) {
      if (looked < most && !p.task) look({id, open_id}, p);
    });
  });
  steps += looked + visited / waiting_tasks_per_step;
  for (auto& [what, waiting] : groups) {
    if (to.waits.size() == waits_reported_max) {
      ++to.more;
      continue;
    }
    waiting.shown.what = what.first;
    waiting.shown.name = what.second;
    add_tasks(waiting.shown, g, std::move(waiting.tasks));
    to.waits.push_back(std::move(waiting.shown));
  }
  std::size_t all = 0;
  for (waiting_concern const* const each : calls_.waiting_concerns()) {
    if (each->traits().listed_as) all += each->waiting();
  }
  if (looked >= most || visited >= visited_max) to.more += all - std::min(all, looked);
}

void why_verbs::add_call(time_point now, why_answer::wait& w, ticket who) const {
  parked const& p = *sessions_.parked_at(who);
  w.age = std::max(w.age, now - p.since);
  auto const end = deadlines_.when(p.deadline);
  if (!end) return;
  duration const left = std::max(*end - now, duration::zero());
  w.remaining = std::min(w.remaining.value_or(left), left);
}

}  // namespace coxswain::core
