#include "tests/fuzz/violation.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::test {

void violation(std::string const& text) { BOOST_ERROR(text); }

}  // namespace coxswain::test
