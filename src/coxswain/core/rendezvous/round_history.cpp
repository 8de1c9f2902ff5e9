#include "coxswain/core/rendezvous/round_history.hpp"

#include "coxswain/core/kernel/text.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace coxswain::core {

void round_history::add(std::string_view name, snapshot::finished_round round) {
  auto const at = static_cast<std::size_t>(added_ % rounds_max);
  if (at == last_.size()) last_.emplace_back();
  // Reuses the memory of the previous name.
  round.name = std::move(last_[at].name);
  if (name.size() <= name_bytes_max) {
    round.name.assign(name);
  } else {
    round.name = shortened(name, name_bytes_max);
  }
  round.number = ++added_;
  last_[at] = std::move(round);
}

std::vector<snapshot::finished_round> round_history::all() const {
  auto const oldest = last_.begin() + static_cast<std::ptrdiff_t>(
                                          last_.size() < rounds_max ? 0 : added_ % rounds_max);
  std::vector<snapshot::finished_round> rounds;
  rounds.reserve(last_.size());
  rounds.insert(rounds.end(), oldest, last_.end());
  rounds.insert(rounds.end(), last_.begin(), oldest);
  return rounds;
}

std::vector<snapshot::straggler> round_history::stragglers() const {
  std::map<task_id, snapshot::straggler> by_task;
  std::uint32_t looked_at = 0;
  for (auto const& round : last_) {
    if (!round.last_task) continue;
    ++looked_at;
    snapshot::straggler& straggler = by_task[*round.last_task];
    straggler.task = *round.last_task;
    ++straggler.times_last;
    straggler.lag_mean += round.lag;  // divided below
    straggler.lag_max = std::max(straggler.lag_max, round.lag);
  }
  std::vector<snapshot::straggler> found;
  for (auto& [_, straggler] : by_task) {
    straggler.lag_mean /= straggler.times_last;
    straggler.of = looked_at;
    found.push_back(straggler);
  }
  std::stable_sort(found.begin(), found.end(), [](auto const& a, auto const& b) {
    return std::pair{a.times_last, a.lag_mean} > std::pair{b.times_last, b.lag_mean};
  });
  if (found.size() > stragglers_max) found.resize(stragglers_max);
  return found;
}

}  // namespace coxswain::core
