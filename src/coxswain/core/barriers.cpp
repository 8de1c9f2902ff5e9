#include "coxswain/core/barriers.hpp"

#include "coxswain/core/text.hpp"

#include <utility>

namespace coxswain::core {
namespace {

// A meeting has room for an arrival of every task. A name that rests has no use for it, and a few
// are enough for the rounds that are opened next.
constexpr std::size_t spare_max = 8;

}  // namespace

barriers::barrier& barriers::at(std::string_view name) {
  if (barrier* const known = find(name)) return *known;
  barrier& b = by_name_[std::string{name}];
  b.name = name;
  b.id = ++barriers_made_;
  return b;
}

barriers::barrier* barriers::find(std::string_view name) {
  if (found_last_ && found_last_->name == name) return found_last_;
  auto const found = by_name_.find(name);
  if (found == by_name_.end()) return nullptr;
  found_last_ = &found->second;
  return found_last_;
}

barriers::barrier const* barriers::find(std::string_view name) const {
  auto const found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &found->second;
}

barriers::barrier* barriers::open_round(round_sequence sequence) const {
  auto const found = open_.find(sequence);
  return found == open_.end() ? nullptr : found->second;
}

answer_ptr barriers::take_owed(barrier& b, task_id task) {
  auto const at = claims_.lower_bound({task, b.id, 0});
  if (at == claims_.end() || at->task != task || at->barrier != b.id) return nullptr;
  debt const& owed = debts_.at(at->debt);
  answer_ptr outcome = owed.outcome;
  if (!outcome) {
    outcome = make_answer(
        {status{errc::aborted, "the outcome of round " + std::to_string(owed.number.value) +
                                   " of barrier " + quoted(b.name) + " was forgotten: more than " +
                                   std::to_string(owed_max_) +
                                   " outcomes were owed (owed_outcomes_max); call again"},
         {}});
  }
  fulfil(at);
  return outcome;
}

status barriers::may_open(barrier const& b, task_id caller, task_set const& expected) const {
  if (!b.last_expected || *b.last_expected == expected) return {};
  if (b.last_expected->index_of(caller)) return {};
  return {errc::invalid_argument,
          "barrier " + quoted(b.name) + " was last used, in round " +
              std::to_string(b.number.value) + ", by other participants, and task " +
              std::to_string(caller.value) +
              " was not among them; use another name for another set of tasks"};
}

void barriers::open(barrier& b, task_set_ptr expected, round_kind kind, time_point now) {
  if (b.is_idle) {
    idle_.erase(b.idle);
    b.is_idle = false;
  }
  if (!spare_.empty()) {
    b.round = std::move(spare_.back());
    spare_.pop_back();
  }
  b.round.open(std::move(expected), now);
  b.sequence = ++sequence_;
  // Rounds are numbered so that a straggler of round 3 cannot release round 4 of the same name.
  ++b.number.value;
  b.kind = kind;
  open_.emplace(b.sequence, &b);
}

void barriers::end(barrier& b, answer_ptr outcome, std::vector<task_id> owed_to) {
  b.last_expected = b.round.expected_set();
  close_round(b);
  if (!owed_to.empty()) {
    debt_key const key = ++debts_made_;
    for (task_id const task : owed_to) claims_.insert({task, b.id, key});
    remembered_ += owed_to.size();
    ++b.debts;
    std::size_t const left = owed_to.size();
    debts_.emplace(key, debt{&b, b.number, std::move(outcome), std::move(owed_to), left});
    ++b.debts;  // it does not rest as long as it is looked at
    shrink_debts();
    --b.debts;
  }
  rest(b);
}

void barriers::dissolve(barrier& b) {
  close_round(b);
  --b.number.value;
  rest(b);
}

void barriers::close_round(barrier& b) {
  open_.erase(b.sequence);
  meeting over = std::exchange(b.round, {});
  if (spare_.size() >= spare_max) return;
  over.close();
  spare_.push_back(std::move(over));
}

void barriers::forget_owed_to(task_id task) {
  auto at = claims_.lower_bound({task, 0, 0});
  while (at != claims_.end() && at->task == task) fulfil(at++);
}

void barriers::forget_owed() {
  while (!debts_.empty()) settle(debts_.begin());
}

// The claim is no more.
void barriers::fulfil(claims::iterator at) {
  auto const owed = debts_.find(at->debt);
  claims_.erase(at);
  if (owed->second.outcome) --remembered_;
  if (--owed->second.left == 0) settle(owed);
}

// The debt is no more, and neither is what is left of its claims.
void barriers::settle(std::map<debt_key, debt>::iterator at) {
  debt const over = std::move(at->second);
  debt_key const key = at->first;
  debts_.erase(at);
  if (over.left > 0) {
    for (task_id const task : over.to) claims_.erase({task, over.of->id, key});
    if (over.outcome) remembered_ -= over.left;
  }
  --over.of->debts;
  rest(*over.of);
}

// Beyond the bound the oldest outcomes are forgotten; that there was one is known for as many
// again, so that the straggler is told ABORTED instead of waiting in a round of its own.
void barriers::shrink_debts() {
  while (remembered_ > owed_max_) {
    auto const at = debts_.lower_bound(first_remembered_);
    first_remembered_ = at->first + 1;
    at->second.outcome = nullptr;
    remembered_ -= at->second.left;
  }
  while (claims_.size() - remembered_ > owed_max_) settle(debts_.begin());
}

// A name that nobody is in and of which nothing is owed costs nothing but a place among the
// `idle_max_` last ones.
void barriers::rest(barrier& b) {
  if (b.round.is_open() || b.debts > 0) return;
  b.is_idle = true;
  b.idle = idle_.insert(idle_.end(), &b.name);
  if (idle_.size() <= idle_max_) return;
  auto const oldest = by_name_.find(*idle_.front());
  idle_.pop_front();
  if (found_last_ == &oldest->second) found_last_ = nullptr;
  by_name_.erase(oldest);
}

}  // namespace coxswain::core
