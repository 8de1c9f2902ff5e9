#pragma once
// Reports violations in a random world: a test continues, a fuzzer stops.

#include <sstream>
#include <string>

namespace coxswain::test {

// Defined by the program: violation_to_boost.cpp or targets/violation_to_fuzzer.cpp.
void violation(std::string const& text);

// Reports the concatenated parts.
template <class... Parts>
void report_violation(Parts const&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  violation(text.str());
}

}  // namespace coxswain::test
