#include "coxswain/base/boxed.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>
#include <variant>

namespace coxswain {
namespace {

BOOST_AUTO_TEST_SUITE(boxed_test)

BOOST_AUTO_TEST_CASE(a_copy_is_an_independent_value) {
  boxed<std::string> const first{"a"};
  boxed<std::string> second{first};
  second->push_back('b');

  BOOST_TEST(*first == "a");
  BOOST_TEST(*second == "ab");
  BOOST_TEST((first != second));
  second = first;
  BOOST_TEST((first == second));
}

BOOST_AUTO_TEST_CASE(a_moved_from_box_can_be_assigned_again) {
  boxed<std::string> first{"a"};
  boxed<std::string> const second{std::move(first)};
  first = boxed<std::string>{"b"};

  BOOST_TEST(*second == "a");
  BOOST_TEST(*first == "b");
}

BOOST_AUTO_TEST_CASE(a_boxed_alternative_takes_one_pointer_in_a_variant) {
  struct large {
    char text[1000]{};
  };
  std::variant<int, boxed<large>> one;
  one = large{"x"};

  BOOST_TEST(sizeof(one) == 2 * sizeof(void*));
  large const& value = std::get<boxed<large>>(one);
  BOOST_TEST(value.text[0] == 'x');
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain
