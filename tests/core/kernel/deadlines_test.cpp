#include "coxswain/core/kernel/deadlines.hpp"

#include <boost/test/unit_test.hpp>

#include <map>
#include <random>
#include <vector>

namespace coxswain::core {
namespace {

constexpr time_point start{1h};

due_item item(duration after, std::uint64_t subject) { return {start + after, due::call, subject}; }

BOOST_AUTO_TEST_SUITE(deadlines_test)

BOOST_AUTO_TEST_CASE(a_deadline_is_due_at_its_time_and_not_before) {
  deadlines d;
  alarm a;
  d.arm(a, item(1s, 7));

  BOOST_TEST(!d.due_at(start + 1s - 1ns).has_value());
  BOOST_TEST_REQUIRE(d.due_at(start + 1s).has_value());
  BOOST_TEST(d.due_at(start + 1s)->subject == 7u);
  BOOST_TEST(d.due_at(start + 1s + 1ns)->subject == 7u);
}

BOOST_AUTO_TEST_CASE(a_due_deadline_stays_armed_until_it_is_disarmed) {
  deadlines d;
  alarm a;
  d.arm(a, item(1s, 7));

  static_cast<void>(d.due_at(start + 2s));
  BOOST_TEST(a.armed());
  BOOST_TEST(d.size() == 1u);
  d.disarm(a);

  BOOST_TEST(!a.armed());
  BOOST_TEST(!d.due_at(start + 2s).has_value());
}

BOOST_AUTO_TEST_CASE(a_slot_is_reused_by_another_alarm) {
  deadlines d;
  alarm a;
  alarm b;
  d.arm(a, item(1s, 1));
  d.disarm(a);
  d.arm(b, item(2s, 2));

  d.disarm(a);

  BOOST_TEST(b.armed());
  BOOST_TEST(d.due_at(start + 2s)->subject == 2u);
}

BOOST_AUTO_TEST_CASE(the_latest_time_point_is_not_due_early) {
  deadlines d;
  alarm a;
  d.arm(a, {time_point::max(), due::round, 1});

  BOOST_TEST(!d.due_at(time_point::max() - 1ns).has_value());
  BOOST_TEST((*d.next() == time_point::max()));
}

// Compares with a list that is searched linearly.
BOOST_AUTO_TEST_CASE(ten_thousand_random_steps_agree_with_a_sorted_list) {
  constexpr std::uint64_t seed = 1;
  BOOST_TEST_CONTEXT("seed " << seed) {
    std::mt19937_64 random{seed};
    deadlines d;
    std::vector<alarm> alarms(50);
    std::map<std::pair<time_point, std::uint64_t>, std::uint64_t> model;  // alarm time to subject
    std::vector<std::pair<time_point, std::uint64_t>> keys(50);
    std::uint64_t sequence = 0;
    for (int step = 0; step < 10'000; ++step) {
      auto const i = random() % 50;
      auto const when = start + std::chrono::milliseconds{random() % 20};
      if (random() % 3 != 0) {
        model.erase(keys[i]);
        keys[i] = {when, ++sequence};
        model.emplace(keys[i], i);
        d.arm(alarms[i], {when, due::call, i});
      } else {
        model.erase(keys[i]);
        d.disarm(alarms[i]);
      }
      BOOST_TEST_REQUIRE(d.size() == model.size());
      BOOST_TEST_REQUIRE(d.next().has_value() == !model.empty());
      if (model.empty()) continue;
      BOOST_TEST_REQUIRE((*d.next() == model.begin()->first.first));
      BOOST_TEST_REQUIRE(d.due_at(time_point::max())->subject == model.begin()->second);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::core
