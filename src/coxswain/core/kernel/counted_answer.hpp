#pragma once
// What answers count as memory while somebody holds them: the core those that it may have to send
// again, an outbox those that wait to be encoded. Not here: what they are encoded to
// (server/encoder).

#include "coxswain/core/model/messages.hpp"

#include <cstddef>

namespace coxswain::core {

// What an answer holds beside itself and values: keys, tasks, texts.
[[nodiscard]] std::size_t bytes_of(listing_answer const& what);
[[nodiscard]] std::size_t bytes_of(key_changes_answer const& what);
[[nodiscard]] std::size_t bytes_of(snapshot const& what);
[[nodiscard]] std::size_t bytes_of(tasks_answer const& what);
[[nodiscard]] std::size_t bytes_of(events_answer const& what);
[[nodiscard]] std::size_t bytes_of(why_answer const& what);
[[nodiscard]] std::size_t bytes_of(barrier_failure const& what);

// One holder of the answer, and of the values in it, more or less. All are counted once, however
// many hold them.
void hold_first(holder who, answer const& what, memory_meter& memory);
void let_go_last(holder who, answer const& what, memory_meter& memory);

inline void hold(holder who, answer const& what, memory_meter& memory) {
  if (what.held.of(who) == 0) return hold_first(who, what, memory);
  what.held.add(who, 0, &memory);
}
inline void let_go(holder who, answer const& what, memory_meter& memory) {
  if (what.held.of(who) == 1) return let_go_last(who, what, memory);
  what.held.remove(who, 0, &memory);
}

}  // namespace coxswain::core
