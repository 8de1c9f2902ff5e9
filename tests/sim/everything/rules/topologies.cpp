// All tasks get the same topology.

#include "tests/sim/everything/rules/rules.hpp"

#include <map>

namespace coxswain::sim {

void check_topologies(history const& h, violations& found) {
  std::map<std::string, core::global_topology const*> first;
  for (call_record const& c : h.calls) {
    auto const* const args = c.asks<core::exchange_topology_args>();
    auto const* const whole = c.gave<core::global_topology>();
    if (!args || !whole) continue;
    auto const& other = *first.try_emplace(args->platform, whole).first->second;
    if (*whole != other) found.push_back("another topology than the others: " + h.text(c));
    bool const has_mine = whole->tasks.size() == h.options.num_tasks &&
                          whole->tasks[c.task->value].boot_id == args->mine.boot_id;
    if (!has_mine) found.push_back("not the topology that was brought: " + h.text(c));
  }
}

}  // namespace coxswain::sim
