// The ends of rounds: released, failed, and what is owed to those who have not called.

#include "coxswain/core/concerns.hpp"
#include "coxswain/core/rendezvous/barrier_verbs.hpp"
#include "coxswain/core/rendezvous/reduction.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::core {
namespace {

// Tasks for which an outcome is kept.
constexpr std::size_t owed_per_step = 4;

}  // namespace

void barrier_verbs::release_round(time_point now, barriers::barrier& b) {
  barrier_answer a;
  a.round = b.number;
  if (b.kind.gather) a.data = b.round.gathered();
  if (b.kind.reduce != reduction::none) {
    auto result = reduced(b.kind.reduce, b.round);
    if (!result) {
      status const& why = result.error();
      return fail_round(now, b, round_failed(b, why.code(), why.message()));
    }
    a.data.emplace_back(*std::move(result), kernel_.memory);
  }
  b.passed = b.number;
  end_round(now, b, calls_.share(std::move(a)), {});
}

// The caller of this function gives `answered` its outcome.
void barrier_verbs::fail_round(time_point now, barriers::barrier& b, status why,
                               std::optional<task_id> answered) {
  std::vector<task_id> owed_to = b.round.missing();
  std::erase_if(owed_to,
                [&](task_id id) { return !roster_.at(id).is_connected() || id == answered; });
  fail_round_owing(now, b, std::move(why), std::move(owed_to));
}

// When all rounds fail at once, because the job has failed or the coordinator stops, that is logged
// already.
void barrier_verbs::fail_round_owing(time_point now, barriers::barrier& b, status why,
                                     std::vector<task_id> owed_to) {
  if (!error_ && !kernel_.stopping) {
    kernel_.log(severity::warning, event_kind::round_failed, why.message(), std::nullopt, b.name);
  }
  auto what =
      make_answer({std::move(why), concerns_.missing.describe_shared(now, b.round, b.number)});
  kernel_.tally.steps += owed_to.size() / owed_per_step;
  end_round(now, b, what, std::move(owed_to));
}

void barrier_verbs::end_round(time_point now, barriers::barrier& b, answer_ptr const& what,
                              std::vector<task_id> owed_to) {
  std::vector<ticket> const tickets = b.round.tickets();
  note_round(now, b, what->outcome.code(), tickets);
  forget_opening(b);
  barriers_.end(b, what, std::move(owed_to));
  calls_.answer_all(tickets, what);
}

void barrier_verbs::dissolve_round(barriers::barrier& b) {
  forget_opening(b);
  barriers_.dissolve(b);
}

// Effects of opening the round.
void barrier_verbs::forget_opening(barriers::barrier const& b) {
  auto const at = round_alarms_.find(b.sequence);
  kernel_.disarm(at->second);
  round_alarms_.erase(at);
  if (session* const s = sessions_.find(b.opener)) {
    sessions_.let_go(*s, barriers::cost(b.name, b.round.expected()));
  }
}

// Nothing is owed: after this all that is owed is forgotten.
void barrier_verbs::fail_all_rounds(time_point now, status const& why) {
  while (!barriers_.open_rounds().empty()) {
    barriers::barrier& b = *barriers_.open_rounds().begin()->second;
    fail_round_owing(now, b, round_failed(b, why.code(), why.message()), {});
  }
}

// Those of them that mind it.
void barrier_verbs::fail_rounds_of(time_point now, task_id id) {
  status const why = kernel_.absence(id);
  bool const is_gone = roster_.at(id).state == task_state::left || concerns_.ends.is_draining();
  std::vector<barriers::barrier*> hit;
  for (auto const& [_, b] : barriers_.open_rounds()) {
    bool const fails = is_gone || b->kind.fail_when_lost;
    if (fails && b->round.expected().index_of(id)) hit.push_back(b);
  }
  for (barriers::barrier* const b : hit) {
    fail_round(now, *b, round_failed(*b, why.code(), why.message()));
  }
}

void barrier_verbs::fail_unreachable_rounds(time_point now) {
  std::vector<std::pair<barriers::barrier*, task_id>> hit;
  for (auto const& [_, b] : barriers_.open_rounds()) {
    for (task_id const id : b->round.missing()) {
      if (roster_.at(id).is_connected()) continue;
      hit.emplace_back(b, id);
      break;
    }
  }
  for (auto const& [b, id] : hit) {
    status const why = kernel_.absence(id);
    fail_round(now, *b, round_failed(*b, why.code(), why.message()));
  }
}

// A parked call knows since when it waits, so an arrival has nothing to note.
void barrier_verbs::note_round(time_point now, barriers::barrier const& b, errc outcome,
                               std::vector<ticket> const& in_order) {
  kernel_.tally.count_round(outcome, now - b.round.opened());
  snapshot::finished_round over;
  over.round = b.number;
  over.at = now - kernel_.started;
  over.tasks = b.round.expected().size();
  over.outcome = outcome;
  if (in_order.size() > 1) {
    auto const call_of = [&](ticket who) -> parked const& { return *sessions_.parked_at(who); };
    parked const& last = call_of(in_order.back());
    over.spread = last.since - call_of(in_order.front()).since;
    // Of an even number the earlier one in the middle: if half of them are late, that half is.
    over.lag = last.since - call_of(in_order[(in_order.size() - 1) / 2]).since;
    if (outcome == errc::ok) over.last_task = last.task;
  }
  ended_.add(b.name, std::move(over));
}

}  // namespace coxswain::core
