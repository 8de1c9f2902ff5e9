#pragma once
// What a client says to begin and end its part in a job, and what it is answered.

#include "coxswain/core/messages.hpp"

#include <cstdint>

namespace coxswain::bench {

[[nodiscard]] core::hello_args hello();

// As large as those of a coordinator with default options and so many tasks.
[[nodiscard]] core::answer hello_answer(std::uint32_t tasks);

[[nodiscard]] core::answer join_answer();

}  // namespace coxswain::bench
