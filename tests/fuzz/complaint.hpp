#pragma once
// What does not hold in a random world is told to whoever runs it: a test, which goes on, or a
// fuzzer, which stops.

#include <sstream>
#include <string>

namespace coxswain::test {

// Defined by the program: complaint_to_boost.cpp or targets/complaint_to_fuzzer.cpp.
void complaint(std::string const& text);

// Tells the parts, one after the other.
template <class... Parts>
void complain(Parts const&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  complaint(text.str());
}

}  // namespace coxswain::test
