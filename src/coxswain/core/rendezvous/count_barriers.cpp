#include "coxswain/core/rendezvous/count_barriers.hpp"

#include "coxswain/core/model/reasons.hpp"

namespace coxswain::core {

result<count_barriers::arrival_number> count_barriers::arrive(time_point now,
                                                              std::string const& name,
                                                              std::uint32_t count, ticket who) {
  if (count == 0) return fail<&reasons::count_is_zero>();
  auto const [at, is_first] = by_name_.try_emplace(name);
  waiting& w = at->second;
  if (is_first) {
    w.count = count;
    w.opened = now;
    auto const idle_name = idle_.find(name);
    if (idle_name != idle_.end()) {
      w.number = idle_name->second.last;
      by_age_.erase(idle_name->second.since);
      idle_.erase(idle_name);
    }
    ++w.number.value;
  } else if (w.count != count) {
    return fail<&reasons::other_count>(name, w.count, count);
  }
  w.arrived.emplace(++arrival_, who);
  return arrival_;
}

count_barriers::released count_barriers::take_complete(std::string const& name) {
  released out;
  auto const at = by_name_.find(name);
  if (at == by_name_.end() || at->second.arrived.size() < at->second.count) return out;
  out.number = at->second.number;
  for (auto const& [_, who] : at->second.arrived) out.tickets.push_back(who);
  by_name_.erase(at);
  remember(name, out.number);
  return out;
}

void count_barriers::cancel(std::string const& name, arrival_number number) {
  auto const at = by_name_.find(name);
  if (at == by_name_.end()) return;
  at->second.arrived.erase(number);
  if (!at->second.arrived.empty()) return;
  round_number const last{at->second.number.value - 1};
  by_name_.erase(at);
  if (last.value > 0) remember(name, last);
}

void count_barriers::remember(std::string const& name, round_number last) {
  if (idle_max_ == 0) return;
  if (idle_.size() >= idle_max_) {
    idle_.erase(by_age_.begin()->second);
    by_age_.erase(by_age_.begin());
  }
  auto const at = idle_.insert_or_assign(name, idle{last, ++sequence_}).first;
  by_age_.emplace(sequence_, at);
}

}  // namespace coxswain::core
