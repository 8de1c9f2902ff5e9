#pragma once
// The ranges of a HelloReply's values, besides sizes, which `message_bytes_max` bounds. A client
// refuses larger values, and a server's options stay within them.

#include "coxswain/base/time.hpp"

#include <chrono>
#include <cstdint>

namespace coxswain::wire {

inline constexpr duration stated_time_max = std::chrono::hours{30 * 24};
inline constexpr std::uint32_t stated_tasks_max = 1 << 24;

}  // namespace coxswain::wire
