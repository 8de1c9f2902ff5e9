#include "coxswain/core/rendezvous/missing_tasks.hpp"

#include "coxswain/core/concerns.hpp"
#include "coxswain/core/kernel/text.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::core {
namespace {

// Limits of texts about missing tasks: bytes of ranges, and number of tasks with details.
constexpr std::size_t range_bytes_max = 4096;
constexpr std::size_t known_max = 16;
constexpr std::size_t brief_range_bytes_max = 256;
constexpr std::size_t brief_known_max = 4;

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
