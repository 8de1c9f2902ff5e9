#include "coxswain/core/kernel/shares.hpp"

#include <string>

namespace coxswain::core {
namespace {

// As one part in this many of the core's memory.
constexpr std::size_t part_of_task = 4;
constexpr std::size_t part_of_observer = 32;
constexpr std::size_t part_of_observers = 8;

bool acts_for_tasks(share const& of) { return of.kind == share_kind::task; }

std::string limit_text(std::size_t limit, std::size_t part, memory_meter const& memory) {
  return std::to_string(limit) +
         " bytes in waiting calls, unacknowledged replies and open rounds, "
         "1/" +
         std::to_string(part) + " of the core's part of memory_bytes_max (" +
         std::to_string(memory.limit()) + ")";
}

}  // namespace

status shares::own_room(share const& of, std::size_t more, memory_meter const& memory) {
  std::size_t const part = acts_for_tasks(of) ? part_of_task : part_of_observer;
  std::size_t const limit = memory.owned_max() / part;
  if (of.held == 0 || of.held + more <= limit) return {};
  return {errc::resource_exhausted,
          std::string{acts_for_tasks(of) ? "a session with tasks" : "a session without a task"} +
              " may hold " + limit_text(limit, part, memory) + "; this one holds " +
              std::to_string(of.held) + ": wait for replies first"};
}

status shares::common_room(share const& of, std::size_t more, memory_meter const& memory) const {
  if (acts_for_tasks(of)) return {};
  std::size_t const limit = memory.owned_max() / part_of_observers;
  std::size_t const held = held_by(of.kind);
  if (held == 0 || held + more <= limit) return {};
  return {
      errc::resource_exhausted,
      std::string{of.kind == share_kind::reader ? "all readers" : "all sessions without a task"} +
          " together may hold " + limit_text(limit, part_of_observers, memory) + "; they hold " +
          std::to_string(held) + ": let fewer of them wait at a time, or raise the limit"};
}

}  // namespace coxswain::core
