// The state of meetings of tasks in a snapshot.

#include "coxswain/core/concerns.hpp"
#include "coxswain/core/snapshot/fields_of_meetings.hpp"
#include "coxswain/core/snapshot/state_reader.hpp"
#include "coxswain/core/snapshot/state_writer.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace coxswain::core {

void fields(auto& a, maybe_const<round_kind> auto& x) {
  a.members(x.gather, x.reduce, x.fail_when_lost);
}

void barriers::barrier::fields(auto& a, auto& s) {
  a.members(s.id, s.name, s.round, s.sequence, s.number, s.passed, s.kind, s.operand_bytes,
            s.opener, s.last_expected);
}

void debt_fields(auto& a, auto& key, auto& of, auto& d) {
  a.item(7, [&] { a.members(key, of, d.number, d.outcome, d.to, d.bytes); });
}

// Names are in the order in which they were first used.
void barriers::save(auto& a) const {
  std::vector<barrier const*> all;
  for (auto const& [_, b] : by_name_) all.push_back(&b);
  std::sort(all.begin(), all.end(),
            [](barrier const* x, barrier const* y) { return y->id > x->id; });
  for (barrier const* const b : all) a(5, *b);
  for (std::string const* const name : idle_) a(6, find(*name)->id);
  for (auto const& [key, d] : debts_) debt_fields(a, key, d.of->id, d);
  for (claim const& c : claims_) a(8, c);
}

void barriers::load(auto& a) {
  while (a.is_next(5)) {
    barrier meeting;
    a(5, meeting);
    a.check(restore(std::move(meeting)), "two barriers have one name or round");
  }
  std::unordered_map<std::uint64_t, barrier*> by_id;
  for (auto& [_, b] : by_name_) by_id[b.id] = &b;
  auto const barrier_of = [&](std::uint64_t id) {
    auto const at = by_id.find(id);
    return at == by_id.end() ? nullptr : at->second;
  };
  while (a.is_next(6)) {
    std::uint64_t of{};
    a(6, of);
    a.check(restore_idle(barrier_of(of)), "an idle barrier is in use");
  }
  while (a.is_next(7)) {
    debt_key key{};
    std::uint64_t of{};
    debt owed;
    debt_fields(a, key, of, owed);
    owed.of = barrier_of(of);
    a.check(restore(key, std::move(owed)), "an outcome is owed by no barrier");
  }
  while (a.is_next(8)) {
    claim claimed{};
    a(8, claimed);
    a.check(restore(claimed), "a task is owed no outcome");
  }
}

void barriers::fields(auto& a, auto& s) {
  a.members(s.barriers_made_, s.debts_made_, s.sequence_, s.first_remembered_);
  if constexpr (is_loading<decltype(a)>) {
    s.load(a);
  } else {
    s.save(a);
  }
}

void fields(auto& a, maybe_const<alive_queries::query> auto& x) {
  a.members(x.number, x.members, x.called, x.looked_at);
}

void alive_queries::fields(auto& a, auto& s) {
  a(1, s.last_);
  if constexpr (is_loading<decltype(a)>) {
    while (a.is_next(2)) {
      query query;
      a(2, query);
      a.check(s.restore(std::move(query)), "two alive queries are the same");
    }
  } else {
    for (auto const& [_, query] : s.queries_) a(2, query);
  }
}

void topology_exchanges::exchange::fields(auto& a, auto& s) {
  a.members(s.waiting, s.brought, s.outcome, s.topology_bytes, s.meeting_bytes);
}

void topology_exchanges::fields(auto& a, auto& s) {
  a(1, s.all_);
  if constexpr (is_loading<decltype(a)>) {
    for (auto const& [_, exchange] : s.all_)
      s.memory_->add(exchange.topology_bytes + exchange.meeting_bytes);
  }
}

void fields(auto& a, maybe_const<count_barriers::waiting> auto& x) {
  a.members(x.count, x.number, x.opened, x.arrived);
}

void barrier_verbs::save(state_writer& to) const { fields(to, *this); }
void barrier_verbs::load(state_reader& from) {
  fields(from, *this);
  for (auto const& [_, b] : barriers_.open_rounds()) {
    session* const opener = sessions_.find(b->opener);
    if (opener) sessions_.hold(*opener, barriers::cost(b->name, b->round.expected()));
  }
}

void alive_verbs::save(state_writer& to) const { fields(to, *this); }
void alive_verbs::load(state_reader& from) { fields(from, *this); }

void topology_verbs::save(state_writer& to) const { fields(to, *this); }
void topology_verbs::load(state_reader& from) { fields(from, *this); }

void count_barrier_verbs::save(state_writer& to) const { fields(to, *this); }
void count_barrier_verbs::load(state_reader& from) { fields(from, *this); }

}  // namespace coxswain::core
