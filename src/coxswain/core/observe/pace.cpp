#include "coxswain/core/observe/pace.hpp"

#include <algorithm>
#include <cstddef>

namespace coxswain::core {
namespace {

constexpr std::size_t rounds_min = 4;
constexpr std::size_t rounds_max = 16;

// After this long and three steps without a round, the pace is no longer that of the job.
constexpr duration silence_max = 10s;

// Newest first.
std::vector<snapshot::finished_round const*> newest(
    std::vector<snapshot::finished_round> const& rounds, std::string const* name) {
  std::vector<snapshot::finished_round const*> found;
  for (auto r = rounds.rbegin(); r != rounds.rend() && found.size() < rounds_max; ++r) {
    if (r->outcome == errc::ok && (!name || r->name == *name)) found.push_back(&*r);
  }
  return found;
}

}  // namespace

duration median(std::vector<duration> all) {
  auto const middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

std::optional<pace> pace_of(std::vector<snapshot::finished_round> const& rounds, duration uptime) {
  auto found = newest(rounds, nullptr);
  if (found.size() < rounds_min) return std::nullopt;
  auto same = newest(rounds, &found.front()->name);
  if (same.size() >= rounds_min) found = std::move(same);
  pace p;
  std::vector<duration> steps;
  for (std::size_t i = 0; i + 1 < found.size(); ++i) {
    steps.push_back(found[i]->at - found[i + 1]->at);
    if (found[i]->last_task) p.last.emplace_back(*found[i]->last_task, found[i]->lag);
  }
  p.step = median(std::move(steps));
  p.began = found.back()->at;
  if (p.step <= 0s || uptime - found.front()->at > silence_max + 3 * p.step) return std::nullopt;
  return p;
}

}  // namespace coxswain::core
