#include "coxswain/base/fifo.hpp"

#include <boost/test/unit_test.hpp>

#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace coxswain {
namespace {

template <class T>
void expect(fifo<T> const& all, std::vector<T> const& expected) {
  std::vector<T> const found{all.begin(), all.end()};
  BOOST_TEST(found == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE(fifo_test)

BOOST_AUTO_TEST_CASE(elements_leave_in_insertion_order) {
  fifo<std::string> all;
  BOOST_TEST(all.empty());
  for (char const* const one : {"a", "b", "c"}) all.push_back(one);

  BOOST_TEST(all.size() == 3u);
  BOOST_TEST(all.front() == "a");
  BOOST_TEST(all.back() == "c");
  all.pop_front();

  BOOST_TEST(all.front() == "b");
  expect(all, {"b", "c"});
}

BOOST_AUTO_TEST_CASE(a_popped_element_is_destroyed_at_once) {
  fifo<std::shared_ptr<int>> all;
  auto const one = std::make_shared<int>(1);
  all.push_back(std::shared_ptr<int>{one});
  for (int i = 0; i < 10; ++i) all.push_back(std::make_shared<int>(i));

  all.pop_front();

  BOOST_TEST(one.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(elements_can_be_removed_from_the_middle) {
  fifo<int> all;
  for (int i = 0; i < 6; ++i) all.push_back(int{i});
  all.pop_front();

  all.erase_if([](int i) { return i % 2 == 0; });

  expect(all, {1, 3, 5});
}

BOOST_AUTO_TEST_CASE(random_operations_match_a_deque) {
  std::mt19937 random{3};
  fifo<int> all;
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
