#pragma once
// When the tasks of a load send, and the requests with which they join a job: shared by several
// workloads.

#include "coxswain/base/time.hpp"
#include "coxswain/core/model/messages.hpp"

#include <cstdint>

namespace coxswain::bench {

// When the requests of one volley are sent.
struct arrivals {
  enum class pattern {
    together,  // as fast as can be: those of one session with one call
    ordered,   // each with a call of its own, in the order of the tasks, as fast as can be
    jittered,  // each at a random moment
  };
  pattern how{pattern::together};
  duration within{};  // jittered: all of them within this time
};

[[nodiscard]] core::hello_args hello();

// As large as those of a coordinator with default options and this many tasks.
[[nodiscard]] core::answer hello_answer(std::uint32_t tasks);

[[nodiscard]] core::answer join_answer();

}  // namespace coxswain::bench
