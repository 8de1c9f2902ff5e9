#pragma once
// Invariants checked in every kind of build: for check_invariants() in tests and the simulation,
// which must not pass because assertions were compiled out.

#include <cstdio>
#include <cstdlib>

namespace coxswain {

// Prints `what` and aborts.
inline void invariant(bool holds, char const* what) {
  if (holds) return;
  std::fprintf(stderr, "broken invariant: %s\n", what);
  std::abort();
}

}  // namespace coxswain
