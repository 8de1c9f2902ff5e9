#include "coxswain/core/rendezvous/missing_tasks.hpp"

#include "coxswain/core/concerns.hpp"
#include "coxswain/core/kernel/text.hpp"
#include "coxswain/core/model/operations.hpp"
#include "coxswain/core/observe/picture_budget.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::core {
namespace {

// Limits of texts about missing tasks: bytes of ranges, and number of tasks with details.
constexpr std::size_t range_bytes_max = 4096;
constexpr std::size_t known_max = 16;
constexpr std::size_t brief_range_bytes_max = 256;
constexpr std::size_t brief_known_max = 4;

// A task is missing for those who look at the job when others have waited for so long.
constexpr duration shown_after = 1s;
// It is asked again so long after its last answer, and should answer within this time.
constexpr duration asked_every = 1s;
constexpr duration answer_time = 1s;
// An answer counts for so long.
constexpr duration answer_counts = 2s;
// The part of a picture's budget that is for finding them.
constexpr std::size_t part_for_late = 4;
constexpr std::size_t asked_max = 64;
constexpr std::size_t guests_asked_max = 8;

// Tasks that can be checked quickly: whether they are missing.
constexpr std::size_t missing_tasks_per_step = 16;

std::string_view state_text(missing_task const& m) {
  if (m.suspect) return "suspect";
  // It called, but before it had joined.
  if (m.state == task_state::never_connected && m.last_heard) return "gone";
  return name(m.state);
}

}  // namespace

void missing_tasks::handle(time_point now, session& to, ticket asked) {
  parked const* const p = concerns_.kernel.sessions.parked_at(asked);
  if (!p) return;
  std::string text = concerns_.calls.at(*p).missing_text(now, asked, *p);
  concerns_.kernel.sessions.push(to,
                                 concerns_.calls.share(waiting{asked.request, std::move(text)}));
}

std::vector<task_id> missing_tasks::from(meeting const& m) const {
  std::vector<task_id> missing = m.missing();
  bool const is_leave = &m == &concerns_.leaves.together();
  // The leave does not wait for tasks that have left, nor for recoverable ones that have failed.
  std::erase_if(missing, [&](task_id id) {
    task const& t = concerns_.kernel.roster.at(id);
    return t.state == task_state::left ||
           (is_leave && (t.state == task_state::failed || t.detached == detachment::finished ||
                         (concerns_.ends.is_draining() && !t.is_connected())));
  });
  return missing;
}

std::string missing_tasks::brief(time_point now, parked const& p, meeting const& m) {
  return brief(now, p, m.expected().size(), [&] { return from(m); });
}

void missing_tasks::count_looks() {
  concerns_.kernel.tally.steps += concerns_.kernel.roster.size() / missing_tasks_per_step;
}

barrier_failure missing_tasks::describe(time_point now, meeting const& m,
                                        round_number number) const {
  barrier_failure f = describe(now, from(m), m.expected().size());
  f.round = number;
  return f;
}

barrier_failure missing_tasks::describe(time_point now, std::vector<task_id> missing,
                                        std::uint32_t expected, bool in_brief) const {
  task_ranges text = ranges(missing, in_brief ? brief_range_bytes_max : range_bytes_max);
  barrier_failure f;
  f.expected = expected;
  f.arrived = expected - static_cast<std::uint32_t>(missing.size());
  f.missing = std::move(text.text);
  f.missing_cut = text.cut;
  missing.resize(std::min(missing.size(), in_brief ? brief_known_max : known_max));
  for (task_id const id : missing) f.known.push_back(describe_one(now, id));
  return f;
}

barrier_failure missing_tasks::describe_shared(time_point now, meeting const& m,
                                               round_number number) {
  barrier_failure f = describe_shared(now, from(m), m.expected().size());
  f.round = number;
  return f;
}

barrier_failure missing_tasks::describe_shared(time_point now, std::vector<task_id> missing,
                                               std::uint32_t expected) {
  kernel& k = concerns_.kernel;
  k.tally.steps += expected / missing_tasks_per_step;
  std::uint64_t const version = k.roster.version();
  bool const is_known =
      shared_ && shared_->at == now && shared_->version == version && shared_->missing == missing;
  if (!is_known) {
    k.tally.steps += std::min(missing.size(), known_max);
    shared_.emplace(description{now, missing, version, describe(now, missing, expected)});
  }
  barrier_failure f = shared_->made;
  f.expected = expected;
  f.arrived = expected - static_cast<std::uint32_t>(shared_->missing.size());
  return f;
}

missing_task missing_tasks::describe_one(time_point now, task_id id) const {
  kernel const& k = concerns_.kernel;
  task const& t = k.roster.at(id);
  missing_task m;
  m.task = id;
  m.state = t.state;
  m.suspect = k.is_suspect(t);
  if (auto const heard = k.last_heard(t)) m.last_heard = now - *heard;
  m.label = k.from_of(t).label();
  m.waits_for = waits_for(id);
  if (t.progress) m.step = t.progress->step;
  return m;
}

std::vector<missing_tasks::late_task> missing_tasks::late(time_point now, duration at_least,
                                                          std::uint64_t& steps) const {
  kernel const& k = concerns_.kernel;
  picture_budget budget{k.options.participants_per_picture_max / part_for_late};
  std::vector<late_task> all;
  auto const look = [&](meeting const& m) {
    if (!m.is_open() || now - m.opened() < at_least || !budget.take(m.expected().size())) return;
    for (task_id const id : from(m)) {
      task const& t = k.roster.at(id);
      bool const waits = t.blocked.only_wait() || !t.is_connected();
      if (!waits) all.push_back({id, now - m.opened()});
    }
  };
  for (auto const& [_, b] : concerns_.barriers.all().open_rounds()) {
    if (now - b->round.opened() < at_least || budget.is_exceeded()) break;
    look(b->round);
  }
  for (auto const& [_, x] : concerns_.topologies.all().all()) {
    if (!x.outcome) look(x.waiting);
  }
  look(concerns_.leaves.together());
  steps += budget.taken() / missing_tasks_per_step;
  auto const before = [](late_task const& a, late_task const& b) {
    return a.task != b.task ? a.task < b.task : a.waited > b.waited;
  };
  std::sort(all.begin(), all.end(), before);
  auto const is_same = [](late_task const& a, late_task const& b) { return a.task == b.task; };
  all.erase(std::unique(all.begin(), all.end(), is_same), all.end());
  return all;
}

// That which holds it, and those of the programs that act for it.
std::vector<session_id> missing_tasks::sessions_of(task const& t) const {
  std::vector<session_id> all{t.held_by};
  session const* const holder = concerns_.kernel.sessions.find(t.held_by);
  if (!holder || holder->tasks.size() != 1) return all;
  grant const* const g = concerns_.guests.grant_of(host{t.held_by, holder->tasks.front()});
  for (std::size_t i = 0; g && i < std::min(g->guests.size(), guests_asked_max); ++i) {
    all.push_back(g->guests[i]);
  }
  return all;
}

// Whatever it sends is one. What a relay says of its client is not: it may have heard it earlier.
time_point missing_tasks::last_answer(session const& s) const {
  connection const* const c = concerns_.kernel.sessions.find(s.attached);
  return c && !is_relayed(*c) ? std::max(s.heard.since, s.answered) : s.answered;
}

std::vector<session_id> missing_tasks::sessions_to_ask(time_point now, std::uint64_t& steps) const {
  kernel const& k = concerns_.kernel;
  std::vector<session_id> found;
  auto all = late(now, shown_after, steps);
  all.resize(std::min(all.size(), asked_max));
  for (auto const& each : all) {
    for (session_id const id : sessions_of(k.roster.at(each.task))) {
      session const* const s = k.sessions.find(id);
      bool const may_be_asked = s && s->attached != connection_id{} && !s->owes_answer &&
                                now - last_answer(*s) >= asked_every;
      if (may_be_asked && std::find(found.begin(), found.end(), id) == found.end()) {
        found.push_back(id);
      }
    }
  }
  steps += found.size();
  return found;
}

bool missing_tasks::has_to_ask(time_point now) const {
  std::uint64_t steps{};
  return !sessions_to_ask(now, steps).empty();
}

void missing_tasks::ask(time_point now) {
  kernel& k = concerns_.kernel;
  for (session_id const id : sessions_to_ask(now, k.tally.steps)) {
    session& s = *k.sessions.find(id);
    s.asked = k.alive_since(now);
    s.owes_answer = true;
    k.sessions.push(s, concerns_.calls.share(probe{}));
  }
}

void missing_tasks::add_view(time_point now, missing_task& to) const {
  kernel const& k = concerns_.kernel;
  task const& t = k.roster.at(to.task);
  last_call const& last = t.last_call;
  if (last.at != time_point{}) {
    to.last_call = row_at(last.what.value).words;
    if (!last.name.view().empty()) {
      to.last_call.append(" '").append(last.name.view()).append(last.name.is_cut() ? "...'" : "'");
    }
    to.last_call_at = k.options.started.plus(last.at - k.started);
  }
  if (!t.is_connected() || to.suspect) return;
  to.answers = true;
  for (session_id const id : sessions_of(t)) {
    session const* const s = k.sessions.find(id);
    if (!s) continue;
    to.answers = to.answers && now - last_answer(*s) <= answer_counts;
    if (!s->owes_answer) continue;
    duration const stalls = k.alive_since(now).stalled_before - s->asked.stalled_before;
    duration const silence = now - s->asked.since - stalls;
    if (silence >= answer_time) to.unanswered = std::max(to.unanswered, std::optional{silence});
  }
  to.answers = to.answers && !to.unanswered;
}

std::vector<missing_task> missing_tasks::view(time_point now, std::uint64_t& steps) const {
  std::vector<missing_task> seen;
  auto all = late(now, shown_after, steps);
  all.resize(std::min(all.size(), known_max));
  for (auto const& each : all) {
    seen.push_back(describe_one(now, each.task));
    add_view(now, seen.back());
  }
  steps += seen.size();
  return seen;
}

// In the first of the concerns in which a call of it waits.
std::string missing_tasks::waits_for(task_id id) const {
  blocking_concern const* first = nullptr;
  std::string text;
  for (ticket const who : concerns_.kernel.roster.at(id).waits) {
    parked const& p = *concerns_.kernel.sessions.parked_at(who);
    blocking_concern const* const in = concerns_.calls.blocking(p);
    if (!in || (first && first->index() <= in->index())) continue;
    first = in;
    text = in->goal_text(p);
  }
  return text;
}

std::string missing_tasks::text(time_point now, barrier_failure const& f) const {
  std::uint32_t const count = f.expected - f.arrived;
  std::string text = std::to_string(count) + " of " + std::to_string(f.expected) +
                     (count == 1 ? " tasks is missing: " : " tasks are missing: ");
  if (f.known.size() < count) text += f.missing;
  if (f.missing_cut > 0) text += " and " + std::to_string(f.missing_cut) + " more";
  if (f.known.size() < count) text += "; of these ";
  for (std::size_t i = 0; i < f.known.size(); ++i) {
    missing_task const& m = f.known[i];
    text += (i == 0 ? "" : ", ") + std::to_string(m.task.value) + " (" + std::string{state_text(m)};
    if (m.last_heard)
      text += ", last heard at " + concerns_.kernel.moment(now, now - *m.last_heard);
    if (!m.label.empty()) text += ", " + m.label;
    if (m.step) text += ", at step " + std::to_string(*m.step);
    if (!m.waits_for.empty()) text += ", waits for " + m.waits_for;
    text += ")";
  }
  return text;
}

std::string missing_tasks::timed_out(time_point now, meeting const& m, std::string const& what,
                                     barrier_failure const& f) const {
  return text_of<&reasons::meeting_timed_out>(what, now - m.opened(), text(now, f), f.arrived,
                                              f.expected, m.in_order().front());
}

}  // namespace coxswain::core
