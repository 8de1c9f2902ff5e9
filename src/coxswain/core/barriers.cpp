#include "coxswain/core/barriers.hpp"

#include "coxswain/core/text.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace coxswain::core {

barriers::barrier& barriers::at(std::string_view name) {
  if (barrier* const known = find(name)) return *known;
  barrier& b = by_name_[std::string{name}];
  b.name = name;
  return b;
}

barriers::barrier* barriers::find(std::string_view name) {
  auto const found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &found->second;
}

barriers::barrier* barriers::open_round(round_sequence sequence) {
  auto const found = open_.find(sequence);
  return found == open_.end() ? nullptr : found->second;
}

answer_ptr barriers::take_owed(barrier& b, straggler who) {
  for (std::uint64_t const key : b.owed) {
    auto const at = owed_.find(key);
    auto& to = at->second.to;
    auto const it = std::find_if(to.begin(), to.end(), [&](straggler const& s) {
      return s.task == who.task && s.self == who.self;
    });
    if (it == to.end()) continue;
    answer_ptr outcome = at->second.outcome;
    if (!outcome) {
      outcome = std::make_shared<answer const>(answer{
          status{errc::aborted, "the outcome of round " + std::to_string(at->second.number.value) +
                                    " of barrier " + quoted(b.name) +
                                    " was forgotten: too many outcomes were owed"},
          {}});
    } else {
      --remembered_count_;
    }
    to.erase(it);
    --owed_count_;
    if (to.empty()) settle(at);
    rest(b);
    return outcome;
  }
  return nullptr;
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

void barriers::open(barrier& b, task_set_ptr expected, bool gather, time_point now) {
  if (b.is_idle) {
    idle_.erase(b.idle);
    b.is_idle = false;
  }
  b.round.open(std::move(expected), now);
  b.sequence = ++sequence_;
  // Rounds are numbered so that a straggler of round 3 cannot release round 4 of the same name.
  ++b.number.value;
  b.gather = gather;
  b.progress_told = 0;
  open_.emplace(b.sequence, &b);
}

void barriers::end(barrier& b, answer_ptr outcome, std::vector<straggler> owed_to) {
  open_.erase(b.sequence);
  b.last_expected = b.round.expected_set();
  b.round.close();
  if (!owed_to.empty()) {
    owed_count_ += owed_to.size();
    remembered_count_ += owed_to.size();
    std::uint64_t const key = ++debt_;
    b.owed.push_back(key);
    owed_.emplace(key, debt{&b, b.number, std::move(outcome), std::move(owed_to)});
    shrink_debts();
  }
  rest(b);
}

void barriers::dissolve(barrier& b) {
  open_.erase(b.sequence);
  b.round.close();
  --b.number.value;
  rest(b);
}

void barriers::forget_owed() {
  while (!owed_.empty()) {
    auto const at = owed_.begin();
    barrier& of = *at->second.of;
    owed_count_ -= at->second.to.size();
    if (at->second.outcome) remembered_count_ -= at->second.to.size();
    settle(at);
    rest(of);
  }
}

void barriers::settle(debts::iterator at) {
  at->second.of->owed.remove(at->first);
  owed_.erase(at);
}

// Beyond the bound the oldest outcomes are forgotten; that there was one is known for as many
// again, so that the straggler is told ABORTED instead of waiting in a round of its own.
void barriers::shrink_debts() {
  for (auto at = owed_.begin(); remembered_count_ > owed_max_ && at != owed_.end(); ++at) {
    if (!at->second.outcome) continue;
    at->second.outcome = nullptr;
    remembered_count_ -= at->second.to.size();
  }
  while (owed_count_ - remembered_count_ > owed_max_) {
    auto const at = owed_.begin();
    barrier& of = *at->second.of;
    owed_count_ -= at->second.to.size();
    settle(at);
    rest(of);
  }
}

// A name that nobody is in and of which nothing is owed costs nothing but a place among the
// `idle_max_` last ones.
void barriers::rest(barrier& b) {
  if (b.round.is_open() || !b.owed.empty() || b.is_idle) return;
  b.is_idle = true;
  b.idle = idle_.insert(idle_.end(), &b.name);
  if (idle_.size() <= idle_max_) return;
  auto const oldest = by_name_.find(*idle_.front());
  idle_.pop_front();
  by_name_.erase(oldest);
}

}  // namespace coxswain::core
