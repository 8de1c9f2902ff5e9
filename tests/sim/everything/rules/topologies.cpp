// All tasks get the same topology, in each epoch of an elastic job.

#include "tests/sim/everything/rules/epoch_stories.hpp"
#include "tests/sim/everything/rules/rules.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace coxswain::sim {
namespace {

// None if it is not known.
std::optional<std::size_t> size_of(history const& h, epoch_stories const& epochs,
                                   std::uint64_t epoch) {
  if (!h.options.elastic) return h.options.num_tasks;
  auto const at = epochs.find(epoch);
  if (at == epochs.end() || at->second.answered.empty()) return std::nullopt;
  return epoch_in(*at->second.answered.begin()->second)->size;
}

// It waits for all tasks.
void check_contributions(history const& h, call_record const& notice, violations& found) {
  auto const& args = *notice.asks<core::exchange_topology_args>();
  auto const tasks = static_cast<std::uint32_t>(notice.gave<core::global_topology>()->tasks.size());
  for (std::uint32_t i = 0; i < tasks; ++i) {
    bool const has_arrived = std::any_of(h.calls.begin(), h.calls.end(), [&](call_record const& c) {
      auto const* const other = c.asks<core::exchange_topology_args>();
      return other && c.task == task_id{i} && c.epoch == notice.epoch &&
             other->platform == args.platform && c.made <= *notice.answered;
    });
    if (has_arrived) continue;
    found.push_back("without the topology of task " + std::to_string(i) + ": " + h.text(notice));
  }
}

}  // namespace

void check_topologies(history const& h, violations& found) {
  epoch_stories const epochs{h};
  std::map<std::pair<std::uint64_t, std::string>, call_record const*> first;
  for (call_record const& c : h.calls) {
    auto const* const args = c.asks<core::exchange_topology_args>();
    auto const* const whole = c.gave<core::global_topology>();
    if (!args || !whole) continue;
    auto const [at, is_new] = first.try_emplace({c.epoch, args->platform}, &c);
    if (is_new) check_contributions(h, c, found);
    if (*whole != *at->second->gave<core::global_topology>()) {
      found.push_back("another topology than the others: " + h.text(c));
    }
    auto const size = size_of(h, epochs, c.epoch).value_or(whole->tasks.size());
    bool const has_mine = whole->tasks.size() == size && c.task->value < size &&
                          whole->tasks[c.task->value].boot_id == args->mine.boot_id;
    if (!has_mine) found.push_back("not the topology that was brought: " + h.text(c));
  }
}

}  // namespace coxswain::sim
