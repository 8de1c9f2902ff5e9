// Items under a lease: D27.

#include "tests/core/cluster.hpp"

namespace coxswain::test {
namespace {

using change = core::lease_change;

std::uint32_t redeliveries(cluster& c, call taken) {
  return c.body<core::value_answer>(taken)->redeliveries.value();
}

BOOST_AUTO_TEST_SUITE(coordinator_lease_test)

BOOST_FIXTURE_TEST_CASE(a_finished_item_is_gone, job<1>) {
  c.push(0, "q", "a");
  auto const item = c.take(0, "q");
  BOOST_TEST(c.value(item) == "a");
  BOOST_TEST(c.look().leased_items == 1u);
  BOOST_TEST(c.look().queued_items == 0u);

  BOOST_TEST(c.code(c.update_lease(0, item, change::finish)) == "OK");
  BOOST_TEST(c.look().leased_items == 0u);
  BOOST_TEST(c.at(2h).look().queued_items == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_lease_that_expires_returns_the_item_to_its_place, job<1>) {
  c.push(0, "q", "a");
  c.push(0, "q", "b");
  auto const first = c.take(0, "q", 10s);
  BOOST_TEST(redeliveries(c, first) == 0u);

  BOOST_TEST(c.at(10s - 1ns).look().queued_items == 1u);
  BOOST_TEST(c.at(10s).look().queued_items == 2u);
  auto const again = c.take(0, "q");
  BOOST_TEST(c.value(again) == "a");
  BOOST_TEST(redeliveries(c, again) == 1u);
  auto const late = c.update_lease(0, first, change::finish);
  BOOST_TEST(c.code(late) == "FAILED_PRECONDITION");
  expect_words(c.text(late), {"item 1", "'q'", "redelivery 1"});
  c.update_lease(0, again, change::finish);
  c.pop(0, "q");
}

BOOST_FIXTURE_TEST_CASE(an_extended_lease_expires_later, job<1>) {
  c.push(0, "q", "a");
  auto const item = c.take(0, "q", 10s);
  c.at(9s);
  BOOST_TEST(c.code(c.update_lease(0, item, change::extend, 10s)) == "OK");
  BOOST_TEST(c.code(c.update_lease(0, item, change::extend, 0s)) == "INVALID_ARGUMENT");
  BOOST_TEST(c.at(19s - 1ns).look().leased_items == 1u);
  BOOST_TEST(c.at(19s).look().leased_items == 0u);
  c.pop(0, "q");
}

BOOST_FIXTURE_TEST_CASE(a_released_item_goes_to_the_next_waiter, job<2>) {
  c.push(0, "q", "a");
  auto const item = c.take(0, "q");
  auto const waits = c.take(1, "q");
  BOOST_TEST(c.code(waits) == "waits");

  BOOST_TEST(c.code(c.update_lease(0, item, change::release)) == "OK");
  BOOST_TEST(c.value(waits) == "a");
  BOOST_TEST(c.code(c.update_lease(0, waits, change::finish)) == "FAILED_PRECONDITION");
  BOOST_TEST(c.code(c.update_lease(1, waits, change::finish)) == "OK");
}

BOOST_FIXTURE_TEST_CASE(an_item_returns_at_once_when_its_holder_has_ended, job<1>) {
  int const o = c.observer();
  c.push(0, "q", "a");
  c.push(0, "q", "b");
  BOOST_TEST(c.value(c.take(o, "q", without_limit)) == "a");
  c.bye(o);
  BOOST_TEST(c.value(c.pop(0, "q")) == "a");
  c.pop(0, "q");
}

BOOST_FIXTURE_TEST_CASE(an_item_whose_reply_was_not_received_returns, job<1>) {
  c.push(0, "q", "a");
  c[0].deaf = true;
  auto const item = c.take(0, "q");
  c.cancel(item);
  c[0].deaf = false;
  BOOST_TEST(c.look().leased_items == 0u);
  BOOST_TEST(c.look().queued_items == 1u);
  c.blink(0);
  c.pop(0, "q");
}

BOOST_FIXTURE_TEST_CASE(who_waits_hears_who_holds_the_items, job<2>) {
  c.push(0, "q", "a");
  auto const item = c.take(0, "q");
  auto const waits = c.take(1, "q", 60s, 1s);
  BOOST_TEST(c.at(1s).code(waits) == "DEADLINE_EXCEEDED");
  expect_words(c.text(waits), {"'q'", "1 is leased to task 0"});
  c.update_lease(0, item, change::finish);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
