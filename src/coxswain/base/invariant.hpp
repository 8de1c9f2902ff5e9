#pragma once
// What must always hold, checked in every kind of build: for the check_invariants() of the tests
// and the simulation, which must not pass because assertions were compiled out.

#include <cstdio>
#include <cstdlib>

namespace coxswain {

// Ends the program, saying `what` does not hold.
inline void invariant(bool holds, char const* what) {
  if (holds) return;
  std::fprintf(stderr, "broken invariant: %s\n", what);
  std::abort();
}

}  // namespace coxswain
