#include "coxswain/server/admission/host_pace.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace coxswain::server {
namespace {

constexpr time_point t0{std::chrono::hours{1}};

BOOST_AUTO_TEST_SUITE(host_pace_test)

BOOST_AUTO_TEST_CASE(a_burst_of_a_tenth_of_a_second_is_allowed) {
  host_pace pace{100};

  for (int i = 0; i < 10; ++i) BOOST_TEST((pace.begin(t0, "a") == t0));

  BOOST_TEST((pace.begin(t0, "a") == t0 + 10ms));
  BOOST_TEST((pace.begin(t0 + 10ms - 1ns, "a") == t0 + 10ms));
  BOOST_TEST((pace.begin(t0 + 10ms, "a") == t0 + 10ms));
  BOOST_TEST((pace.begin(t0 + 10ms, "a") == t0 + 20ms));
}

BOOST_AUTO_TEST_CASE(refused_attempts_do_not_count) {
  host_pace pace{100};
  for (int i = 0; i < 1'000; ++i) static_cast<void>(pace.begin(t0, "a"));

  BOOST_TEST((pace.begin(t0 + 10ms, "a") == t0 + 10ms));
}

BOOST_AUTO_TEST_CASE(the_long_term_rate_is_the_limit) {
  host_pace pace{100};
  auto now = t0;

  for (int begun = 0; begun < 10'010;) {
    auto const when = pace.begin(now, "a");
    if (when == now) ++begun;
    now = when;
  }

  BOOST_TEST((now == t0 + 100s));
}

BOOST_AUTO_TEST_CASE(a_slow_host_never_waits) {
  host_pace pace{100};

  for (auto now = t0; now < t0 + 10s; now += 10ms) BOOST_TEST((pace.begin(now, "a") == now));
}

BOOST_AUTO_TEST_CASE(hosts_have_independent_limits) {
  host_pace pace{10};
  for (int i = 0; i < 100; ++i) static_cast<void>(pace.begin(t0, "a"));

  BOOST_TEST((pace.begin(t0, "b") == t0));
}

BOOST_AUTO_TEST_CASE(an_idle_host_may_burst_again) {
  host_pace pace{100};
  for (int i = 0; i < 11; ++i) static_cast<void>(pace.begin(t0, "a"));

  for (int i = 0; i < 10; ++i) BOOST_TEST((pace.begin(t0 + 1s, "a") == t0 + 1s));
  BOOST_TEST((pace.begin(t0 + 1s, "a") == t0 + 1010ms));
}

BOOST_AUTO_TEST_CASE(a_rate_below_ten_a_second_allows_one_at_once) {
  host_pace pace{1};

  BOOST_TEST((pace.begin(t0, "a") == t0));
  BOOST_TEST((pace.begin(t0, "a") == t0 + 1s));
}

BOOST_AUTO_TEST_CASE(idle_hosts_are_forgotten) {
  host_pace pace{100};
  auto now = t0;

  for (int i = 0; i < 100'000; ++i) static_cast<void>(pace.begin(now += 1ms, std::to_string(i)));

  BOOST_TEST(pace.hosts() < 2048u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::server
