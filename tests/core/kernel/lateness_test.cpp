#include "coxswain/core/kernel/lateness.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::core {
namespace {

BOOST_AUTO_TEST_SUITE(lateness_test)

BOOST_AUTO_TEST_CASE(without_answers_the_lateness_is_zero) {
  lateness l;

  BOOST_TEST(l.answered() == 0u);
  BOOST_TEST((l.p99() == 0ns));
  BOOST_TEST((l.max() == 0ns));
}

BOOST_AUTO_TEST_CASE(the_percentile_of_one_answer_is_that_answer) {
  lateness l;
  l.record(3ms);

  BOOST_TEST((l.p99() == 3ms));
  BOOST_TEST((l.max() == 3ms));
}

BOOST_AUTO_TEST_CASE(the_percentile_excludes_the_worst_one_percent) {
  lateness l;
  for (int i = 1; i <= 100; ++i) l.record(std::chrono::milliseconds{i});

  BOOST_TEST((l.p99() == 99ms));
  BOOST_TEST((l.max() == 100ms));
}

BOOST_AUTO_TEST_CASE(the_percentile_covers_the_last_4096_and_the_maximum_all) {
  lateness l;
  l.record(10s);
  for (int i = 0; i < 4095; ++i) l.record(1ms);
  BOOST_TEST((l.p99() == 1ms));

  for (int i = 0; i < 4096; ++i) l.record(2ms);

  BOOST_TEST((l.p99() == 2ms));
  BOOST_TEST((l.max() == 10s));
  BOOST_TEST(l.answered() == 1u + 4095u + 4096u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::core
