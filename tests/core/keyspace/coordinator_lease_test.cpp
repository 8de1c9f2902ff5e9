// Items under a lease: §8.1.

#include "tests/core/steps.hpp"

namespace coxswain::test {
namespace {

using change = core::lease_change;

std::uint32_t redeliveries(cluster& c, call taken) {
  return c.body<core::value_answer>(taken)->redeliveries.value();
}

BOOST_AUTO_TEST_SUITE(coordinator_lease_test)

rows const cases{
    {"an_item_returns_at_once_when_its_holder_has_ended", 1,
     "observer o; 0 push q a; 0 push q b; o take q for-ever -> a; bye o; 0 pop q -> a; 0 pop q"},
    {"an_item_whose_reply_was_not_received_returns", 1,
     "0 push q a; deaf 0; item = 0 take q 60s; cancel item; hears 0; leased -> 0; queued -> 1; "
     "blink 0; 0 pop q"},
    {"a_finished_item_is_gone", 1,
     "0 push q a; item = 0 take q 60s; item -> a; leased -> 1; queued -> 0; 0 finish item -> OK; "
     "leased -> 0; at 7200s; queued -> 0"},
    {"an_extended_lease_expires_later", 1,
     "0 push q a; item = 0 take q 10s; at 9s; 0 extend item 10s -> OK; "
     "0 extend item 0s -> INVALID_ARGUMENT; at 19s-; leased -> 1; at 19s; leased -> 0; 0 pop q"},
    {"a_released_item_goes_to_the_next_waiter", 2,
     "0 push q a; item = 0 take q 60s; waits = 1 take q 60s; waits -> waits; 0 release item -> OK; "
     "waits -> a; 0 finish waits -> FAILED_PRECONDITION; 1 finish waits -> OK"},
};

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

BOOST_FIXTURE_TEST_CASE(a_popped_item_that_comes_back_keeps_its_redeliveries, job<2>) {
  c.push(1, "q", "a");
  auto const first = c.take(1, "q");
  auto const lost = c.pop(0, "q");
  c.lose(0);
  c.update_lease(1, first, change::release);
  c.cancel(lost);
  c.resume(0);
  auto const again = c.take(1, "q");
  BOOST_TEST(c.value(again) == "a");
  BOOST_TEST(redeliveries(c, again) == 2u);
}

BOOST_AUTO_TEST_CASE(an_item_returns_when_its_holder_leaves_is_killed_or_is_lost) {
  cluster c{4, {.recoverable = true}};
  c.push(0, "q", "a");
  auto const waits_until = [&c](int holder, auto const& ends) {
    BOOST_TEST(c.value(c.take(holder, "q", without_limit)) == "a");
    auto const waits = c.take(0, "q");
    BOOST_TEST(c.code(waits) == "waits");
    ends();
    BOOST_TEST(c.value(waits) == "a");
    BOOST_TEST(redeliveries(c, waits) == 2u * static_cast<std::uint32_t>(holder) - 1);
    c.update_lease(0, waits, change::release);
  };

  waits_until(1, [&c] {
    c.leave(1);
    c.bye(1);
  });
  waits_until(2, [&c] { c.task_ended(2, {errc::unavailable, "it was killed"}); });
  waits_until(3, [&c] {
    auto const grace = core::config{}.reconnect_grace;
    c.lose(3).pass(grace - 1ns);
    BOOST_TEST(c.look().leased_items == 1u);
    c.pass(1ns);
  });
  c.pop(0, "q");
}

BOOST_FIXTURE_TEST_CASE(the_first_leased_items_are_shown_with_their_holders, job<2>) {
  for (int i = 0; i < 30; ++i) c.push(0, "q", "a");
  c.update_lease(1, c.take(1, "q"), change::release);
  c.at(3s);
  std::vector<call> taken;
  taken.push_back(c.take(1, "q", 10s));
  taken.push_back(c.take(0, "q", without_limit));
  for (int i = 2; i < 30; ++i) taken.push_back(c.take(0, "q"));

  auto const seen = c.look();

  BOOST_TEST(seen.leased_items == 30u);
  BOOST_TEST_REQUIRE(seen.leases.size() == 20u);
  auto const holder = [&](std::size_t i) { return seen.leases[i].holder; };
  BOOST_TEST((seen.leases[0] == core::snapshot::lease{"q", 1, 1, holder(0), 3s, 13s}));
  BOOST_TEST((seen.leases[1] == core::snapshot::lease{"q", 2, 0, holder(1), 3s, {}}));
  expect_words(holder(0), {"task 1"});
  expect_words(holder(1), {"task 0"});
  c.update_lease(1, taken[0], change::extend, 1min);
  BOOST_TEST((c.look().leases[0].expires == 63s));
  for (std::size_t i = 0; i < taken.size(); ++i) {
    c.update_lease(i == 0 ? 1 : 0, taken[i], change::finish);
  }
  BOOST_TEST(c.look().leases.empty());
}

BOOST_FIXTURE_TEST_CASE(who_waits_hears_who_holds_the_items, job<2>) {
  c.push(0, "q", "a");
  auto const item = c.take(0, "q");
  auto const waits = c.take(1, "q", 60s, 1s);
  BOOST_TEST(c.at(1s).code(waits) == "DEADLINE_EXCEEDED");
  expect_words(c.text(waits), {"'q'", "1 is leased to task 0"});
  c.update_lease(0, item, change::release);

  auto const again = c.take(0, "q");
  auto const still = c.take(1, "q");
  auto const why = c.send(c.observer(), core::why_args{});
  auto const& waiting = c.body<core::why_answer>(why)->waits.at(0);
  BOOST_TEST(waiting.name == "q");
  BOOST_TEST(waiting.missing->expected == 1u);
  expect_words(waiting.missing->missing, {"task 0", ", redelivery 1"});
  c.cancel(still);
  c.update_lease(0, again, change::finish);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
