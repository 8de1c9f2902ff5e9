#include "tests/fuzz/complaint.hpp"

#include <cstdio>
#include <cstdlib>

namespace coxswain::test {

void complaint(std::string const& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  std::abort();
}

}  // namespace coxswain::test
