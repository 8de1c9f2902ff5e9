#include "coxswain/core/rendezvous/barrier_verbs.hpp"

#include "coxswain/base/invariant.hpp"
#include "coxswain/core/concerns.hpp"
#include "coxswain/core/coordinator.hpp"
#include "coxswain/core/kernel/text.hpp"
#include "coxswain/core/observe/picture_budget.hpp"
#include "coxswain/core/observe/wait_graph.hpp"
#include "coxswain/core/rendezvous/reduction.hpp"
#include "coxswain/core/rendezvous/round_texts.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace coxswain::core {
namespace {

constexpr duration progress_every_min = 100ms;

// Tasks of a round that is opened or reports its progress.
constexpr std::size_t round_tasks_per_step = 16;

round_kind kind_of(barrier_args const& args) {
  return {args.gather, args.reduce, args.fail_when_lost};
}
}  // namespace

barrier_verbs::barrier_verbs(concerns& all)
    : blocking_concern{all, {operation_id<barrier_args>, blocking_calls::wait::for_tasks}},
      barriers_{kernel_.memory, options_.owed_outcomes_max, options_.idle_barriers_max} {}

void barrier_verbs::job_failed(time_point now, status const& why, barrier_failure const*) {
  fail_all_rounds(now, why);
  barriers_.forget_owed();
}

void barrier_verbs::fail_rounds_awaiting(time_point now, task_id id, status const& why) {
  std::vector<barriers::barrier*> hit;
  for (auto const& [_, b] : barriers_.open_rounds()) {
    if (b->round.expected().index_of(id) && !b->round.arrival_of(id)) hit.push_back(b);
  }
  for (barriers::barrier* const b : hit) {
    fail_round(now, *b, round_failed(*b, why.code(), why.message()));
  }
}

void barrier_verbs::end_epoch(time_point now, status const& why) {
  fail_all_rounds(now, why);
  barriers_.forget_all();
  ended_.forget_tasks();
}

void barrier_verbs::cancel(ticket, parked const& p) {
  barriers::barrier* const b = barriers_.open_round(p.number);
  if (!b) return;
  b->round.cancel(*p.task);
  if (b->round.arrived() == 0) dissolve_round(*b);
}

std::string barrier_verbs::missing_text(time_point now, ticket, parked const& p) {
  return concerns_.missing.brief(now, p, barriers_.open_round(p.number)->round);
}

std::string barrier_verbs::goal_text(parked const& p) const {
  return "barrier " + in_quotes(barriers_.open_round(p.number)->name);
}

std::string barrier_verbs::stuck_text(parked const& p) const { return "at " + goal_text(p); }

std::vector<task_id> barrier_verbs::awaited(parked const& p) const {
  return concerns_.missing.from(barriers_.open_round(p.number)->round);
}

void barrier_verbs::add_to(wait_graph& g, picture_budget& budget) const {
  for (auto const& [_, b] : barriers_.open_rounds()) {
    if (!budget.take(b->round.expected().size())) break;
    g.wait_for_all(b->round.present(), concerns_.missing.from(b->round));
  }
}

std::size_t barrier_verbs::waiting() const {
  std::size_t arrived = 0;
  for (auto const& [_, b] : barriers_.open_rounds()) arrived += b->round.arrived();
  return arrived;
}

void barrier_verbs::check(ticket who, parked const& p) const {
  auto const* const b = barriers_.open_round(p.number);
  invariant(b && b->round.arrival_of(*p.task)->who == who, "a barrier's call has arrived");
}

void barrier_verbs::check_invariants() const {
  for (auto const& [sequence, b] : barriers_.open_rounds()) {
    invariant(b->round.is_open() && b->sequence == sequence, "an open round is open");
    invariant(b->round.arrived() > 0 && !b->round.complete(), "an open round waits for somebody");
    b->round.each([&](task_id id, meeting::arrival const&) {
      invariant(roster_.at(id).is_connected(), "who has arrived has not failed since");
    });
    alarms const& of = round_alarms_.at(sequence);
    invariant(of.deadline.armed() && of.deadline_at <= b->round.deadline(),
              "an open round has a deadline");
  }
  invariant(round_alarms_.size() == barriers_.open_rounds().size(), "only open rounds have alarms");
  invariant(kernel_.tally.barrier_wait.count() == ended_.added(),
            "each round that has ended is counted");
  invariant(!error_ || (barriers_.open_rounds().empty() && barriers_.owed() == 0),
            "no round is open and nothing is owed once the job has failed");
}

std::size_t barrier_verbs::armed() const {
  std::size_t count = 0;
  for (auto const& [_, of] : round_alarms_) count += of.armed();
  return count;
}

status barrier_verbs::checked_name(std::string_view name) const {
  if (name.empty()) return fail<&reasons::barrier_has_no_name>();
  if (name.size() > options_.key_bytes_max) {
    return fail<&reasons::too_long>("barrier's name", name.size(), "key_bytes_max",
                                    options_.key_bytes_max);
  }
  if (name.find('\0') != name.npos || !is_utf8(name))
    return fail<&reasons::barrier_name_is_malformed>();
  return {};
}

void barrier_verbs::handle(call const& c, barrier_args& args) {
  if (!c.task) return calls_.refuse(c, kernel_.not_joined());
  if (error_) return calls_.refuse(c, kernel_.job_failed(errc::failed_precondition));
  barriers::barrier* b = barriers_.find(args.name);
  // First, since the journal has no arguments of a request that is refused for this.
  if (!b || barriers_.has_rested(*b)) {
    if (status why = kernel_.room_to_store(); !why.ok()) return calls_.refuse(c, std::move(why));
  }
  if (!b) {
    if (status why = checked_name(args.name); !why.ok()) return calls_.refuse(c, std::move(why));
  }
  if (status why = checked_kind(args); !why.ok()) return calls_.refuse(c, std::move(why));
  auto expected = args.of_jax_tasks ? jax_tasks(*c.task, b, args)
                                    : participants(*c.task, args.participants, args.name);
  if (!expected) return calls_.refuse(c, expected.error());
  if (b) {
    if (auto const owed = barriers_.take_owed(*b, *c.task)) return calls_.answer_now(c, owed, true);
  }
  if (!b || !b->round.is_open()) {
    if (status why = may_open_round(*c.task, args, **expected, b); !why.ok()) {
      return calls_.refuse(c, std::move(why));
    }
    std::size_t const cost = barriers::cost(args.name, **expected);
    if (status why = sessions_.room_for(c.by, cost, false); !why.ok()) {
      return calls_.refuse(c, std::move(why));
    }
    if (!memory_.fits(cost)) return calls_.refuse(c, kernel_.out_of_memory());
    if (!b) b = &barriers_.at(args.name);
    open_round(c, *b, *std::move(expected), args);
  } else if (b->round.expected() != **expected || b->kind != kind_of(args)) {
    status const why = mismatch(*b, *c.task, kind_of(args), **expected);
    // Only a participant can fail the round; then both sides get the error.
    if (!b->round.expected().index_of(*c.task)) return calls_.refuse(c, why);
    fail_round(c.now, *b, why, c.task);
    return calls_.answer_now(c, calls_.share(why), true);
  }
  arrive(c, *b, args);
}

bool barrier_verbs::may_only_open(std::string_view name) const {
  auto const* const b = barriers_.find(name);
  return !b || barriers_.has_rested(*b);
}

status barrier_verbs::checked_kind(barrier_args const& args) const {
  if (args.reduce != reduction::none) {
    if (args.gather) return fail<&reasons::gathers_and_reduces>();
    return checked_operand(args.reduce, args.data);
  }
  if (args.gather) return concerns_.keys.checked_value(args.data.size());
  if (args.data.empty()) return {};
  return fail<&reasons::data_is_unused>();
}

result<task_set_ptr> barrier_verbs::participants(task_id caller, std::vector<task_id>& tasks,
                                                 std::optional<std::string_view> barrier) const {
  if (tasks.empty()) return kernel_.everyone;
  auto const meeting = [&] { return barrier ? "barrier " + in_quotes(*barrier) : "alive query"; };
  // They are usually sorted already, and every call can name all tasks.
  if (std::adjacent_find(tasks.begin(), tasks.end(), std::greater_equal{}) != tasks.end()) {
    std::sort(tasks.begin(), tasks.end());
    tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());
  }
  if (!roster_.has(tasks.back()))
    return fail<&reasons::no_such_participant>(meeting(), tasks.back(), roster_.size() - 1);
  if (!std::binary_search(tasks.begin(), tasks.end(), caller))
    return fail<&reasons::caller_is_no_participant>(meeting(), caller);
  if (tasks.size() == roster_.size()) return kernel_.everyone;
  return boost::make_local_shared<task_set const>(std::move(tasks));
}

// Only the core knows them: there can be several services. An open round keeps its participants.
result<task_set_ptr> barrier_verbs::jax_tasks(task_id caller, barriers::barrier const* b,
                                              barrier_args const& args) const {
  if (!args.participants.empty()) return fail<&reasons::jax_barrier_lists_tasks>(args.name);
  if (!roster_.at(caller).is_jax) return fail<&reasons::not_a_jax_task>(args.name, caller);
  if (b && b->round.is_open() && b->round.expected().index_of(caller)) {
    return b->round.expected_set();
  }
  std::vector<task_id> all;
  for (std::uint32_t i = 0; i < roster_.size(); ++i) {
    task const& t = roster_.at(task_id{i});
    if (t.is_jax && t.is_connected()) all.emplace_back(i);
  }
  return participants(caller, all, args.name);
}

status barrier_verbs::may_open_round(task_id caller, barrier_args const& args,
                                     task_set const& expected, barriers::barrier const* b) const {
  if (status why = kernel_.room_to_store(); !why.ok()) return why;
  if (b && !args.of_jax_tasks) {
    if (status why = barriers_.may_open(*b, caller, expected); !why.ok()) return why;
  }
  bool const is_draining = concerns_.ends.is_draining();
  bool const fails_when_lost =
      (args.fail_when_lost || is_draining) &&
      roster_.count(task_state::connected) + roster_.count(task_state::left) < roster_.size();
  if (roster_.count(task_state::left) == 0 && !fails_when_lost) return {};
  for (std::uint32_t i = 0; i < expected.size(); ++i) {
    task_id const id = expected.at(i);
    task_state const state = roster_.at(id).state;
    bool const is_lost = state == task_state::failed || state == task_state::returning ||
                         (is_draining && state == task_state::never_connected);
    if (state != task_state::left && !(fails_when_lost && is_lost)) continue;
    status const why = kernel_.absence(id);
    return fail_as<&reasons::barrier_is_unreachable>(why.code(), args.name, why.message());
  }
  return {};
}

void barrier_verbs::open_round(call const& c, barriers::barrier& b, task_set_ptr expected,
                               barrier_args const& args) {
  barriers_.open(b, std::move(expected), kind_of(args), c.now);
  b.operand_bytes = args.data.size();
  b.opener = c.from.session;
  sessions_.hold(c.by, barriers::cost(b.name, b.round.expected()));
  kernel_.tally.steps += b.round.expected().size() / round_tasks_per_step;
  kernel_.arm_log(round_alarms_[b.sequence], c.now, {{}, due::round_log, b.sequence});
}

void barrier_verbs::arrive(call const& c, barriers::barrier& b, barrier_args& args) {
  if (is_bitwise(args.reduce) && args.data.size() != b.operand_bytes) {
    return calls_.refuse<&reasons::operand_has_other_size>(c, round_text(b), b.operand_bytes,
                                                           args.data.size());
  }
  if (status why = check_data(c, b, args.data.size()); !why.ok()) {
    // The outcome of a round is kept until it was received; this one may be its outcome.
    return calls_.answer_now(c, calls_.share(std::move(why)), true);
  }
  meeting::arrival a;
  a.who = c.from;
  a.deadline = deadline_after(c.now, args.timeout);
  if (!args.data.empty()) a.data = bytes{std::move(args.data), kernel_.memory};
  if (args.progress_every > 0ns) {
    a.progress_every = std::max(args.progress_every, progress_every_min);
    a.progress_at = deadline_after(c.now, a.progress_every);
  }
  time_point const deadline = a.deadline;
  time_point const progress_at = a.progress_at;
  calls_.park(c, *this, {b.sequence});
  if (auto const older = b.round.arrive(*c.task, std::move(a))) calls_.answer_superseded(*older);
  if (b.round.complete()) return release_round(c.now, b);
  kernel_.arm_deadline(round_alarms_.at(b.sequence), deadline, {{}, due::round, b.sequence});
  if (args.progress_every > 0ns) arm_progress(b, progress_at);
}

status barrier_verbs::check_data(call const& c, barriers::barrier& b, std::size_t size) {
  auto const* const replaced = b.round.arrival_of(*c.task);
  std::size_t const gathered =
      b.round.gathered_bytes() + size - (replaced ? replaced->data.size() : 0);
  if (gathered > options_.gather_bytes_max) {
    status const why =
        fail<&reasons::too_much_data>(round_text(b), *c.task, gathered, options_.gather_bytes_max);
    fail_round(c.now, b, why, c.task);
    return why;
  }
  // Data leaves the same reserve as values, so that barriers without data still work.
  if (size == 0 || memory_.fits(size + memory_.owned_max() / 16)) return {};
  status const why = fail<&reasons::no_room_for_data>(round_text(b), size, usage_text(memory_));
  if (b.round.arrived() == 0) dissolve_round(b);
  return why;
}

void barrier_verbs::arm_progress(barriers::barrier const& b, time_point at) {
  alarms& of = round_alarms_.at(b.sequence);
  if (of.progress.armed() && of.progress_at <= at) return;
  of.progress_at = at;
  deadlines_.arm(of.progress, {at, due::round_progress, b.sequence});
}

void barrier_verbs::handle(call const& c, cancel_barrier_args& args) {
  if (status why = cancel(c.now, args, kernel_.requester(c.by, c.task), c.task); !why.ok())
    return calls_.refuse(c, std::move(why));
  calls_.answer_now(c, calls_.share(status{}), true);
}

status barrier_verbs::cancel(time_point now, cancel_barrier_args const& what, std::string const& by,
                             std::optional<task_id> task) {
  if (status why = checked_name(what.name); !why.ok()) return why;
  barriers::barrier* const b = barriers_.find(what.name);
  if (!b || !b->round.is_open()) return fail<&reasons::no_open_round>(what.name);
  if (what.round && *what.round != b->number)
    return fail<&reasons::other_round_is_open>(what.name, b->number.value, what.round->value);
  if (task && !b->round.expected().index_of(*task))
    return fail<&reasons::not_in_barrier>(*task, what.name);
  fail_round(now, *b, round_failed(*b, errc::cancelled, "cancelled by " + by));
  return {};
}

void barrier_verbs::round_due(time_point now, due_item const& item) {
  barriers::barrier& b = *barriers_.open_round(item.subject);
  alarms& of = round_alarms_.at(item.subject);
  if (item.what == due::round_progress) return push_progress(now, b);
  if (item.what == due::round_log) {
    kernel_.arm_log(of, now, item);
    auto const f = concerns_.missing.describe_shared(now, b.round, b.number);
    return kernel_.log(severity::warning, event_kind::waiting,
                       round_text(b) + " has waited for " + in_words(now - b.round.opened()) +
                           ": " + concerns_.missing.text(now, f),
                       std::nullopt, b.name);
  }
  deadlines_.disarm(of.deadline);
  // The call with the earliest deadline may have been cancelled.
  if (b.round.deadline() > now) return kernel_.arm_deadline(of, b.round.deadline(), item);
  kernel_.note_lateness(now - item.when);
  auto const f = concerns_.missing.describe_shared(now, b.round, b.number);
  std::string const text = concerns_.missing.timed_out(now, b.round, round_text(b), f);
  fail_round(now, b, {errc::deadline_exceeded, text});
}

// Each gets reports as often as it asked, at most every `progress_every_min`.
void barrier_verbs::push_progress(time_point now, barriers::barrier& b) {
  deadlines_.disarm(round_alarms_.at(b.sequence).progress);
  kernel_.tally.steps += b.round.expected().size() / round_tasks_per_step;
  std::optional<task_ranges> missing;
  time_point next = time_point::max();
  b.round.each([&](task_id, meeting::arrival& a) {
    if (a.progress_every == 0ns) return;
    if (a.progress_at <= now) {
      a.progress_at = deadline_after(now, a.progress_every);
      session* const s = sessions_.find(a.who.session);
      if (s->attached != connection_id{}) {
        if (!missing) missing = ranges(b.round.missing());
        sessions_.push(*s, calls_.share(barrier_progress{a.who.request, b.number, b.round.arrived(),
                                                         b.round.expected().size(), missing->text,
                                                         missing->cut}));
      }
    }
    next = std::min(next, a.progress_at);
  });
  // All arrivals of a round are visited, so they share one time.
  if (next != time_point::max()) arm_progress(b, std::max(next, now + progress_every_min));
}

status barrier_verbs::round_failed(barriers::barrier const& b, errc code, std::string const& why) {
  return fail_as<&reasons::round_failed>(code, round_text(b), why, b.round.arrived(),
                                         b.round.expected().size());
}

barrier_history barrier_verbs::history(time_point now, std::string_view name) const {
  barrier_history all;
  auto const* const b = barriers_.find(name);
  if (!b) return all;
  all.passed = b->passed;
  if (!b->round.is_open()) return all;
  all.open = b->number;
  all.missing = concerns_.missing.text(now, concerns_.missing.describe(now, b->round, b->number));
  return all;
}

}  // namespace coxswain::core
