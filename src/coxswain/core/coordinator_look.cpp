// Looking at the coordinator without changing it.

#include "coxswain/base/invariant.hpp"
#include "coxswain/core/state.hpp"
#include "coxswain/core/text.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::core {
namespace {

snapshot::barrier picture(time_point now, snapshot::kind kind, std::string name, meeting const& m) {
  snapshot::barrier b;
  b.name = std::move(name);
  b.what = kind;
  b.arrived = m.arrived();
  b.expected = m.expected().size();
  task_ranges missing = ranges(m.missing());
  b.missing = std::move(missing.text);
  b.missing_cut = missing.cut;
  b.age = now - m.opened();
  if (m.deadline() != time_point::max()) b.remaining = m.deadline() - now;
  return b;
}

}  // namespace

void coordinator::state::handle(call const& c, inspect_args&) {
  answer_now(c, share(look(c.now)), false);
}

snapshot coordinator::state::look(time_point now) const {
  snapshot s;
  s.job = options.job;
  s.coordinator = self_;
  s.version = options.version;
  s.uptime = now - started_;
  for (std::uint32_t i = 0; i < roster_.size(); ++i) {
    task const& t = roster_.at(task_id{i});
    std::optional<duration> heard;
    if (auto const at = last_heard(t)) heard = now - *at;
    s.tasks.push_back(
        {task_id{i}, t.state, is_suspect(t), t.self, heard, t.label, t.peer, t.error});
  }
  for (auto const& [_, b] : barriers_.open_rounds()) {
    s.barriers.push_back(picture(now, snapshot::kind::tasks, b->name, b->round));
    s.barriers.back().round = b->number;
  }
  for (auto const& [count_name, w] : count_barriers_.all()) {
    snapshot::barrier b;
    b.name = count_name;
    b.what = snapshot::kind::count;
    b.round = w.number;
    b.arrived = static_cast<std::uint32_t>(w.arrived.size());
    b.expected = w.count;
    b.age = now - w.opened;
    s.barriers.push_back(std::move(b));
  }
  if (join_.is_open()) s.barriers.push_back(picture(now, snapshot::kind::join, "join", join_));
  if (leave_.is_open()) s.barriers.push_back(picture(now, snapshot::kind::leave, "leave", leave_));
  s.error = error;
  s.keys = keys_.size();
  s.key_bytes = keys_.bytes_stored();
  s.sessions = sessions_.all().size();
  s.waiting_gets = keys_.waiting();
  s.memory_bytes = memory->used();
  s.memory_bytes_max = memory->limit();
  s.lateness_p99 = lateness_.p99();
  s.lateness_max = lateness_.max();
  s.deadlines_answered = lateness_.answered();
  return s;
}

bool coordinator::state::done() const {
  bool const nobody_is_here =
      roster_.count(task_state::connected) == 0 && roster_.count(task_state::joining) == 0;
  return nobody_is_here && (error || roster_.count(task_state::never_connected) == 0);
}

bool coordinator::state::drained() const {
  bool owes = false;
  sessions_.all().each([&](session_id, session const& s) {
    owes = owes || std::any_of(s.kept.begin(), s.kept.end(),
                               [](kept_reply const& k) { return k.is_leave; });
  });
  return !owes;
}

void coordinator::state::check_invariants() const {
  std::size_t waiting_for_keys = 0;
  std::size_t in_rounds = 0;
  sessions_.all().each([&](session_id id, session const& s) {
    for (auto const& [open_id, p] : s.open) {
      invariant(open_id <= s.highest, "an open request has been received");
      waiting_for_keys += p.where == parked::place::key ? 1 : 0;
      in_rounds += p.where == parked::place::barrier ? 1 : 0;
    }
    for (task_id const id_of_task : s.tasks) {
      task const& t = roster_.at(id_of_task);
      invariant(t.held_by == id, "a session's task is held by it");
      invariant(t.is_connected() || t.state == task_state::joining, "a held task is here");
    }
    invariant(s.answered_through <= s.replies_sent, "only replies that were sent are received");
    invariant(s.expiry.armed(), "every session expires");
    invariant(s.attached == connection_id{} || sessions_.find(s.attached)->session == id,
              "session and connection know each other");
  });
  invariant(waiting_for_keys == keys_.waiting(), "who waits for a key has an open request");
  std::size_t arrived = 0;
  for (auto const& [sequence, b] : barriers_.open_rounds()) {
    invariant(b->round.is_open() && b->sequence == sequence, "an open round is open");
    invariant(b->round.arrived() > 0 && !b->round.complete(), "an open round waits for somebody");
    invariant(round_alarms_.contains(sequence), "an open round has a deadline");
    arrived += b->round.arrived();
  }
  invariant(arrived == in_rounds, "who waits in a round has an open request");
  invariant(round_alarms_.size() == barriers_.open_rounds().size(), "only open rounds have alarms");
  invariant(!error || (barriers_.open_rounds().empty() && !leave_.is_open() && !join_.is_open()),
            "nobody waits for others once the job has failed");
}

}  // namespace coxswain::core
