#include "coxswain/base/sync_points.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::test {
namespace {

using answer = std::optional<bool>;

BOOST_AUTO_TEST_SUITE(sync_points_test)

BOOST_AUTO_TEST_CASE(without_an_agreement_no_task_stops) {
  sync_points p;
  for (std::uint64_t step = 0; step < 3; ++step) BOOST_TEST((p.reached(step) == answer{false}));
}

BOOST_AUTO_TEST_CASE(the_first_step_at_or_past_the_point_stops_once) {
  for (std::uint64_t const arrives_at : {5u, 6u, 100u}) {
    sync_points p;
    (void)p.reached(3);
    BOOST_TEST((p.freeze(1) == 3u));
    p.agreed(1, 5);
    BOOST_TEST((p.reached(4) == answer{false}));
    BOOST_TEST((p.reached(arrives_at) == answer{true}));
    BOOST_TEST((p.reached(arrives_at) == answer{false}));
    BOOST_TEST((p.reached(arrives_at + 1) == answer{false}));
  }
}

BOOST_AUTO_TEST_CASE(a_larger_step_waits_for_the_agreement_and_the_reported_one_does_not) {
  sync_points p;
  (void)p.reached(3);
  (void)p.freeze(1);
  BOOST_TEST((p.reached(3) == answer{false}));
  BOOST_TEST((p.reached(4) == std::nullopt));

  p.agreed(1, 4);
  BOOST_TEST((p.reached(4) == answer{true}));
}

BOOST_AUTO_TEST_CASE(a_failed_agreement_stops_no_task) {
  sync_points p;
  (void)p.freeze(1);
  p.agreed(1, std::nullopt);
  BOOST_TEST((p.reached(100) == answer{false}));
}

BOOST_AUTO_TEST_CASE(an_agreement_ends_with_its_epoch) {
  for (bool const has_ended : {false, true}) {
    sync_points p;
    (void)p.reached(3);
    (void)p.freeze(1);
    if (has_ended) p.agreed(1, 5);
    p.end_epoch();
    BOOST_TEST((p.reached(5) == answer{false}));
    BOOST_TEST((p.freeze(2) == 5u));
  }
}

BOOST_AUTO_TEST_CASE(an_agreement_is_reported_once_and_a_later_one_anew) {
  sync_points p;
  BOOST_TEST((p.freeze(2) == 0u));
  BOOST_TEST(!p.freeze(2));
  BOOST_TEST(!p.freeze(1));
  p.agreed(2, 1);
  BOOST_TEST((p.reached(1) == answer{true}));
  BOOST_TEST((p.freeze(3) == 1u));
  p.agreed(2, 9);  // a late push of an old agreement
  BOOST_TEST((p.reached(2) == std::nullopt));
}

BOOST_AUTO_TEST_CASE(one_stop_serves_all_points_that_were_passed) {
  sync_points p;
  (void)p.freeze(1);
  p.agreed(1, 5);
  (void)p.freeze(2);
  p.agreed(2, 6);
  BOOST_TEST((p.reached(7) == answer{true}));
  BOOST_TEST((p.reached(8) == answer{false}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
