#include "coxswain/core/rendezvous/barriers.hpp"

#include "coxswain/core/kernel/counted_answer.hpp"
#include "coxswain/core/model/reasons.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::core {
namespace {

// A meeting has room for an arrival of every task. A name that rests has no use for it, and a few
// are enough for the rounds that are opened next.
constexpr std::size_t spare_max = 8;

// The memory limit of idle names, and that of owed outcomes unless an eighth of the memory is less.
constexpr std::size_t idle_bytes_max = 4 * 1024 * 1024;
constexpr std::size_t owed_bytes_min = 64 * 1024;

// A name is stored twice, in two nodes.
std::size_t name_bytes(std::string_view name) { return 2 * name.size() + 384; }

constexpr std::size_t claim_bytes = 96;

}  // namespace

barriers::barrier& barriers::at(std::string_view name) {
  if (barrier* const known = find(name)) return *known;
  barrier& b = by_name_[std::string{name}];
  b.name = name;
  b.id = ++barriers_made_;
  recount(b);
  return b;
}

barriers::~barriers() {
  for (auto const& [_, b] : by_name_) {
    if (!b.is_idle) memory_->subtract(b.bytes);
  }
  for (auto& [_, d] : debts_) forget_outcome(d);
  memory_->subtract(claims_.size() * claim_bytes);
}

bool barriers::restore(barrier b) {
  auto const [at, is_new] = by_name_.try_emplace(b.name);
  if (!is_new) return false;
  at->second = std::move(b);
  recount(at->second);
  return !at->second.round.is_open() || open_.emplace(at->second.sequence, &at->second).second;
}

bool barriers::restore_idle(barrier* b) {
  if (!b || b->is_idle || b->round.is_open()) return false;
  b->is_idle = true;
  b->idle = idle_.insert(idle_.end(), &b->name);
  memory_->subtract(b->bytes);
  idle_bytes_ += b->bytes;
  return true;
}

bool barriers::restore(debt_key key, debt d) {
  if (!d.of || d.of->is_idle || debts_.contains(key)) return false;
  ++d.of->debts;
  if (d.outcome) {
    hold(holder::core, *d.outcome, *memory_);
    remembered_bytes_ += d.bytes;
  }
  debts_.emplace(key, std::move(d));
  return true;
}

bool barriers::restore(claim const& c) {
  auto const owed = debts_.find(c.debt);
  if (owed == debts_.end() || owed->second.of->id != c.barrier) return false;
  if (!claims_.insert(c).second) return false;
  memory_->add(claim_bytes);
  ++owed->second.left;
  remembered_ += owed->second.outcome ? 1 : 0;
  return true;
}

std::size_t barriers::cost(std::string_view name, task_set const& expected) {
  return name_bytes(name) + expected.cost() + meeting::cost(expected.size());
}

// It is not idle.
void barriers::recount(barrier& b) {
  memory_->subtract(b.bytes);
  b.bytes = b.round.is_open() ? cost(b.name, b.round.expected()) : name_bytes(b.name);
  if (b.last_expected) b.bytes += b.last_expected->cost();
  memory_->add(b.bytes);
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
        {fail<&reasons::outcome_is_discarded>(owed.number.value, b.name, owed_max_), {}});
  }
  fulfil(at);
  return outcome;
}

status barriers::may_open(barrier const& b, task_id caller, task_set const& expected) const {
  if (!b.last_expected || *b.last_expected == expected) return {};
  if (b.last_expected->index_of(caller)) return {};
  return fail<&reasons::other_participants>(b.name, b.number.value, caller);
}

void barriers::open(barrier& b, task_set_ptr expected, round_kind kind, time_point now) {
  if (b.is_idle) {
    idle_.erase(b.idle);
    b.is_idle = false;
    idle_bytes_ -= b.bytes;
    memory_->add(b.bytes);
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
  recount(b);
}

void barriers::end(barrier& b, answer_ptr outcome, std::vector<task_id> owed_to) {
  b.last_expected = b.round.expected_set();
  close_round(b);
  if (!owed_to.empty()) {
    debt_key const key = ++debts_made_;
    for (task_id const task : owed_to) claims_.insert({task, b.id, key});
    memory_->add(owed_to.size() * claim_bytes);
    remembered_ += owed_to.size();
    ++b.debts;
    std::size_t const left = owed_to.size();
    std::size_t const bytes = name_bytes(b.name) + outcome->outcome.message().size() +
                              sizeof(task_id) * owed_to.size() + sizeof(answer);
    hold(holder::core, *outcome, *memory_);
    remembered_bytes_ += bytes;
    debts_.emplace(key, debt{&b, b.number, std::move(outcome), std::move(owed_to), left, bytes});
    ++b.debts;  // it is not idle while it is in use
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
  b.opener = {};
  meeting over = std::exchange(b.round, {});
  recount(b);
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

void barriers::forget_all() {
  forget_owed();
  while (!idle_.empty()) forget_oldest_idle();
}

// Removes the claim.
void barriers::fulfil(claims::iterator at) {
  auto const owed = debts_.find(at->debt);
  claims_.erase(at);
  memory_->subtract(claim_bytes);
  if (owed->second.outcome) --remembered_;
  if (--owed->second.left == 0) settle(owed);
}

// Removes the debt and its remaining claims.
void barriers::settle(std::map<debt_key, debt>::iterator at) {
  debt over = std::move(at->second);
  debt_key const key = at->first;
  debts_.erase(at);
  if (over.left > 0) {
    for (task_id const task : over.to) {
      memory_->subtract(claim_bytes * claims_.erase({task, over.of->id, key}));
    }
    if (over.outcome) remembered_ -= over.left;
  }
  forget_outcome(over);
  --over.of->debts;
  rest(*over.of);
}

// Beyond the limit the oldest outcomes are discarded; their existence is remembered for the same
// number again, so that the straggler gets ABORTED instead of waiting in a new round.
void barriers::shrink_debts() {
  std::size_t const bytes_max = std::max(memory_->owned_max() / 8, owed_bytes_min);
  while (remembered_ > owed_max_ || remembered_bytes_ > bytes_max) {
    auto const at = debts_.lower_bound(first_remembered_);
    first_remembered_ = at->first + 1;
    remembered_ -= at->second.left;
    forget_outcome(at->second);
  }
  while (claims_.size() - remembered_ > owed_max_) settle(debts_.begin());
}

void barriers::forget_outcome(debt& of) {
  if (!of.outcome) return;
  let_go(holder::core, *of.outcome, *memory_);
  remembered_bytes_ -= of.bytes;
  of.outcome = nullptr;
}

// An idle name without owed outcomes is only kept as one of the last `idle_max_` ones.
void barriers::rest(barrier& b) {
  if (b.round.is_open() || b.debts > 0) return;
  b.is_idle = true;
  b.idle = idle_.insert(idle_.end(), &b.name);
  memory_->subtract(b.bytes);
  idle_bytes_ += b.bytes;
  while (idle_.size() > idle_max_ || idle_bytes_ > idle_bytes_max) forget_oldest_idle();
}

void barriers::forget_oldest_idle() {
  auto const oldest = by_name_.find(*idle_.front());
  idle_.pop_front();
  idle_bytes_ -= oldest->second.bytes;
  if (found_last_ == &oldest->second) found_last_ = nullptr;
  by_name_.erase(oldest);
}

}  // namespace coxswain::core
