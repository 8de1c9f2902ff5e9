// Hostile clients request as much work as they can: it does not delay the job beside them.

#include "tests/hostile/undisturbed.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace coxswain::hostile {

BOOST_AUTO_TEST_SUITE(work)

BOOST_AUTO_TEST_CASE(a_flood_of_requests_does_not_delay_others) {
  coordinator_process coordinator{job_tasks};
  attacker reader;
  reader.next = [](std::uint64_t n) { return numbered(n, core::try_get_args{"no such key"}); };

  expect_undisturbed(coordinator, {reader}, 2s);
}

// 263 KB of such requests once delayed barriers by 363 s.
BOOST_AUTO_TEST_CASE(counting_many_keys_does_not_delay_others) {
  coordinator_process coordinator{job_tasks};
  put_keys(coordinator.address(), "d", 200'000);
  attacker reader;
  reader.next = [](std::uint64_t n) { return numbered(n, core::count_keys_args{"d"}); };

  expect_undisturbed(coordinator, {reader}, 2s);
}

// All requests whose cost grows with keys, tasks or waits.
std::vector<core::request> expensive_requests() {
  std::vector<std::string> present;
  for (int i = 0; i < 1'023; ++i) present.push_back("d/" + std::to_string(i));
  auto missing = present;
  missing.push_back("missing");
  return {
      core::count_keys_args{"d"},
      core::list_args{"d"},
      core::list_args{"d/1"},
      core::get_all_args{present},
      core::inspect_args{},
      core::why_args{},
      core::watch_tasks_args{},
      core::watch_events_args{},
      core::try_get_args{"d/7"},
      core::get_args{"missing", 1s},
      core::get_all_args{missing, 1s},
      core::watch_keys_args{"d", 49'000, 1s},
      core::watch_keys_args{"other", 1'000, 1s},
  };
}

void put_some(coordinator_process const& coordinator) {
  put_keys(coordinator.address(), "d", 50'000, std::string(100, 'v'));
}

// Ten readers, each with a different request.
BOOST_AUTO_TEST_CASE(mixed_requests_of_ten_readers_do_not_delay_others) {
  coordinator_process coordinator{job_tasks};
  put_some(coordinator);
  std::vector<attacker> readers(10);
  for (std::size_t i = 0; i < readers.size(); ++i) {
    readers[i].next = [i, requests = expensive_requests()](std::uint64_t n) {
      return numbered(n, requests[(n / 64 + i) % requests.size()]);
    };
  }

  expect_undisturbed(coordinator, readers, 4s);
}

// Each request by ten readers.
BOOST_AUTO_TEST_CASE(no_single_request_of_ten_readers_delays_others,
                     *boost::unit_test::label("long") * boost::unit_test::disabled()) {
  for (auto const& request : expensive_requests()) {
    BOOST_TEST_CONTEXT("request " << request.index()) {
      coordinator_process coordinator{job_tasks};
      put_some(coordinator);
      attacker one;
      one.next = [&request](std::uint64_t n) { return numbered(n, request); };

      expect_undisturbed(coordinator, std::vector(10, one), 2s);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::hostile
