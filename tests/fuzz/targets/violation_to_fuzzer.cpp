#include "tests/fuzz/violation.hpp"

#include <cstdio>
#include <cstdlib>

namespace coxswain::test {

void violation(std::string const& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  std::abort();
}

}  // namespace coxswain::test
