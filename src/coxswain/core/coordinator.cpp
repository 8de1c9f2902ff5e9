#include "coxswain/core/coordinator.hpp"

#include "coxswain/base/invariant.hpp"
#include "coxswain/core/concerns.hpp"
#include "coxswain/core/model/operations.hpp"
#include "coxswain/core/observe/headline.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace coxswain::core {
namespace {

// Deadlines that expire at once are handled in portions of so many steps, with other work in
// between.
constexpr std::uint64_t steps_per_advance = 1024;

void handle_due(concerns& all, time_point now, due_item const& item) {
  task_id const task{static_cast<std::uint32_t>(item.subject)};
  switch (item.what) {
    case due::hello: return all.connections.hello_due(now, connection_id{item.subject});
    case due::stalled_reader:
      return all.connections.stalled_reader_due(now, connection_id{item.subject});
    case due::session: return all.connections.check_expiry(now, session_id{item.subject});
    case due::probe: return all.joins.probe_due(now, task);
    case due::call: return all.calls.deadline_due(now, item);
    case due::round:
    case due::round_log:
    case due::round_progress: return all.barriers.round_due(now, item);
    case due::join: return all.joins.join_due(now, item);
    case due::join_log: return all.joins.log_due(now, item);
    case due::leave: return all.leaves.leave_due(now, item);
    case due::leave_log: return all.leaves.log_due(now, item);
    case due::preemption: return all.preemptions.preemption_due(now);
    case due::topology_log: return all.topologies.log_due(now);
    case due::review: return all.why.review_due(now);
    case due::no_progress: return all.progress.no_progress_due(now, task);
    case due::wrong_tokens: return all.handshakes.wrong_tokens_due(now);
    case due::restart_grace: return all.restarts.grace_due(now);
    case due::task_return: return all.leaves.return_due(now, task);
    case due::enrolment: return all.enrolment.time_due(now);
    case due::epoch: return all.epochs.time_due(now);
    case due::lease: return all.queues.lease_due(now, item.subject);
  }
}

// After each input that can change something: sends what must be sent at once.
void follow_up(concerns& all) {
  all.enrolment.follow_up(all.kernel.observed());
  all.epochs.follow_up(all.kernel.observed());
  all.failures.push_job_error();
  if (all.task_watches.follow_up()) {
    all.alive.check_queries_again();
    all.alive.check_some();
    all.task_watches.answer_all();
  }
  all.missing.forget_shared();
  all.event_watches.follow_up();
}

status put_in(concerns& all, time_point now, process_ended&& what) {
  all.failures.task_ended(now, what.task, std::move(what.why));
  return {};
}

status put_in(concerns& all, time_point now, preempt_args&& what) {
  return all.preemptions.preempt(now, what.task, what.in);
}

status put_in(concerns& all, time_point now, round_cancelled&& what) {
  return all.barriers.cancel(now, what.what, what.by, std::nullopt);
}

status put_in(concerns& all, time_point now, why_args&&) {
  all.kernel.observe(now);
  all.missing.ask(now);
  return {};
}

status put_in(concerns& all, time_point now, stacks_args&&) {
  all.kernel.observe(now);
  all.stacks.take(now);
  return {};
}

status put_in(concerns& all, time_point now, report_stack_args&& what) {
  all.kernel.observe(now);
  return all.stacks.report({}, std::move(what));
}

status put_in(concerns& all, time_point, credentials_replaced&& what) {
  all.handshakes.replace_credentials(std::move(what.by));
  return {};
}

status put_in(concerns& all, time_point now, suspended&& what) {
  all.restarts.suspend(now, what);
  return {};
}

status put_in(concerns& all, time_point now, restarted&& what) {
  all.restarts.restart(now, what);
  return {};
}

status put_in(concerns& all, time_point now, storing_refused&& what) {
  kernel& k = all.kernel;
  k.observe(now);
  if (k.refuses_storing == what.why) return {};
  k.refuses_storing = std::move(what.why);
  if (k.refuses_storing.empty()) {
    k.log(severity::info, event_kind::other, "nothing is refused for lack of space any more");
  } else {
    k.log(severity::error, event_kind::other,
          "nothing more is stored, and no round begins: " + k.refuses_storing);
  }
  return {};
}

status put_in(concerns& all, time_point now, stopped&& what) {
  all.ends.stop(now, what.reason, fail<&reasons::is_stopping>(what.reason));
  return {};
}

status put_in(concerns& all, time_point now, job_ended&& what) {
  return all.ends.end_job(now, what.what, std::move(what.by));
}

// The calls that wait for a task are known to it, and counted.
void check_waits(concerns const& all, task const& t) {
  std::uint32_t open = 0;
  std::uint32_t reads = 0;
  std::uint32_t outside = 0;
  for (ticket const who : t.waits) {
    parked const& p = *all.kernel.sessions.parked_at(who);
    open += all.calls.blocking(p) ? 1 : 0;
    reads += all.calls.is_read(p) ? 1 : 0;
    outside += p.at == all.count_barriers.index() ? 1 : 0;
  }
  invariant(t.blocked.open() == open && t.blocked.for_anybody() == reads &&
                t.blocked.for_outsiders() == outside,
            "a task's calls that wait are counted");
}

void check_tasks(concerns const& all) {
  kernel const& k = all.kernel;
  std::uint32_t detached = 0;
  std::uint32_t unrecoverable = 0;
  for (std::uint32_t i = 0; i < k.roster.size(); ++i) {
    task const& t = k.roster.at(task_id{i});
    bool const is_here = t.is_connected() || t.state == task_state::joining;
    session const* const s = k.sessions.find(t.held_by);
    invariant(is_here || t.held_by == session_id{}, "nobody holds a task that is not here");
    invariant(!is_here || s || k.stopping, "somebody holds a task that is here");
    invariant(!s || (t.place < s->tasks.size() && s->tasks[t.place] == task_id{i}),
              "a task and its session know each other");
    invariant(t.state != task_state::failed || k.error || t.recoverable,
              "a failed task has failed the job, unless it is recoverable");
    invariant(t.state == task_state::failed || t.error().ok(), "who has not failed has no error");
    invariant(t.held_by == session_id{} || !t.last, "a task is held now or was before");
    invariant(t.detached == detachment::none || t.is_connected(),
              "only a connected task is detached");
    invariant((t.state == task_state::returning) == (t.last && t.last->return_due.armed()),
              "who is to return has until a deadline");
    invariant(t.state != task_state::returning || (!k.error && t.recoverable),
              "only a recoverable task returns, and to a job that goes on");
    check_waits(all, t);
    detached += t.detached == detachment::finished ? 1 : 0;
    unrecoverable += t.recoverable ? 0 : 1;
  }
  invariant(detached == k.roster.detached(), "detached tasks are counted");
  invariant((unrecoverable == 0) == k.roster.all_recoverable(), "unrecoverable tasks are counted");
}

// Each request that waits is known to its concern and, if it is for a task, to that.
void check_parked(concerns const& all, session const& by, ticket who, parked const& p) {
  waiting_concern const& in = all.calls.at(p);
  in.check(who, p);
  if (!p.task || in.traits().of != wait_traits::party::task) return;
  task const& t = all.kernel.roster.at(*p.task);
  session_id const holder = by.guest_of ? by.guest_of->of.holder : who.session;
  invariant(t.held_by == holder && t.is_connected(),
            "the task of a wait is held by its session, or by the host of that guest");
  invariant(std::count(t.waits.begin(), t.waits.end(), who) == 1, "a task's wait is known");
}

// Every deadline that is armed belongs to something that is there.
void check_requests(concerns const& all) {
  std::vector<std::size_t> parked_at(all.calls.waiting_concerns().size());
  std::size_t armed = 0;
  std::size_t waits = 0;
  all.kernel.sessions.all().each([&](session_id id, session const& s) {
    s.open.each([&](request_id request, parked const& p) {
      check_parked(all, s, {id, request}, p);
      ++parked_at[p.at.value];
      armed += p.deadline.armed() ? 1 : 0;
      waits += p.task && all.calls.at(p).traits().of == wait_traits::party::task ? 1 : 0;
    });
  });
  for (waiting_concern const* const concern : all.calls.waiting_concerns()) {
    invariant(parked_at[concern->index().value] == concern->waiting(),
              "whoever waits has an open request");
  }
  for (concern const* const concern : all.all) armed += concern->armed();
  for (std::uint32_t i = 0; i < all.kernel.roster.size(); ++i) {
    task const& t = all.kernel.roster.at(task_id{i});
    waits -= t.waits.size();
    armed += t.last && t.last->return_due.armed() ? 1 : 0;
  }
  invariant(waits == 0, "a task's waits are open requests");
  invariant(armed == all.kernel.deadlines.size(), "every armed deadline belongs to something");
}

}  // namespace

coordinator::coordinator(config options, incarnation self, time_point now)
    : all_{std::make_unique<concerns>(std::move(options), self, now)} {}

coordinator::coordinator(std::unique_ptr<concerns> all) : all_{std::move(all)} {}
coordinator::coordinator(coordinator&&) noexcept = default;
coordinator& coordinator::operator=(coordinator&&) noexcept = default;
coordinator::~coordinator() = default;

connection_id coordinator::connected(time_point now, std::string peer, session_secret secret) {
  return all_->connections.connected(now, std::move(peer), secret);
}
void coordinator::received(time_point now, connection_id from, client_message&& message) {
  all_->router.received(now, from, std::move(message));
  if (!all_->kernel.stopping) follow_up(*all_);
}
void coordinator::heard(time_point now, connection_id from) { all_->connections.heard(now, from); }
void coordinator::vouched(time_point now, connection_id from) {
  all_->connections.vouched(now, from);
}
void coordinator::malformed(time_point now, connection_id from, std::string why) {
  all_->connections.malformed(now, from, std::move(why));
  follow_up(*all_);
}
void coordinator::lost(time_point now, connection_id from, loss how) {
  all_->connections.lost(now, from, how);
  follow_up(*all_);
}
void coordinator::write_blocked(time_point now, connection_id to) {
  all_->connections.write_blocked(now, to);
}
void coordinator::write_progressed(time_point now, connection_id to) {
  all_->connections.write_progressed(now, to);
}
void coordinator::reading_paused(time_point now, connection_id from) {
  all_->connections.reading_paused(now, from);
}
void coordinator::reading_resumed(time_point now, connection_id from) {
  all_->connections.reading_resumed(now, from);
}
status coordinator::put_in(time_point now, owner_input what) {
  status outcome =
      std::visit([&](auto& input) { return core::put_in(*all_, now, std::move(input)); }, what);
  if (!all_->kernel.stopping) follow_up(*all_);
  return outcome;
}
std::optional<time_point> coordinator::next_deadline() const {
  kernel const& k = all_->kernel;
  bool const is_due = all_->multi_gets.has_woken() || all_->keys.has_ended_keys() ||
                      all_->alive.has_queries_to_check();
  if (is_due) return k.started;  // at once
  auto const next = k.deadlines.next();
  if (!next) return std::nullopt;
  return std::min(*next, k.observed() + kernel::tick);
}
void coordinator::advance(time_point now) {
  kernel& k = all_->kernel;
  k.observe(now);
  all_->multi_gets.check_woken(joint_gets::looks_per_advance);
  all_->keys.remove_page_of_ended_keys();
  all_->alive.check_some();
  auto const most = k.tally.steps + steps_per_advance;
  while (auto const item = k.deadlines.due_at(now)) {
    if (++k.tally.steps > most) break;
    handle_due(*all_, now, *item);
  }
  follow_up(*all_);
}
void coordinator::take_outgoing(std::vector<outgoing>& into) {
  into.clear();
  into.swap(all_->kernel.out);
  all_->kernel.unsent_bytes = 0;
}
std::size_t coordinator::unsent() const { return all_->kernel.out.size(); }
std::size_t coordinator::unsent_bytes() const { return all_->kernel.unsent_bytes; }
void coordinator::take_events(std::vector<event>& into) {
  into.clear();
  into.swap(all_->kernel.events);
}
std::size_t coordinator::untold() const { return all_->kernel.events.size(); }
std::string const& coordinator::peer_of(connection_id who) const {
  return all_->kernel.sessions.find(who)->peer;
}

session_secret const& coordinator::secret_of(connection_id who) const {
  return all_->kernel.sessions.find(who)->secret;
}

std::string const* coordinator::wrong_token(connection_id of) const {
  return all_->handshakes.wrong_token(of);
}

std::size_t coordinator::frame_bytes_max(connection_id of) const {
  return all_->connections.frame_bytes_max(of);
}
std::size_t coordinator::held_by(share_kind kind) const {
  return all_->kernel.sessions.held_by(kind);
}
bool coordinator::is_relay(connection_id who) const { return all_->connections.is_relay(who); }
std::optional<share_kind> coordinator::share_of(connection_id who) const {
  return all_->connections.share_of(who);
}
statistics const& coordinator::counts() const { return all_->kernel.tally; }
bool coordinator::job_has_started() const noexcept { return all_->joins.job_has_started(); }
job_state coordinator::state(time_point now) const {
  std::uint64_t steps{};
  return headline{*all_, now, steps}.state();
}
snapshot coordinator::look(time_point now) const { return all_->pictures.look(now); }
why_answer coordinator::why(time_point now) const {
  std::uint64_t steps{};
  return all_->why.why(now, steps);
}
bool coordinator::has_to_ask(time_point now) const { return all_->missing.has_to_ask(now); }
stacks_answer coordinator::stacks(time_point now) const { return all_->stacks.look(now); }
events_answer coordinator::events(std::optional<std::uint64_t> after, severity at_least,
                                  std::size_t last_of_each) const {
  return all_->kernel.event_log.since(after, at_least, last_of_each);
}
std::uint64_t coordinator::last_event() const { return all_->kernel.event_log.last(); }
listing_answer coordinator::keys(std::string const& prefix, std::string const& after,
                                 std::size_t most) const {
  return all_->keys.keys(prefix, after, most);
}
result<value_answer> coordinator::value(std::string_view key) const {
  return all_->keys.value(key);
}

bytes coordinator::exchange_value(std::string_view key, bytes by) {
  return all_->keys.exchange_value(key, std::move(by));
}
std::optional<task_id> coordinator::task_of_member(std::string const& name) const {
  return all_->enrolment.task_of(name);
}

barrier_history coordinator::history(time_point now, std::string_view barrier) const {
  return all_->barriers.history(now, barrier);
}
bool coordinator::done() const { return all_->enrolment.job_is_over(); }
std::optional<job_error> const& coordinator::error() const { return all_->kernel.error; }
bool coordinator::is_stopping() const { return all_->kernel.stopping; }
bool coordinator::is_draining() const { return all_->ends.is_draining(); }
bool coordinator::compares_value(request const& what) const {
  auto const* const put = std::get_if<put_args>(&what);
  return put && all_->keys.compares_value(*put);
}

bool coordinator::refuses_to_store(request const& what) const {
  if (all_->kernel.refuses_storing.empty()) return false;
  if (auto const* const a = std::get_if<barrier_args>(&what)) {
    return all_->barriers.may_only_open(a->name);
  }
  if (auto const* const a = std::get_if<exchange_topology_args>(&what)) {
    return all_->topologies.may_only_open(a->platform);
  }
  return row_of(what).is_stored();
}
std::uint64_t coordinator::term() const { return all_->kernel.term; }
std::optional<std::uint64_t> coordinator::newer_term() const {
  return all_->handshakes.newer_term();
}
bool coordinator::is_deserted() const { return all_->connections.is_deserted(); }
bool coordinator::drained() const { return all_->connections.drained(); }
incarnation coordinator::self() const { return all_->kernel.self; }
config const& coordinator::options() const { return all_->kernel.options; }
meter_ptr const& coordinator::memory() const { return all_->kernel.memory; }
void coordinator::check_invariants() const {
  for (concern const* const concern : all_->all) concern->check_invariants();
  check_tasks(*all_);
  check_requests(*all_);
}

}  // namespace coxswain::core
