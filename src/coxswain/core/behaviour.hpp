#pragma once
// The number of the core's behaviour. Coordinators with the same number make the same decisions
// from the same inputs, so one can replay the inputs of the other. Raise it with every change of
// decisions; the test of the golden recordings fails without it (tests/server/golden).

#include <cstdint>

namespace coxswain::core {

inline constexpr std::uint32_t behaviour = 10;

// The oldest behaviour whose programs can read the snapshots of this one.
inline constexpr std::uint32_t behaviour_reading = 10;

}  // namespace coxswain::core
