#include "tests/fuzz/complaint.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::test {

void complaint(std::string const& text) { BOOST_ERROR(text); }

}  // namespace coxswain::test
