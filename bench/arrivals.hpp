#pragma once
// When the requests of one volley are sent.

#include "coxswain/base/time.hpp"

#include <string>

namespace coxswain::bench {

struct arrivals {
  enum class pattern {
    together,  // as fast as can be: those of one session with one call
    ordered,   // each with a call of its own, in the order of the tasks, as fast as can be
    jittered,  // each at a random moment
  };
  pattern how{pattern::together};
  duration within{};  // jittered: all of them within so long a time

  // "together", "ordered", "jittered:5ms". Throws bench_error (usage).
  [[nodiscard]] static arrivals parse(std::string const& text);
};

}  // namespace coxswain::bench
