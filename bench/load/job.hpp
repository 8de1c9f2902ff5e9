#pragma once
// The send times of a load's tasks, and their join requests: shared by several workloads.

#include "coxswain/base/time.hpp"
#include "coxswain/core/model/messages.hpp"

#include <cstdint>

namespace coxswain::bench {

// When the requests of one volley are sent.
struct arrivals {
  enum class pattern {
    together,  // as fast as possible: those of one session with one call
    ordered,   // each with its own call, in task order, as fast as possible
    jittered,  // each at a random time
  };
  pattern how{pattern::together};
  duration within{};  // jittered: all of them within this time
};

[[nodiscard]] core::hello_args hello();

// As large as those of a coordinator with default options and this many tasks.
[[nodiscard]] core::answer hello_answer(std::uint32_t tasks);

[[nodiscard]] core::answer join_answer();

}  // namespace coxswain::bench
