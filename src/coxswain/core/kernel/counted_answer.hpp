#pragma once
// The memory that answers count for while held: by the core, if it may have to send them again; by
// an outbox, until they are encoded. Not here: their encoding (server/encoder).

#include "coxswain/core/model/messages.hpp"

#include <cstddef>

namespace coxswain::core {

// The memory of an answer beside the values in it.
[[nodiscard]] std::size_t bytes_of(answer const& what);

// Adds or removes one holder of the answer and of the values in it. Each is counted once,
// regardless of the number of holders.
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
