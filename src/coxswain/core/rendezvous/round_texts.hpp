#pragma once
// Texts about the rounds of barriers.

#include "coxswain/base/ids.hpp"
#include "coxswain/base/status.hpp"
#include "coxswain/core/rendezvous/barriers.hpp"
#include "coxswain/core/rendezvous/meeting.hpp"

#include <string>

namespace coxswain::core {

// "Barrier 'step' round 3".
[[nodiscard]] std::string round_text(barriers::barrier const& b);

// INVALID_ARGUMENT: the caller of an open round and the tasks that wait there do not agree; the
// text has both sides of each difference.
[[nodiscard]] status mismatch(barriers::barrier const& b, task_id caller, round_kind const& kind,
                              task_set const& named);

}  // namespace coxswain::core
