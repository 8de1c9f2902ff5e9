#include "coxswain/core/kernel/seldom_text.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>

namespace coxswain::core {
namespace {

BOOST_AUTO_TEST_SUITE(seldom_text_test)

BOOST_AUTO_TEST_CASE(an_empty_one_costs_no_more_than_a_pointer) {
  seldom_text const none;
  seldom_text const empty{std::string{}};

  BOOST_TEST(sizeof(seldom_text) == sizeof(void*));
  BOOST_TEST(none.empty());
  BOOST_TEST(empty.empty());
  BOOST_TEST(empty.get() == "");
  BOOST_TEST(empty.cost() == 0u);
}

BOOST_AUTO_TEST_CASE(a_text_stays_as_it_is_and_is_counted) {
  seldom_text first{std::string(100, 'x')};
  seldom_text const second{std::move(first)};

  BOOST_TEST(!second.empty());
  BOOST_TEST(second.get() == std::string(100, 'x'));
  BOOST_TEST(second.cost() > 100u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::core
