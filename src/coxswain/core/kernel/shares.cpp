#include "coxswain/core/kernel/shares.hpp"

#include "coxswain/core/model/reasons.hpp"

namespace coxswain::core {
namespace {

// As one part in this many of the core's memory.
constexpr std::size_t part_of_task = 4;
constexpr std::size_t part_of_observer = 32;
constexpr std::size_t part_of_observers = 8;

bool acts_for_tasks(share const& of) { return of.kind == share_kind::task; }

}  // namespace

status shares::own_room(share const& of, std::size_t more, memory_meter const& memory) {
  std::size_t const part = acts_for_tasks(of) ? part_of_task : part_of_observer;
  std::size_t const limit = memory.owned_max() / part;
  if (of.held == 0 || of.held + more <= limit) return {};
  return fail<&reasons::own_share_used_up>(
      acts_for_tasks(of) ? "a session with tasks" : "a session without a task", limit, part,
      memory.limit(), of.held);
}

status shares::common_room(share const& of, std::size_t more, memory_meter const& memory) const {
  if (acts_for_tasks(of)) return {};
  std::size_t const limit = memory.owned_max() / part_of_observers;
  std::size_t const held = held_by(of.kind);
  if (held == 0 || held + more <= limit) return {};
  return fail<&reasons::common_share_used_up>(
      of.kind == share_kind::reader ? "all readers" : "all sessions without a task", limit,
      part_of_observers, memory.limit(), held);
}

}  // namespace coxswain::core
