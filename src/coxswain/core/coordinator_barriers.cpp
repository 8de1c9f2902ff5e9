// Barriers: arrivals, the end of rounds, and what a failed round says.

#include "coxswain/core/reduction.hpp"
#include "coxswain/core/state.hpp"
#include "coxswain/core/text.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace coxswain::core {
namespace {

constexpr duration progress_every_min = 100ms;

std::string round_text(barriers::barrier const& b) {
  return "Barrier " + quoted(b.name) + " round " + std::to_string(b.number.value);
}

round_kind kind_of(barrier_args const& args) {
  return {args.gather, args.reduce, args.fail_when_lost};
}

std::string_view state_text(missing_task const& m) {
  if (m.suspect) return "suspect";
  // It was there, but before it had joined.
  if (m.state == task_state::never_connected && m.last_heard) return "gone";
  return name(m.state);
}

}  // namespace

status coordinator::state::not_joined() const {
  if (error) return job_failed(errc::failed_precondition);
  return {errc::failed_precondition,
          "the call needs a task, and this session has joined none, or several and named none"};
}

status coordinator::state::checked_name(std::string_view name) const {
  if (name.empty()) return {errc::invalid_argument, "a barrier needs a name"};
  if (name.size() > options.key_bytes_max) {
    return {errc::resource_exhausted, "the barrier's name is " + std::to_string(name.size()) +
                                          " bytes long; the limit key_bytes_max is " +
                                          std::to_string(options.key_bytes_max)};
  }
  if (name.find('\0') != name.npos || !is_utf8(name)) {
    return {errc::invalid_argument, "the barrier's name contains a NUL byte or is not UTF-8"};
  }
  return {};
}

// --- Arrivals --------------------------------------------------------------------------------

void coordinator::state::handle(call const& c, barrier_args& args) {
  if (!c.task) return refuse(c, not_joined());
  if (error) return refuse(c, job_failed(errc::failed_precondition));
  barriers::barrier* b = barriers_.find(args.name);
  if (!b) {
    if (status why = checked_name(args.name); !why.ok()) return refuse(c, std::move(why));
  }
  if (status why = checked_kind(args); !why.ok()) return refuse(c, std::move(why));
  auto expected = participants(*c.task, args.participants, args.name);
  if (!expected) return refuse(c, expected.error());
  if (b) {
    if (auto const owed = barriers_.take_owed(*b, *c.task)) return answer_now(c, owed, true);
  }
  if (!b || !b->round.is_open()) {
    if (status why = may_open_round(*c.task, args, **expected, b); !why.ok()) {
      return refuse(c, std::move(why));
    }
    std::size_t const cost = barriers::cost(args.name, **expected);
    if (status why = sessions_.room_for(c.by, cost, false); !why.ok()) {
      return refuse(c, std::move(why));
    }
    if (!memory->fits(cost)) return refuse(c, out_of_memory());
    if (!b) b = &barriers_.at(args.name);
    open_round(c, *b, *std::move(expected), args);
  } else if (b->round.expected() != **expected || b->kind != kind_of(args)) {
    status const why{errc::invalid_argument, round_text(*b) + ": task " +
                                                 std::to_string(c.task->value) +
                                                 " names other participants, or another kind of "
                                                 "barrier, than those who wait"};
    // Only who takes part in the round can spoil it; both sides are then told.
    if (!b->round.expected().index_of(*c.task)) return refuse(c, why);
    fail_round(c.now, *b, why, c.task);
    return answer_now(c, share(why), true);
  }
  arrive(c, *b, args);
}

status coordinator::state::checked_kind(barrier_args const& args) const {
  if (args.reduce != reduction::none) {
    if (args.gather) return {errc::invalid_argument, "a barrier either gathers or reduces"};
    return checked_operand(args.reduce, args.data);
  }
  if (args.gather || args.data.empty()) return {};
  return {errc::invalid_argument, "data was given to a barrier that neither gathers nor reduces"};
}

result<task_set_ptr> coordinator::state::participants(
    task_id caller, std::vector<task_id>& tasks, std::optional<std::string_view> barrier) const {
  if (tasks.empty()) return everyone_;
  auto const refusal = [&](std::string const& text) {
    return status{errc::invalid_argument,
                  (barrier ? "barrier " + quoted(*barrier) : "alive query") + ": " + text};
  };
  // They usually rise already, and there may be as many as tasks in every call.
  if (std::adjacent_find(tasks.begin(), tasks.end(), std::greater_equal{}) != tasks.end()) {
    std::sort(tasks.begin(), tasks.end());
    tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());
  }
  if (!roster_.has(tasks.back())) {
    return refusal("there is no task " + std::to_string(tasks.back().value) +
                   "; the job has tasks 0 to " + std::to_string(roster_.size() - 1));
  }
  if (!std::binary_search(tasks.begin(), tasks.end(), caller)) {
    return refusal("task " + std::to_string(caller.value) +
                   " is not among the participants it names");
  }
  if (tasks.size() == roster_.size()) return everyone_;
  return boost::make_local_shared<task_set const>(std::move(tasks));
}

status coordinator::state::may_open_round(task_id caller, barrier_args const& args,
                                          task_set const& expected,
                                          barriers::barrier const* b) const {
  if (b) {
    if (status why = barriers_.may_open(*b, caller, expected); !why.ok()) return why;
  }
  bool const minds_lost =
      args.fail_when_lost &&
      roster_.count(task_state::failed) + roster_.count(task_state::returning) > 0;
  if (roster_.count(task_state::left) == 0 && !minds_lost) return {};
  for (std::uint32_t i = 0; i < expected.size(); ++i) {
    task_id const id = expected.at(i);
    task_state const state = roster_.at(id).state;
    bool const is_lost = state == task_state::failed || state == task_state::returning;
    if (state != task_state::left && !(minds_lost && is_lost)) continue;
    status const why = absence(id);
    return {why.code(),
            "barrier " + quoted(args.name) + " cannot be reached: " + std::string{why.message()}};
  }
  return {};
}

void coordinator::state::open_round(call const& c, barriers::barrier& b, task_set_ptr expected,
                                    barrier_args const& args) {
  barriers_.open(b, std::move(expected), kind_of(args), c.now);
  b.operand_bytes = args.data.size();
  b.opener = c.from.session;
  sessions_.hold(c.by, barriers::cost(b.name, b.round.expected()));
  arm_log(round_alarms_[b.sequence], c.now, {{}, due::round_log, b.sequence});
}

void coordinator::state::arrive(call const& c, barriers::barrier& b, barrier_args& args) {
  if (is_bitwise(args.reduce) && args.data.size() != b.operand_bytes) {
    return refuse(c, {errc::invalid_argument, round_text(b) + ": the operands must have " +
                                                  std::to_string(b.operand_bytes) +
                                                  " bytes, as that of its first caller; this has " +
                                                  std::to_string(args.data.size())});
  }
  if (status why = check_data(c, b, args.data.size()); !why.ok()) {
    // The outcome of a round is kept until it was received; this one may be its outcome.
    return answer_now(c, share(std::move(why)), true);
  }
  meeting::arrival a;
  a.who = c.from;
  a.deadline = deadline_after(c.now, args.timeout);
  if (!args.data.empty()) a.data = bytes{std::move(args.data), memory};
  if (args.progress_every > 0ns) {
    a.progress_every = std::max(args.progress_every, progress_every_min);
    a.progress_at = deadline_after(c.now, a.progress_every);
  }
  time_point const deadline = a.deadline;
  time_point const progress_at = a.progress_at;
  parked p;
  p.where = parked::place::barrier;
  p.task = c.task;
  p.number = b.sequence;
  park(c, std::move(p));
  if (auto const older = b.round.arrive(*c.task, std::move(a))) answer_superseded(*older);
  if (b.round.complete()) return release_round(c.now, b);
  arm_deadline(round_alarms_.at(b.sequence), deadline, {{}, due::round, b.sequence});
  if (args.progress_every > 0ns) arm_progress(b, progress_at);
}

status coordinator::state::check_data(call const& c, barriers::barrier& b, std::size_t size) {
  auto const* const replaced = b.round.arrival_of(*c.task);
  std::size_t const gathered =
      b.round.gathered_bytes() + size - (replaced ? replaced->data.size() : 0);
  if (gathered > options.gather_bytes_max) {
    status const why{errc::resource_exhausted, round_text(b) + ": the data of task " +
                                                   std::to_string(c.task->value) + " makes " +
                                                   std::to_string(gathered) +
                                                   " bytes; the limit gather_bytes_max is " +
                                                   std::to_string(options.gather_bytes_max)};
    fail_round(c.now, b, why, c.task);
    return why;
  }
  // Data leaves free what values leave free, so that those without data can go on.
  if (size == 0 || memory->fits(size + memory->owned_max() / 16)) return {};
  status const why{errc::resource_exhausted, round_text(b) + ": no room for " +
                                                 std::to_string(size) +
                                                 " bytes of data: " + usage_text(*memory)};
  if (b.round.arrived() == 0) dissolve_round(b);
  return why;
}

// The same task asks again while it waits: the newer call has taken the older one's place.
void coordinator::state::answer_superseded(ticket older) {
  tally.count_request(operation_at(unpark(older).value().where), errc::cancelled);
  sessions_.reply(older, share(status{errc::cancelled, "the same task asked again"}), true);
}

void coordinator::state::arm_progress(barriers::barrier const& b, time_point at) {
  alarms& of = round_alarms_.at(b.sequence);
  if (of.progress.armed() && of.progress_at <= at) return;
  of.progress_at = at;
  deadlines_.arm(of.progress, {at, due::round_progress, b.sequence});
}

// --- The end of a round ----------------------------------------------------------------------

void coordinator::state::release_round(time_point now, barriers::barrier& b) {
  barrier_answer a;
  a.round = b.number;
  if (b.kind.gather) a.data = b.round.gathered();
  if (b.kind.reduce != reduction::none) {
    auto one = reduced(b.kind.reduce, b.round);
    if (!one) {
      status const& why = one.error();
      return fail_round(now, b, {why.code(), failed_text(b, why.message())});
    }
    a.data.emplace_back(*std::move(one), memory);
  }
  b.passed = b.number;
  end_round(now, b, share(std::move(a)), {});
}

// `told` is given the outcome by the caller of this function. When all rounds fail at once, because
// the job has failed or the coordinator stops, the log has said so.
void coordinator::state::fail_round(time_point now, barriers::barrier& b, status why,
                                    std::optional<task_id> told) {
  if (!error && !stopping_) {
    log(severity::warning, event_kind::round_failed, why.message(), std::nullopt, b.name);
  }
  auto what = make_answer({std::move(why), describe(now, b.round, b.number)});
  std::vector<task_id> owed_to = b.round.missing();
  std::erase_if(owed_to, [&](task_id id) { return !roster_.at(id).is_connected() || id == told; });
  end_round(now, b, what, std::move(owed_to));
}

void coordinator::state::end_round(time_point now, barriers::barrier& b, answer_ptr const& what,
                                   std::vector<task_id> owed_to) {
  std::vector<ticket> const tickets = b.round.tickets();
  note_round(now, b, what->outcome.code(), tickets);
  forget_opening(b);
  barriers_.end(b, what, std::move(owed_to));
  answer_all(tickets, what);
}

void coordinator::state::dissolve_round(barriers::barrier& b) {
  forget_opening(b);
  barriers_.dissolve(b);
}

// What opening the round has led to.
void coordinator::state::forget_opening(barriers::barrier const& b) {
  auto const at = round_alarms_.find(b.sequence);
  disarm(at->second);
  round_alarms_.erase(at);
  if (session* const s = sessions_.find(b.opener)) {
    sessions_.let_go(*s, barriers::cost(b.name, b.round.expected()));
  }
}

void coordinator::state::leave_round(barriers::round_sequence sequence, task_id id) {
  barriers::barrier* const b = barriers_.open_round(sequence);
  if (!b) return;
  b->round.withdraw(id);
  if (b->round.arrived() == 0) dissolve_round(*b);
}

void coordinator::state::fail_all_rounds(time_point now, status const& why) {
  while (!barriers_.open_rounds().empty()) {
    barriers::barrier& b = *barriers_.open_rounds().begin()->second;
    fail_round(now, b, {why.code(), failed_text(b, why.message())});
  }
}

// Those of them that mind it.
void coordinator::state::fail_rounds_of(time_point now, task_id id) {
  status const why = absence(id);
  bool const is_gone = roster_.at(id).state == task_state::left;
  std::vector<barriers::barrier*> hit;
  for (auto const& [_, b] : barriers_.open_rounds()) {
    bool const minds = is_gone || b->kind.fail_when_lost;
    if (minds && b->round.expected().index_of(id)) hit.push_back(b);
  }
  for (barriers::barrier* const b : hit) {
    fail_round(now, *b, {why.code(), failed_text(*b, why.message())});
  }
}

void coordinator::state::handle(call const& c, cancel_barrier_args& args) {
  std::string const by = c.task ? who(*c.task) : "observer " + c.by.from.label();
  if (status why = cancel(c.now, args, by, c.task); !why.ok()) return refuse(c, std::move(why));
  answer_now(c, share(status{}), true);
}

status coordinator::state::cancel(time_point now, cancel_barrier_args const& what,
                                  std::string const& by, std::optional<task_id> task) {
  if (status why = checked_name(what.name); !why.ok()) return why;
  barriers::barrier* const b = barriers_.find(what.name);
  if (!b || !b->round.is_open()) {
    return {errc::failed_precondition,
            "barrier " + quoted(what.name) + " has no open round to cancel"};
  }
  if (what.round && *what.round != b->number) {
    return {errc::failed_precondition, "the open round of barrier " + quoted(what.name) + " is " +
                                           std::to_string(b->number.value) + ", not " +
                                           std::to_string(what.round->value)};
  }
  if (task && !b->round.expected().index_of(*task)) {
    return {errc::permission_denied, "task " + std::to_string(task->value) +
                                         " does not take part in barrier " + quoted(what.name)};
  }
  fail_round(now, *b, {errc::cancelled, failed_text(*b, "cancelled by " + by)});
  return {};
}

// --- Deadlines -------------------------------------------------------------------------------

void coordinator::state::round_due(time_point now, due_item const& item) {
  barriers::barrier& b = *barriers_.open_round(item.subject);
  alarms& of = round_alarms_.at(item.subject);
  if (item.what == due::round_progress) return push_progress(now, b);
  if (item.what == due::round_log) {
    arm_log(of, now, item);
    return log(severity::warning, event_kind::waiting,
               round_text(b) + " has waited for " + in_words(now - b.round.opened()) + ": " +
                   missing_text(now, describe(now, b.round, b.number)),
               std::nullopt, b.name);
  }
  deadlines_.disarm(of.deadline);
  // The call with the earliest deadline may have been withdrawn.
  if (b.round.deadline() > now) return arm_deadline(of, b.round.deadline(), item);
  note_lateness(now - item.when);
  barrier_failure const f = describe(now, b.round, b.number);
  std::string const text = timed_out(now, b.round, round_text(b), f);
  fail_round(now, b, {errc::deadline_exceeded, text});
}

// Each is told as often as it asked, at most every `progress_every_min`.
void coordinator::state::push_progress(time_point now, barriers::barrier& b) {
  deadlines_.disarm(round_alarms_.at(b.sequence).progress);
  std::optional<task_ranges> missing;
  time_point next = time_point::max();
  b.round.each([&](task_id, meeting::arrival& a) {
    if (a.progress_every == 0ns) return;
    if (a.progress_at <= now) {
      a.progress_at = deadline_after(now, a.progress_every);
      session* const s = sessions_.find(a.who.session);
      if (s->attached != connection_id{}) {
        if (!missing) missing = ranges(b.round.missing());
        sessions_.push(
            *s, share(barrier_progress{a.who.request, b.number, b.round.arrived(),
                                       b.round.expected().size(), missing->text, missing->cut}));
      }
    }
    next = std::min(next, a.progress_at);
  });
  // All of a round are looked at, so not for each of them at a time of its own.
  if (next != time_point::max()) arm_progress(b, std::max(next, now + progress_every_min));
}

// --- Words -----------------------------------------------------------------------------------

std::string coordinator::state::failed_text(barriers::barrier const& b,
                                            std::string const& reason) const {
  return round_text(b) + " failed: " + reason + "; " + std::to_string(b.round.arrived()) + " of " +
         std::to_string(b.round.expected().size()) + " tasks had arrived";
}

std::vector<task_id> coordinator::state::awaited(meeting const& m) const {
  std::vector<task_id> missing = m.missing();
  // The leave waits for nobody who has left, and not for recoverable ones that have failed.
  std::erase_if(missing, [&](task_id id) {
    task const& t = roster_.at(id);
    return t.state == task_state::left ||
           (&m == &leave_ && (t.state == task_state::failed || t.parted == parting::finished));
  });
  return missing;
}

barrier_failure coordinator::state::describe(time_point now, meeting const& m,
                                             round_number number) const {
  barrier_failure f = describe(now, awaited(m), m.expected().size());
  f.round = number;
  return f;
}

missing_task coordinator::state::describe_missing(time_point now, task_id id) const {
  task const& t = roster_.at(id);
  missing_task m;
  m.task = id;
  m.state = t.state;
  m.suspect = is_suspect(t);
  if (auto const heard = last_heard(t)) m.last_heard = now - *heard;
  m.label = from_of(t).label();
  m.waits_for = waits_for(id);
  if (t.progress) m.step = t.progress->step;
  return m;
}

std::string coordinator::state::waits_for(task_id id) const {
  barriers::barrier const* at_barrier = nullptr;
  std::string reads;
  std::string at_count_barrier;
  parked const* at_exchange = nullptr;
  bool leaves = false;
  bool asks = false;
  for (ticket const who : roster_.at(id).waits) {
    parked const& p = *sessions_.parked_at(who);
    if (p.where == parked::place::leave) leaves = true;
    if (p.where == parked::place::alive) asks = true;
    if (reads.empty()) reads = read_text(p);
    if (p.where == parked::place::count_barrier) at_count_barrier = p.name.get();
    if (p.where == parked::place::topology) at_exchange = &p;
    if (p.where != parked::place::barrier || at_barrier) continue;
    at_barrier = barriers_.open_round(p.number);
  }
  if (at_barrier) return "barrier " + quoted(at_barrier->name);
  if (at_exchange) return "exchange of topologies " + quoted(at_exchange->name.get());
  if (leaves) return "the others to leave";
  if (asks) return "an alive query";
  return at_count_barrier.empty() ? reads : "count barrier " + quoted(at_count_barrier);
}

// What a get or a pop waits for; nothing of another request.
std::string coordinator::state::read_text(parked const& p) const {
  if (!is_get_or_pop(p)) return {};
  return (p.where == parked::place::queue ? "queue " : "key ") + quoted(read_name(p));
}

std::string_view coordinator::state::read_name(parked const& p) const {
  if (p.where != parked::place::keys) return p.name.get();
  joint_gets::get const& g = joint_gets_.at(p.number);
  return g.keys[g.at];
}

std::string coordinator::state::missing_text(time_point now, barrier_failure const& f) const {
  std::uint32_t const count = f.expected - f.arrived;
  std::string text = std::to_string(count) + " of " + std::to_string(f.expected) +
                     (count == 1 ? " tasks is missing: " : " tasks are missing: ");
  if (f.known.size() < count) text += f.missing;
  if (f.missing_cut > 0) text += " and " + std::to_string(f.missing_cut) + " more";
  if (f.known.size() < count) text += "; of these ";
  for (std::size_t i = 0; i < f.known.size(); ++i) {
    missing_task const& m = f.known[i];
    text += (i == 0 ? "" : ", ") + std::to_string(m.task.value) + " (" + std::string{state_text(m)};
    if (m.last_heard) text += ", last heard at " + moment(now, now - *m.last_heard);
    if (!m.label.empty()) text += ", " + m.label;
    if (m.step) text += ", at step " + std::to_string(*m.step);
    if (!m.waits_for.empty()) text += ", waits for " + m.waits_for;
    text += ")";
  }
  return text;
}

std::string coordinator::state::timed_out(time_point now, meeting const& m, std::string const& what,
                                          barrier_failure const& f) const {
  std::string const text = "Barrier timed out. " + what + " timed out after " +
                           in_words(now - m.opened()) + ": " + missing_text(now, f);
  return text + "; " + std::to_string(f.arrived) + "/" + std::to_string(f.expected) +
         " had arrived, task " + std::to_string(m.in_order().front().value) + " first";
}

// --- Count barriers --------------------------------------------------------------------------

void coordinator::state::handle(call const& c, count_barrier_args& args) {
  if (status why = checked_name(args.name); !why.ok()) return refuse(c, std::move(why));
  auto const arrived = count_barriers_.arrive(c.now, args.name, args.count, c.from);
  if (!arrived) return refuse(c, arrived.error());
  parked p;
  p.where = parked::place::count_barrier;
  p.name = args.name;
  p.task = c.task;
  p.number = *arrived;
  arm_call(c, p, args.timeout);
  park(c, std::move(p));
  auto const released = count_barriers_.take_complete(args.name);
  answer_all(released.tickets, share(barrier_answer{released.number, {}}));
}

}  // namespace coxswain::core
