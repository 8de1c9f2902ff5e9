#include "coxswain/core/observe/kept_answer.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>

namespace coxswain::core {
namespace {

struct maker {
  kept_answer kept;
  std::uint64_t steps{};
  int made{};

  answer_ptr ask(duration at, std::uint64_t cost) {
    return kept.at(time_point{at}, steps, [&] {
      ++made;
      steps += cost;
      return make_answer({});
    });
  }
};

BOOST_AUTO_TEST_SUITE(kept_answer_test)

BOOST_AUTO_TEST_CASE(a_cheap_answer_is_always_new) {
  maker m;

  BOOST_TEST(m.ask(0s, 256) != m.ask(0s, 256));
  BOOST_TEST(m.made == 2);
  BOOST_TEST(m.steps == 512u);
}

BOOST_AUTO_TEST_CASE(an_expensive_answer_is_shared_for_a_time_that_grows_with_its_cost) {
  maker m;
  auto const first = m.ask(1s, 1'000);

  BOOST_TEST(m.ask(1s + 10ms - 1ns, 1'000) == first);
  BOOST_TEST(m.made == 1);
  BOOST_TEST(m.steps == 1'125u);
  BOOST_TEST(m.ask(1s + 10ms, 1'000) != first);
  BOOST_TEST(m.made == 2);
}

BOOST_AUTO_TEST_CASE(an_answer_that_has_become_cheap_is_not_kept) {
  maker m;
  auto const first = m.ask(0s, 1'000);
  auto const second = m.ask(1s, 1);

  BOOST_TEST(second != first);
  BOOST_TEST(m.ask(1s, 1) != second);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::core
