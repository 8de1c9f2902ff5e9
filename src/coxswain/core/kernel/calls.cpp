#include "coxswain/core/kernel/calls.hpp"

#include "coxswain/base/invariant.hpp"
#include "coxswain/core/concerns.hpp"
#include "coxswain/core/kernel/counted_answer.hpp"

#include <algorithm>

namespace coxswain::core {

concern_index calls::add(waiting_concern& concern) {
  invariant(waiting_count_ < waiting_.size(), "there is room for all concerns");
  waiting_[waiting_count_] = &concern;
  return concern_index{waiting_count_++};
}

std::vector<waiting_concern*> calls::waiting_concerns() const {
  return {waiting_.begin(), waiting_.begin() + waiting_count_};
}

answer_ptr calls::share(status outcome) const {
  if (outcome.ok()) return plain_ok_;
  return make_answer({std::move(outcome), {}});
}

void calls::note_unsent(answer const& what) const {
  concerns_.kernel.unsent_bytes += bytes_of(what) - sizeof(what);
}

void calls::answer_now(call const& c, answer_ptr what, bool keep) {
  concerns_.kernel.tally.count_request(c.what, what->outcome.code());
  concerns_.kernel.sessions.reply(c.from, std::move(what), keep);
}

void calls::answer_parked(ticket who, answer_ptr what) {
  parked const p = release(who).value();
  waiting_concern const& in = at(p);
  wait_traits const& traits = in.traits();
  kernel& k = concerns_.kernel;
  k.tally.count_request(in.request_of(p), what->outcome.code());
  k.sessions.reply(who, std::move(what), traits.reply_is_kept, &in == &concerns_.leaves);
}

void calls::answer_all(std::vector<ticket> const& tickets, answer_ptr const& what) {
  auto& out = concerns_.kernel.out;
  // Growing by doubling could allocate twice what is needed.
  if (tickets.size() > out.size()) out.reserve(out.size() + tickets.size());
  for (ticket const who : tickets) answer_parked(who, what);
}

void calls::answer_superseded(ticket older) {
  operation const what = at(unpark(older).value()).traits().request;
  concerns_.kernel.tally.count_request(what, errc::cancelled);
  status const why = fail<&reasons::superseded>();
  concerns_.kernel.sessions.reply(older, share(why), true);
}

blocking_concern const* calls::blocking(parked const& p) const {
  waiting_concern const& in = at(p);
  return in.traits().blocks_for ? static_cast<blocking_concern const*>(&in) : nullptr;
}

void calls::park(call const& c, waiting_concern const& in, position where) {
  park_until(c, in, std::move(where), without_limit);
}

void calls::park_until(call const& c, waiting_concern const& in, position where, duration timeout) {
  kernel& k = concerns_.kernel;
  parked p;
  p.name = std::move(where.name);
  p.number = where.number;
  p.since = c.now;
  p.at = in.index();
  if (in.traits().of != wait_traits::party::session) p.task = c.task;
  if (timeout != without_limit) {
    k.deadlines.arm(p.deadline, {deadline_after(c.now, timeout), due::call, c.from.session.value,
                                 c.from.request.value});
  }
  if (p.task && in.traits().of == wait_traits::party::task) {
    task& t = k.roster.at(*p.task);
    t.waits.push_back(c.from);
    if (auto const how = in.traits().blocks_for) {
      t.begin_wait(c.now, *how);
      concerns_.why.plan_review();
    }
  }
  k.sessions.park(c.by, c.from.request, std::move(p));
}

std::optional<parked> calls::unpark(ticket who) {
  kernel& k = concerns_.kernel;
  auto p = k.sessions.unpark(who);
  if (!p) return p;
  k.deadlines.disarm(p->deadline);
  wait_traits const& traits = at(*p).traits();
  if (!p->task || traits.of != wait_traits::party::task) return p;
  task& t = k.roster.at(*p->task);
  bool const is_newest = t.waits.back() == who;
  t.waits.erase(is_newest ? t.waits.end() - 1 : std::find(t.waits.begin(), t.waits.end(), who));
  if (!traits.blocks_for) return p;
  t.end_wait(k.observed(), *traits.blocks_for);
  concerns_.progress.watch(*p->task);
  concerns_.why.wait_has_ended();
  return p;
}

std::optional<parked> calls::release(ticket who) {
  auto p = unpark(who);
  if (p) at(*p).cancel(who, *p);
  return p;
}

void calls::put_back(std::vector<undelivered> all) {
  for (std::uint8_t i = 0; i < waiting_count_ && !all.empty(); ++i) {
    auto const others = std::stable_partition(
        all.begin(), all.end(), [&](undelivered const& answer) { return answer.of.value == i; });
    if (others == all.begin()) continue;
    waiting_[i]->put_back({all.begin(), others});
    all.erase(all.begin(), others);
  }
}

void calls::deadline_due(time_point now, due_item const& item) {
  concerns_.kernel.note_lateness(now - item.when);
  ticket const late{session_id{item.subject}, request_id{item.request}};
  parked const& p = *concerns_.kernel.sessions.parked_at(late);
  answer_parked(late, dynamic_cast<timed_concern&>(at(p)).overdue(now, p));
}

void calls::end_waits(task_id id, status const& why) {
  leave_count_barriers(id);
  answer_waits(
      id, [](parked const&) { return true; }, why);
}

void calls::end_waits(task_id id, waiting_concern const& in, status const& why) {
  answer_waits(
      id, [&](parked const& p) { return p.at == in.index(); }, why);
}

void calls::end_waits_except(task_id id, waiting_concern const& in, status const& why) {
  leave_count_barriers(id);
  answer_waits(
      id, [&](parked const& p) { return p.at != in.index(); }, why);
}

void calls::end_own_waits(task_id id) {
  leave_count_barriers(id);
  answer_waits(
      id, [this](parked const& p) { return at(p).traits().ends_with_task; },
      fail<&reasons::no_longer_in_job>(concerns_.kernel.who(id)));
}

// They are the session's, with a task or without one (§6.5).
void calls::leave_count_barriers(task_id id) {
  auto& sessions = concerns_.kernel.sessions;
  task& t = concerns_.kernel.roster.at(id);
  if (t.blocked.for_outsiders() == 0) return;
  std::erase_if(t.waits, [&](ticket const who) {
    if (sessions.parked_at(who)->at != concerns_.count_barriers.index()) return false;
    sessions.find(who.session)->open.disown(who.request);
    t.blocked.end(blocking_calls::wait::for_outsiders);
    return true;
  });
}

void calls::answer_waits(task_id id, std::function<bool(parked const&)> const& chosen,
                         status const& why) {
  task const& t = concerns_.kernel.roster.at(id);
  if (t.waits.empty()) return;
  std::vector<ticket> waiting;
  for (ticket const who : t.waits) {
    if (chosen(*concerns_.kernel.sessions.parked_at(who))) waiting.push_back(who);
  }
  answer_all(waiting, share(why));
}

}  // namespace coxswain::core
