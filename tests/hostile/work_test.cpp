// Hostile clients ask for as much work as they can: no job beside them is held up by it.

#include "tests/hostile/undisturbed.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::hostile {

BOOST_AUTO_TEST_SUITE(work)

BOOST_AUTO_TEST_CASE(a_flood_of_requests_disturbs_nobody) {
  coordinator_process coordinator{job_tasks};
  attacker reader;
  reader.next = [](std::uint64_t n) { return numbered(n, core::try_get_args{"no such key"}); };

  expect_undisturbed(coordinator, {reader}, 2s);
}

// 263 KB of such requests once held up barriers for 363 s.
BOOST_AUTO_TEST_CASE(counting_many_keys_disturbs_nobody) {
  coordinator_process coordinator{job_tasks};
  put_keys(coordinator.address(), "d", 200'000);
  attacker reader;
  reader.next = [](std::uint64_t n) { return numbered(n, core::count_keys_args{"d"}); };

  expect_undisturbed(coordinator, {reader}, 2s);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::hostile
