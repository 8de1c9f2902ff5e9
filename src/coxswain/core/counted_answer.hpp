#pragma once
// Answers that are as large as the job is, counted as used memory while they live: a reply that
// waits for its turn is not encoded yet. Not here: the values in them, which count themselves, and
// what they are encoded to (server/encoder).

#include "coxswain/core/messages.hpp"

#include <cstddef>
#include <memory>

namespace coxswain::core {

// What an answer holds beside itself and values: keys, tasks, texts.
[[nodiscard]] std::size_t bytes_of(listing_answer const& what);
[[nodiscard]] std::size_t bytes_of(key_changes_answer const& what);
[[nodiscard]] std::size_t bytes_of(snapshot const& what);
[[nodiscard]] std::size_t bytes_of(tasks_answer const& what);
[[nodiscard]] std::size_t bytes_of(events_answer const& what);
[[nodiscard]] std::size_t bytes_of(why_answer const& what);

// Counted by `memory` with so many bytes until the last reference is gone.
[[nodiscard]] answer_ptr counted(answer what, std::size_t size,
                                 std::shared_ptr<memory_meter> const& memory);

}  // namespace coxswain::core
