// Queues: §8.1.

#include "tests/core/steps.hpp"

namespace coxswain::test {
namespace {

BOOST_AUTO_TEST_SUITE(coordinator_queue_test)

rows const cases{
    {"items_are_popped_in_push_order", 2,
     "0 push q a -> 1; 1 push /q/ b -> 2; 0 push q '' -> 3; 1 pop q -> a; 0 pop q -> b; "
     "0 pop q 0s ->; queued -> 0"},
    {"waiting_pops_are_served_in_arrival_order", 3,
     "second = 2 pop q; third = 1 pop q; waiting-pops -> 2; 0 push q a -> 0; replies -> 0:OK 2:OK; "
     "second -> a; third -> waits; 0 push q b; third -> b"},
    {"queues_keys_and_barriers_have_separate_namespaces", 1,
     "waits = 0 pop q/1 60s; 0 put q/1 key; 0 push q item; waits -> waits; 0 try-get q/1 -> key; "
     "0 try-get q -> NOT_FOUND; 0 pop q -> item"},
    {"a_timed_out_pop_takes_nothing", 1,
     "one = 0 pop the/queue 1s; at 1s-; one -> waits; at 1s; one -> DEADLINE_EXCEEDED; "
     "one ~ 'the/queue' ... 1 s; 0 push the/queue a -> 1; 0 pop the/queue -> a"},
    {"a_cancelled_pop_takes_nothing", 1,
     "one = 0 pop q; cancel one; waiting-pops -> 0; 0 push q a -> 1; 0 pop q -> a"},
    {"push_and_pop_need_no_task", 1, "observer o; waits = o pop q; o push q a; waits -> a"},
    {"an_item_with_a_lost_reply_is_resent_to_the_same_pop", 2,
     "1 push q a; 1 push q b; deaf 0; one = 0 pop q; hears 0; one -> waits; blink 0; one -> a; "
     "0 pop q -> b; 0 pop q 0s -> waits"},
    {"a_push_with_a_lost_reply_is_not_repeated", 1,
     "deaf 0; push = 0 push q a; hears 0; blink 0; push -> 1; queued -> 1; 0 pop q"},
    {"an_item_pushed_while_the_consumer_is_disconnected_waits_for_it", 2,
     "one = 0 pop q; cut 0; 1 push q a; other = 1 pop q 60s; resume 0; one -> a; other -> waits"},
    {"an_item_of_a_dead_consumer_goes_to_the_next_waiter_at_once", 2,
     "observer dead; deaf dead; 0 push q a; dead pop q; waits = 1 pop q 60s; cut dead; at 2s; "
     "waits -> a"},
    {"bye_acknowledges_received_items_and_returns_the_others", 1,
     "observer o; 0 push q a; 0 push q b; o pop q; deaf o; o pop q; bye o; 0 pop q -> b"},
    // The client cancelled the call while the reply was in transit, and will ignore it.
    {"a_pop_cancelled_with_its_reply_in_transit_returns_the_item", 2,
     "0 push q a; deaf 0; one = 0 pop q; other = 1 pop q 60s; other -> waits; cancel one; "
     "other -> a; hears 0"},
    {"a_pop_cancelled_while_disconnected_returns_the_item", 2,
     "one = 0 pop q; lost = 0 pop q; cut 0; 1 push q a; 1 push q b; cancel one; resume 0; "
     "lost -> b; 1 pop q -> a"},
    {"an_item_received_before_a_resume_is_not_returned", 1,
     "0 push q a; 0 pop q -> a; blink 0; queued -> 0"},
    {"pops_end_cancelled_when_the_coordinator_stops_or_the_task_leaves", 2,
     "leaves = 0/0 pop q; stays = 1 pop q; 0 leaves; leaves -> CANCELLED; stop; stays -> CANCELLED",
     config{.leave_barrier = false}},
    {"a_task_waiting_in_pop_is_shown_as_waiting_for_an_item", 2,
     "1/1 pop work; barrier = 0 barrier b 1s; at 1s; barrier ~ waits for queue 'work'"},
    {"an_item_has_the_size_limit_of_a_value", 1,
     "0 push q 123456 -> RESOURCE_EXHAUSTED; 0 push q 12345 -> OK; 0 pop q",
     config{.value_bytes_max = 5}},
    {"a_job_error_cancels_waiting_pops_and_queues_keep_working", 2,
     "waits = 1 pop q; ended 0 INTERNAL killed; waits -> CANCELLED; waits ~ task 0 ... killed; "
     "1 pop q -> CANCELLED; 1 push q a -> 1; 1 pop q -> a"},
};

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

BOOST_FIXTURE_TEST_CASE(queue_names_follow_the_rules_of_keys, job<1>) {
  for (std::string const& bad :
       {std::string{}, std::string{"//"}, std::string("a\0b", 3), std::string{"\xff"}}) {
    BOOST_TEST(c.code(c.push(0, bad, "v")) == "INVALID_ARGUMENT");
    BOOST_TEST(c.code(c.pop(0, bad)) == "INVALID_ARGUMENT");
  }
  BOOST_TEST(c.text(c.pop(0, "")) == "the queue's name is empty");
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

BOOST_FIXTURE_TEST_CASE(an_acknowledged_item_never_returns, job<1>) {
  int const o = c.observer();
  c.push(0, "q", "a");
  BOOST_TEST(c.value(c.pop(o, "q")) == "a");
  BOOST_TEST(c.heartbeat(o).lose(o).at(5s).look().queued_items == 0u);
  BOOST_TEST(c.logic().memory()->used() < 1'000u);
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
