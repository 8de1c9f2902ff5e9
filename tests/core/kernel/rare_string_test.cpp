#include "coxswain/core/kernel/rare_string.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>

namespace coxswain::core {
namespace {

BOOST_AUTO_TEST_SUITE(rare_string_test)

BOOST_AUTO_TEST_CASE(an_empty_rare_string_is_pointer_sized) {
  rare_string const none;
  rare_string const empty{std::string{}};

  BOOST_TEST(sizeof(rare_string) == sizeof(void*));
  BOOST_TEST(none.empty());
  BOOST_TEST(empty.empty());
  BOOST_TEST(empty.get() == "");
  BOOST_TEST(empty.cost() == 0u);
}

BOOST_AUTO_TEST_CASE(a_text_is_kept_unchanged_and_counted) {
  rare_string first{std::string(100, 'x')};
  rare_string const second{std::move(first)};

  BOOST_TEST(!second.empty());
  BOOST_TEST(second.get() == std::string(100, 'x'));
  BOOST_TEST(second.cost() > 100u);
}

BOOST_AUTO_TEST_CASE(copies_share_a_text_that_outlives_the_first) {
  rare_string first{std::string(100, 'x')};
  rare_string const second{first};

  BOOST_TEST(&first.get() == &second.get());
  first = {};
  BOOST_TEST(first.empty());
  BOOST_TEST(second.get() == std::string(100, 'x'));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::core
