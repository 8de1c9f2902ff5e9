// What must always hold between the coordinator's parts.

#include "coxswain/base/invariant.hpp"
#include "coxswain/core/state.hpp"

#include <algorithm>

namespace coxswain::core {

void coordinator::state::check_invariants() const {
  sessions_.all().each([&](session_id id, session const& s) { check_session(id, s); });
  check_tasks();
  check_meetings();
  check_keys();
  check_watchers();
  check_exchanges();
  check_alarms();
  invariant(tally.barrier_wait.count() == rounds_.added(), "each round that has ended is counted");
  invariant(!error || (barriers_.open_rounds().empty() && !leave_.is_open() && !join_.is_open() &&
                       alive_queries_.all().empty()),
            "nobody waits for others once the job has failed");
  invariant(!error || keys_.waiting() + queues_.waiting() == 0,
            "nobody waits for a key or an item once the job has failed");
  invariant(!error || topologies_.all().empty(), "no topologies are kept of a job that has failed");
  invariant(!error || barriers_.owed() == 0, "nothing is owed once the job has failed");
  invariant(!stopping_ || sessions_.all().size() == 0, "a stopped coordinator has no sessions");
}

void coordinator::state::check_session(session_id id, session const& s) const {
  s.open.each([&](request_id open_id, parked const& p) {
    invariant(open_id <= s.highest, "an open request has been received");
    check_parked({id, open_id}, p);
  });
  for (std::size_t i = 0; i < s.tasks.size(); ++i) {
    task const& t = roster_.at(s.tasks[i]);
    invariant(t.held_by == id && t.place == i, "a session and its tasks know each other");
  }
  auto const probed = std::count_if(s.tasks.begin(), s.tasks.end(),
                                    [&](task_id task) { return roster_.at(task).is_probed(); });
  invariant(s.probed == static_cast<std::size_t>(probed), "a session counts its probed tasks");
  invariant(s.answered_through <= s.replies_sent, "only replies that were sent are received");
  invariant(s.expiry.armed(), "every session expires");
  std::uint64_t last = s.answered_through;
  for (kept_reply const& k : s.kept) {
    invariant(!s.open.contains(k.request), "what was answered is not open");
    if (s.attached == connection_id{} && k.ordinal == 0) continue;
    invariant(k.ordinal > last, "what is kept was sent in this order and not yet received");
    last = k.ordinal;
  }
  invariant(last <= s.replies_sent, "what is kept was sent");
  if (s.attached == connection_id{}) return;
  connection const* const c = sessions_.find(s.attached);
  invariant(c && c->session == id && c->number == s.carrier, "a session knows its connection");
  invariant(!s.grace, "a grace runs only without a connection");
}

void coordinator::state::check_parked(ticket who, parked const& p) const {
  if (p.where == parked::place::count_barrier) {
    auto const& arrived = count_barriers_.all().at(p.name.get()).arrived;
    return invariant(arrived.at(p.number) == who, "who waits at a count barrier is counted there");
  }
  if (p.where == parked::place::tasks || p.where == parked::place::events) {
    auto const& among = p.where == parked::place::tasks ? watchers_of_tasks_ : watchers_of_events_;
    return invariant(among.all().at(p.number).who == who, "who watches waits to be told");
  }
  if (p.where == parked::place::keys) {
    joint_gets::get const& g = joint_gets_.at(p.number);
    invariant(g.is_woken || !keys_.find(g.keys[g.at]),
              "who waits for several keys waits at one that is missing");
  }
  bool const is_read = p.where == parked::place::key || p.where == parked::place::keys ||
                       p.where == parked::place::queue || p.where == parked::place::key_changes;
  if (!p.task) return invariant(is_read, "only gets, pops and watches need no task");
  invariant(p.where != parked::place::key_changes, "a watch is for no task");
  task const& t = roster_.at(*p.task);
  if (p.where == parked::place::join) {
    if (t.state == task_state::joining) {
      return invariant(join_.arrival_of(*p.task)->who == who, "who joins has arrived");
    }
    auto const is_it = [&](challenger const& one) { return one.who == who; };
    return invariant(
        t.challenge && std::any_of(t.challenge->by.begin(), t.challenge->by.end(), is_it),
        "who asks to join joins or challenges");
  }
  session const& by = *sessions_.find(who.session);
  session_id const holder = by.guest_of ? by.guest_of->of.holder : who.session;
  invariant(t.held_by == holder && t.is_connected(),
            "the task of a wait is held by its session, or by the host of that guest");
  invariant(std::count(t.waits.begin(), t.waits.end(), who) == 1, "a task's wait is known");
  auto const at = by.guest_of ? grants_.find(by.guest_of->of) : grants_.end();
  auto const is_one = [&](std::vector<ticket> const& of) {
    return std::count(of.begin(), of.end(), who) == 1;
  };
  if (p.where == parked::place::leave) {
    auto const* const arrival = leave_.is_open() ? leave_.arrival_of(*p.task) : nullptr;
    invariant(arrival && (by.guest_of ? is_one(at->second.leaving) : arrival->who == who),
              "a leave has arrived");
  }
  if (p.where == parked::place::sync_point) {
    invariant(is_one(at->second.at_sync_point), "a guest at a step waits for an agreement");
  }
  if (p.where == parked::place::alive) {
    auto const& called = alive_queries_.all().at(p.number).called.at(*p.task);
    invariant(std::count(called.begin(), called.end(), who) == 1, "who asks has called");
  }
  if (p.where == parked::place::barrier) {
    auto const* const b = barriers_.open_round(p.number);
    invariant(b && b->round.arrival_of(*p.task)->who == who, "a barrier's call has arrived");
  }
  if (p.where == parked::place::topology) {
    auto const* const x = topologies_.find(p.name.get());
    invariant(x && x->waiting.arrival_of(*p.task)->who == who, "an exchange's call has arrived");
  }
}

void coordinator::state::check_tasks() const {
  std::size_t waits = 0;
  std::size_t challengers = 0;
  std::uint32_t parted = 0;
  std::uint32_t unrecoverable = 0;
  for (std::uint32_t i = 0; i < roster_.size(); ++i) {
    task const& t = roster_.at(task_id{i});
    bool const is_here = t.is_connected() || t.state == task_state::joining;
    session const* const s = sessions_.find(t.held_by);
    invariant(is_here || t.held_by == session_id{}, "nobody holds a task that is not here");
    invariant(!is_here || s || stopping_, "somebody holds a task that is here");
    invariant(!s || (t.place < s->tasks.size() && s->tasks[t.place] == task_id{i}),
              "a task and its session know each other");
    invariant((t.state == task_state::joining) ==
                  (join_.is_open() && join_.arrival_of(task_id{i}) != nullptr),
              "who joins has arrived at the join");
    invariant(t.is_probed() == (t.challenge != nullptr),
              "a holder is probed while it is challenged");
    invariant(!t.challenge || t.is_connected(), "only a holder is challenged");
    invariant(!t.challenge || !t.challenge->by.empty(), "who is challenged is by somebody");
    invariant(t.state != task_state::failed || error || t.recoverable,
              "a failed task has failed the job, unless it is recoverable");
    invariant(t.state == task_state::failed || t.error().ok(), "who has not failed has no error");
    invariant(t.held_by == session_id{} || !t.last, "a task is held now or was before");
    check_blocked(task_id{i});
    waits += t.waits.size();
    parted += t.parted == parting::finished ? 1 : 0;
    unrecoverable += t.recoverable ? 0 : 1;
    invariant(t.parted == parting::none || t.is_connected(), "only a connected task has parted");
    invariant((t.state == task_state::returning) == (t.last && t.last->return_due.armed()),
              "who is to return has until a deadline");
    invariant(t.state != task_state::returning || (!error && t.recoverable),
              "only a recoverable task returns, and to a job that goes on");
    challengers += t.challenge ? t.challenge->by.size() : 0;
  }
  std::size_t for_tasks = 0;
  sessions_.all().each([&](session_id, session const& s) {
    s.open.each([&](request_id, parked const& p) {
      for_tasks += p.task && p.where != parked::place::join ? 1 : 0;
    });
  });
  invariant(parted == roster_.parted(), "parted tasks are counted");
  invariant((unrecoverable == 0) == roster_.all_recoverable(), "unrecoverable tasks are counted");
  invariant(waits == for_tasks, "a task's waits are open requests");
  invariant(count_parked(parked::place::join) == challengers + roster_.count(task_state::joining),
            "who asks to join has an open request");
}

void coordinator::state::check_blocked(task_id id) const {
  task const& t = roster_.at(id);
  std::uint32_t open = 0;
  std::uint32_t reads = 0;
  std::uint32_t outside = 0;
  for (ticket const who : t.waits) {
    parked const& p = *sessions_.parked_at(who);
    open += blocks(p) ? 1 : 0;
    reads += is_get_or_pop(p) ? 1 : 0;
    outside += p.where == parked::place::count_barrier ? 1 : 0;
  }
  invariant(t.blocked.open() == open && t.blocked.for_anybody() == reads &&
                t.blocked.for_outsiders() == outside,
            "a task's calls that wait are counted");
  invariant(!t.blocked.only_wait() || t.blocked.last_began() < observed_ || review_.armed(),
            "who has begun to wait will be looked at");
  invariant(!t.progress_due.armed() || (t.is_connected() && t.progress && !t.progress->told),
            "only who is here and makes progress is watched");
}

void coordinator::state::check_meetings() const {
  std::size_t arrived = 0;
  for (auto const& [sequence, b] : barriers_.open_rounds()) {
    invariant(b->round.is_open() && b->sequence == sequence, "an open round is open");
    invariant(b->round.arrived() > 0 && !b->round.complete(), "an open round waits for somebody");
    b->round.each([&](task_id id, meeting::arrival const&) {
      invariant(roster_.at(id).is_connected(), "who has arrived has not failed since");
    });
    alarms const& of = round_alarms_.at(sequence);
    invariant(of.deadline.armed() && of.deadline_at <= b->round.deadline(),
              "an open round has a deadline");
    arrived += b->round.arrived();
  }
  invariant(arrived == count_parked(parked::place::barrier),
            "who waits in a round has an open request");
  invariant(round_alarms_.size() == barriers_.open_rounds().size(), "only open rounds have alarms");
  std::size_t counted = 0;
  for (auto const& [_, w] : count_barriers_.all()) {
    invariant(!w.arrived.empty() && w.arrived.size() < w.count, "a count barrier waits for more");
    counted += w.arrived.size();
  }
  invariant(counted == count_parked(parked::place::count_barrier),
            "who waits at a count barrier has an open request");
  for (auto const& [m, of] : {std::pair{&join_, &join_alarms_}, {&leave_, &leave_alarms_}}) {
    invariant(m->is_open() == of->deadline.armed(), "an open meeting has a deadline");
    invariant(!m->is_open() || (m->arrived() > 0 && of->deadline_at <= m->deadline()),
              "an open meeting waits for somebody");
  }
  invariant(preemption_.answers().size() == count_parked(parked::place::preemption),
            "who agrees to stop has an open request");
  invariant(!preemption_.is_open() ||
                (preemption_alarm_.armed() &&
                 preemption_.answers().size() < roster_.count(task_state::connected)),
            "an agreement waits for somebody, and not for ever");
  invariant(!leave_.is_open() || (!leave_is_complete() && leaves_together()),
            "the leave waits for somebody");
  std::size_t leaving = 0;
  std::size_t at_sync_point = 0;
  if (leave_.is_open()) {
    leave_.each([&](task_id, meeting::arrival const& a) { leaving += a.who != ticket{} ? 1 : 0; });
  }
  for (auto const& [by, g] : grants_) {
    invariant(sessions_.find(by.holder) != nullptr, "the session of a grant is there");
    for (session_id const id : g.guests) {
      session const* const s = sessions_.find(id);
      invariant(s && s->guest_of && s->guest_of->of == by,
                "a grant and its guests know each other");
    }
    leaving += g.leaving.size();
    at_sync_point += g.at_sync_point.size();
  }
  invariant(leaving == count_parked(parked::place::leave),
            "every leave that waits is an open request");
  invariant(at_sync_point == count_parked(parked::place::sync_point),
            "a guest that waits for an agreement has an open request");
}

void coordinator::state::check_keys() const {
  invariant(count_parked(parked::place::key) + count_parked(parked::place::keys) ==
                keys_.waiting() + joint_gets_.count_woken(),
            "who waits for a key has an open request");
  invariant(count_parked(parked::place::keys) == joint_gets_.size(),
            "who waits for several keys has an open request");
  invariant(count_parked(parked::place::queue) == queues_.waiting(),
            "who waits for an item has an open request");
  invariant(queues_.settled(), "nobody waits for an item that is there");
  invariant(count_parked(parked::place::key_changes) == key_watches_.waiting(),
            "who watches keys has an open request");
  for (auto const& [owner, all] : keys_.owned()) {
    invariant(roster_.at(owner).is_connected() || stopping_, "who owns a key is in the job");
    for (auto const key : all->keys) {
      auto const* const held = keys_.find(std::string{key});
      invariant(held && held->owner() == owner, "a key and its owner know each other");
    }
  }
}

void coordinator::state::check_watchers() const {
  invariant(alive_queries_.callers().size() == count_parked(parked::place::alive),
            "who asks has an open request");
  for (auto const& [_, q] : alive_queries_.all()) {
    bool waits = false;
    for (std::uint32_t i = 0; i < q.members->size(); ++i) {
      waits = waits || is_awaited(q, q.members->at(i));
    }
    invariant(waits && !q.called.empty(), "an open alive query waits for somebody");
  }
  invariant(watchers_of_tasks_.all().size() == count_parked(parked::place::tasks) &&
                watchers_of_events_.all().size() == count_parked(parked::place::events),
            "who watches has an open request");
  for (auto const& [_, w] : watchers_of_tasks_.all()) {
    invariant(w.seen == roster_.version(), "who watches the tasks has seen them as they are");
  }
}

void coordinator::state::check_exchanges() const {
  invariant(topologies_.all().size() <= options.topology_platforms_max,
            "there are not too many platforms");
  std::size_t waiting = 0;
  for (auto const& [_, x] : topologies_.all()) {
    invariant(x.waiting.is_open() == !x.outcome, "an exchange is open until it is complete");
    if (x.outcome) continue;
    invariant(!x.brought.empty() && !x.waiting.complete(), "an open exchange waits for somebody");
    invariant(x.waiting.arrived() == x.brought.size(), "who waits in an exchange has brought");
    waiting += x.brought.size();
  }
  invariant(waiting == count_parked(parked::place::topology),
            "who waits in an exchange has an open request");
}

// Every deadline that is armed belongs to something that is there.
void coordinator::state::check_alarms() const {
  std::size_t armed = 0;
  auto const count = [&](alarm const& a) { armed += a.armed() ? 1 : 0; };
  auto const count_all = [&](alarms const& of) {
    count(of.deadline);
    count(of.log);
    count(of.progress);
  };
  sessions_.connections().each([&](connection_id id, connection const& c) {
    invariant(!c.closing || (!c.hello.armed() && !c.stalled_reader.armed()),
              "nothing more is expected of a connection that was told goodbye");
    session const* const s = sessions_.find(c.session);
    invariant(s ? s->attached == id : c.session == session_id{},
              "a connection of a session is the one that it is attached to");
    count(c.hello);
    count(c.stalled_reader);
  });
  sessions_.all().each([&](session_id, session const& s) {
    count(s.expiry);
    s.open.each([&](request_id, parked const& p) { count(p.deadline); });
  });
  for (std::uint32_t i = 0; i < roster_.size(); ++i) {
    task const& t = roster_.at(task_id{i});
    if (t.challenge) count(t.challenge->probe);
    count(t.progress_due);
    if (t.last) count(t.last->return_due);
  }
  for (auto const& [_, of] : round_alarms_) count_all(of);
  count_all(join_alarms_);
  count(wrong_tokens_due_);
  count_all(leave_alarms_);
  count(preemption_alarm_);
  count(topology_log_);
  count(review_);
  invariant(armed == deadlines_.size(), "every armed deadline belongs to something");
}

std::size_t coordinator::state::count_parked(parked::place where) const {
  std::size_t count = 0;
  sessions_.all().each([&](session_id, session const& s) {
    s.open.each([&](request_id, parked const& p) { count += p.where == where ? 1 : 0; });
  });
  return count;
}

}  // namespace coxswain::core
