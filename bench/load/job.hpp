#pragma once
// The hello and join of a load's tasks: shared by several workloads.

#include "coxswain/core/model/messages.hpp"

#include <cstdint>

namespace coxswain::bench {

[[nodiscard]] core::hello_args hello();

// As large as those of a coordinator with default options and this many tasks.
[[nodiscard]] core::answer hello_answer(std::uint32_t tasks);

[[nodiscard]] core::answer join_answer();

}  // namespace coxswain::bench
