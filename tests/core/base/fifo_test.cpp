#include "coxswain/base/fifo.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <random>
#include <tuple>
#include <type_traits>
#include <vector>

namespace coxswain {
namespace {

// How many elements have room inside.
using insides =
    std::tuple<std::integral_constant<std::size_t, 0>, std::integral_constant<std::size_t, 1>>;

template <class T, std::size_t Inside>
void expect(fifo<T, Inside> const& all, std::vector<T> const& expected) {
  std::vector<T> const found{all.begin(), all.end()};
  BOOST_TEST(found == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE(fifo_test)

BOOST_AUTO_TEST_CASE_TEMPLATE(a_popped_element_is_destroyed_at_once, inside, insides) {
  fifo<std::shared_ptr<int>, inside::value> all;
  auto const one = std::make_shared<int>(1);
  all.push_back(std::shared_ptr<int>{one});
  for (int i = 0; i < 10; ++i) all.push_back(std::make_shared<int>(i));

  all.pop_front();

  BOOST_TEST(one.use_count() == 1);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(elements_can_be_removed_from_the_middle, inside, insides) {
  fifo<int, inside::value> all;
  for (int i = 0; i < 6; ++i) all.push_back(int{i});
  all.pop_front();

  all.erase_if([](int i) { return i % 2 == 0; });

  expect(all, {1, 3, 5});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(random_operations_match_a_deque, inside, insides) {
  std::mt19937 random{3};
  fifo<int, inside::value> all;
  std::deque<int> model;
  for (int step = 0; step < 10'000; ++step) {
    if (random() % 100 < (step / 1000 % 2 == 0 ? 60u : 40u)) {
      all.push_back(int{step});
      model.push_back(step);
    } else if (!model.empty()) {
      BOOST_TEST_REQUIRE(all.front() == model.front());
      all.pop_front();
      model.pop_front();
    }
    BOOST_TEST_REQUIRE(all.size() == model.size());
  }
  expect(all, {model.begin(), model.end()});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain
