#include "coxswain/core/kernel/origin.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::core {
namespace {

BOOST_AUTO_TEST_SUITE(origin_test)

BOOST_AUTO_TEST_CASE(an_empty_origin_has_no_label_and_no_address) {
  origin const nobody;

  BOOST_TEST(nobody.label() == "");
  BOOST_TEST(nobody.peer() == "");
}

BOOST_AUTO_TEST_CASE(copies_share_their_strings) {
  origin const one{"host:1", "127.0.0.1:40000"};
  origin const other = one;

  BOOST_TEST(other.label() == "host:1");
  BOOST_TEST(other.peer() == "127.0.0.1:40000");
  BOOST_TEST(&one.label() == &other.label());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::core
