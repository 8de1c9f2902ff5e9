// Queues: §8.1.

#include "tests/core/cluster.hpp"

namespace coxswain::test {
namespace {

BOOST_AUTO_TEST_SUITE(coordinator_queue_test)

BOOST_FIXTURE_TEST_CASE(items_are_popped_in_push_order, job<2>) {
  BOOST_TEST(c.count(c.push(0, "q", "a")) == "1");
  BOOST_TEST(c.count(c.push(1, "/q/", "b")) == "2");
  BOOST_TEST(c.count(c.push(0, "q", "")) == "3");

  BOOST_TEST(c.value(c.pop(1, "q")) == "a");
  BOOST_TEST(c.value(c.pop(0, "q")) == "b");
  BOOST_TEST(c.value(c.pop(0, "q", 0s)) == "");
  BOOST_TEST(c.look().queued_items == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_count_of_items_leaves_out_those_that_are_leased, job<1>) {
  auto const count = [&] { return c.count(c.send(0, core::count_keys_args{"/q/", true})); };
  BOOST_TEST(count() == "0");
  c.push(0, "q", "a");
  c.push(0, "q", "b");
  BOOST_TEST(count() == "2");

  c.send(0, core::take_args{"q"});

  BOOST_TEST(count() == "1");
  BOOST_TEST(c.count(c.count_keys(0, "q")) == "0");
  BOOST_TEST(c.text(c.send(0, core::count_keys_args{"", true})) == "the queue's name is empty");
}

BOOST_FIXTURE_TEST_CASE(waiting_pops_are_served_in_arrival_order, job<3>) {
  auto const second = c.pop(2, "q");
  auto const third = c.pop(1, "q");
  BOOST_TEST(c.look().waiting_pops == 2u);

  BOOST_TEST(c.count(c.push(0, "q", "a")) == "0");
  BOOST_TEST(c.replies() == "0:OK 2:OK");
  BOOST_TEST(c.value(second) == "a");
  BOOST_TEST(c.code(third) == "waits");
  BOOST_TEST(c.after(c.push(0, "q", "b")).value(third) == "b");
}

BOOST_FIXTURE_TEST_CASE(queues_keys_and_barriers_have_separate_namespaces, job<1>) {
  auto const waits = c.pop(0, "q/1", 60s);
  c.put(0, "q/1", "key");
  BOOST_TEST(c.after(c.push(0, "q", "item")).code(waits) == "waits");
  BOOST_TEST(c.value(c.try_get(0, "q/1")) == "key");
  BOOST_TEST(c.code(c.try_get(0, "q")) == "NOT_FOUND");
  BOOST_TEST(c.value(c.pop(0, "q")) == "item");
}

BOOST_FIXTURE_TEST_CASE(queue_names_follow_the_rules_of_keys, job<1>) {
  for (std::string const& bad :
       {std::string{}, std::string{"//"}, std::string("a\0b", 3), std::string{"\xff"}}) {
    BOOST_TEST(c.code(c.push(0, bad, "v")) == "INVALID_ARGUMENT");
    BOOST_TEST(c.code(c.pop(0, bad)) == "INVALID_ARGUMENT");
  }
  BOOST_TEST(c.text(c.pop(0, "")) == "the queue's name is empty");
}

BOOST_FIXTURE_TEST_CASE(a_timed_out_pop_takes_nothing, job<1>) {
  auto const one = c.pop(0, "the/queue", 1s);
  BOOST_TEST(c.at(1s - 1ns).code(one) == "waits");
  BOOST_TEST(c.at(1s).code(one) == "DEADLINE_EXCEEDED");
  expect_words(c.text(one), {"'the/queue'", "1 s"});

  BOOST_TEST(c.count(c.push(0, "the/queue", "a")) == "1");
  BOOST_TEST(c.value(c.pop(0, "the/queue")) == "a");
}

BOOST_FIXTURE_TEST_CASE(a_cancelled_pop_takes_nothing, job<1>) {
  auto const one = c.pop(0, "q");
  BOOST_TEST(c.cancel(one).look().waiting_pops == 0u);

  BOOST_TEST(c.count(c.push(0, "q", "a")) == "1");
  BOOST_TEST(c.value(c.pop(0, "q")) == "a");
}

BOOST_FIXTURE_TEST_CASE(push_and_pop_need_no_task, job<1>) {
  int const o = c.observer();
  auto const waits = c.pop(o, "q");
  BOOST_TEST(c.after(c.push(o, "q", "a")).value(waits) == "a");
}

BOOST_FIXTURE_TEST_CASE(an_item_with_a_lost_reply_is_resent_to_the_same_pop, job<2>) {
  c.push(1, "q", "a");
  c.push(1, "q", "b");
  c[0].deaf = true;
  auto const one = c.pop(0, "q");
  c[0].deaf = false;
  BOOST_TEST(c.code(one) == "waits");

  BOOST_TEST(c.blink(0).value(one) == "a");
  BOOST_TEST(c.value(c.pop(0, "q")) == "b");
  BOOST_TEST(c.code(c.pop(0, "q", 0s)) == "waits");
}

BOOST_FIXTURE_TEST_CASE(a_push_with_a_lost_reply_is_not_repeated, job<1>) {
  c[0].deaf = true;
  auto const push = c.push(0, "q", "a");
  c[0].deaf = false;

  BOOST_TEST(c.blink(0).count(push) == "1");
  BOOST_TEST(c.look().queued_items == 1u);
  c.pop(0, "q");
}

BOOST_FIXTURE_TEST_CASE(an_item_pushed_while_the_consumer_is_disconnected_waits_for_it, job<2>) {
  auto const one = c.pop(0, "q");
  c.lose(0);
  c.push(1, "q", "a");
  auto const other = c.pop(1, "q", 60s);

  BOOST_TEST(c.resume(0).value(one) == "a");
  BOOST_TEST(c.code(other) == "waits");
}

BOOST_AUTO_TEST_CASE(unacknowledged_items_of_a_dead_consumer_return_to_their_positions) {
  cluster c{1};
  int const dead = c.observer();
  for (auto const* const item : {"a", "b", "c", "d"}) c.push(0, "q", item);
  c[dead].deaf = true;
  c.pop(dead, "q");
  c.pop(dead, "q");
  BOOST_TEST(c.value(c.pop(0, "q")) == "c");
  BOOST_TEST(c.lose(dead).at(2s - 1ns).look().queued_items == 1u);

  BOOST_TEST(c.at(2s).look().queued_items == 3u);
  auto const again = c.pop(0, "q");
  BOOST_TEST(c.value(again) == "a");
  BOOST_TEST(c.body<core::value_answer>(again)->version == 1u);
  BOOST_TEST(c.value(c.pop(0, "q")) == "b");
  BOOST_TEST(c.value(c.pop(0, "q")) == "d");
}

BOOST_FIXTURE_TEST_CASE(an_item_of_a_dead_consumer_goes_to_the_next_waiter_at_once, job<2>) {
  int const dead = c.observer();
  c[dead].deaf = true;
  c.push(0, "q", "a");
  c.pop(dead, "q");
  auto const waits = c.pop(1, "q", 60s);
  BOOST_TEST(c.lose(dead).at(2s).value(waits) == "a");
}

BOOST_FIXTURE_TEST_CASE(an_acknowledged_item_never_returns, job<1>) {
  int const o = c.observer();
  c.push(0, "q", "a");
  BOOST_TEST(c.value(c.pop(o, "q")) == "a");
  BOOST_TEST(c.heartbeat(o).lose(o).at(5s).look().queued_items == 0u);
  BOOST_TEST(c.logic().memory()->used() < 1'000u);
}

BOOST_FIXTURE_TEST_CASE(bye_acknowledges_received_items_and_returns_the_others, job<1>) {
  int const o = c.observer();
  c.push(0, "q", "a");
  c.push(0, "q", "b");
  c.pop(o, "q");
  c[o].deaf = true;
  c.pop(o, "q");

  c.bye(o);

  BOOST_TEST(c.value(c.pop(0, "q")) == "b");
}

// The client cancelled the call while the reply was in transit, and will ignore it.
BOOST_FIXTURE_TEST_CASE(a_pop_cancelled_with_its_reply_in_transit_returns_the_item, job<2>) {
  c.push(0, "q", "a");
  c[0].deaf = true;
  auto const one = c.pop(0, "q");
  auto const other = c.pop(1, "q", 60s);
  BOOST_TEST(c.code(other) == "waits");

  BOOST_TEST(c.cancel(one).value(other) == "a");
  c[0].deaf = false;
}

BOOST_FIXTURE_TEST_CASE(a_pop_cancelled_while_disconnected_returns_the_item, job<2>) {
  auto const one = c.pop(0, "q");
  auto const lost = c.pop(0, "q");
  c.lose(0);
  c.push(1, "q", "a");
  c.push(1, "q", "b");
  BOOST_TEST(c.cancel(one).resume(0).value(lost) == "b");
  BOOST_TEST(c.value(c.pop(1, "q")) == "a");
}

BOOST_FIXTURE_TEST_CASE(an_item_received_before_a_resume_is_not_returned, job<1>) {
  c.push(0, "q", "a");
  BOOST_TEST(c.value(c.pop(0, "q")) == "a");

  BOOST_TEST(c.blink(0).look().queued_items == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_job_error_cancels_waiting_pops_and_queues_keep_working, job<2>) {
  auto const waits = c.pop(1, "q");
  BOOST_TEST(c.task_ended(0, {errc::internal, "killed"}).code(waits) == "CANCELLED");
  expect_words(c.text(waits), {"task 0", "killed"});

  BOOST_TEST(c.code(c.pop(1, "q")) == "CANCELLED");
  BOOST_TEST(c.count(c.push(1, "q", "a")) == "1");
  BOOST_TEST(c.value(c.pop(1, "q")) == "a");
}

BOOST_AUTO_TEST_CASE(pops_end_cancelled_when_the_coordinator_stops_or_the_task_leaves) {
  cluster c{2, {.leave_barrier = false}};
  auto const leaves = c.pop({0, 0}, "q");
  auto const stays = c.pop(1, "q");
  BOOST_TEST(c.after(c.leave(0)).code(leaves) == "CANCELLED");

  BOOST_TEST(c.stop().code(stays) == "CANCELLED");
}

BOOST_FIXTURE_TEST_CASE(a_task_waiting_in_pop_is_shown_as_waiting_for_an_item, job<2>) {
  c.pop({1, 1}, "work");
  auto const barrier = c.barrier(0, "b", 1s);
  expect_words(c.at(1s).text(barrier), {"waits for queue 'work'"});
}

BOOST_AUTO_TEST_CASE(items_count_as_memory_and_push_fails_when_it_is_full) {
  cluster c{1, {.memory_bytes_max = 100'000}};
  BOOST_TEST(c.after(c.push(0, "q", std::string(50'000, 'x'))).look().memory_bytes >= 50'000u);

  auto const refused = c.push(0, "q", std::string(50'000, 'y'));

  BOOST_TEST(c.code(refused) == "RESOURCE_EXHAUSTED");
  expect_words(c.text(refused), {"50000 bytes", "memory_bytes_max"});
  c.pop(0, "q");
  c.heartbeat(0);
  c[0].answers.clear();
  BOOST_TEST(c.code(c.push(0, "q", std::string(50'000, 'y'))) == "OK");
  c.pop(0, "q");
}

BOOST_AUTO_TEST_CASE(when_memory_is_full_a_pop_can_take_an_item_but_not_wait) {
  cluster c{1, {.memory_bytes_max = 100'000}};
  c.push(0, "q", "a");
  c.logic().memory()->add(99'000);  // as the server does for queued replies

  BOOST_TEST(c.value(c.pop(0, "q")) == "a");
  auto const refused = c.pop(0, "q");

  BOOST_TEST(c.code(refused) == "RESOURCE_EXHAUSTED");
  expect_words(c.text(refused), {"memory_bytes_max is 100000"});
  c.logic().memory()->subtract(99'000);
}

BOOST_AUTO_TEST_CASE(an_item_has_the_size_limit_of_a_value) {
  cluster c{1, {.value_bytes_max = 5}};
  BOOST_TEST(c.code(c.push(0, "q", "123456")) == "RESOURCE_EXHAUSTED");
  BOOST_TEST(c.code(c.push(0, "q", "12345")) == "OK");
  c.pop(0, "q");
}

BOOST_FIXTURE_TEST_CASE(empty_queues_use_no_memory, job<1>) {
  for (int i = 0; i < 100; ++i) {
    std::string const queue = "q/" + std::to_string(i);
    c.push(0, queue, "a");
    c.pop(0, queue);
    auto const waits = c.pop(0, queue, 60s);
    c.cancel(waits);
  }
  c.heartbeat(0);
  c[0].answers.clear();

  BOOST_TEST(c.logic().memory()->used() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
