#pragma once
// What a HelloReply may state, beside sizes, which `message_bytes_max` bounds. A client refuses
// what is more, and a server's options keep to it.

#include "coxswain/base/time.hpp"

#include <chrono>
#include <cstdint>

namespace coxswain::wire {

inline constexpr duration stated_time_max = std::chrono::hours{30 * 24};
inline constexpr std::uint32_t stated_tasks_max = 1 << 24;

}  // namespace coxswain::wire
