// Replies to a client that asks what one of its calls waits for.

#include "tests/core/cluster.hpp"

namespace coxswain::test {
namespace {

void ask(cluster& c, call about) {
  auto& who = c[static_cast<int>(about.client)];
  core::client_message m{.answered_through = who.answered,
                         .what = core::ask_waiting_args{about.id}};
  c.say(who.connection, std::move(m));
}

// The reports on this call since the last look.
std::string answer_about(cluster& c, call about) {
  std::string text;
  for (auto const& one : c.pushed<core::waiting>(static_cast<int>(about.client))) {
    if (one.request == about.id) text += (text.empty() ? "" : " | ") + one.text;
  }
  return text;
}

std::string asked(cluster& c, call about) {
  ask(c, about);
  return answer_about(c, about);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(coordinator_waiting)

BOOST_FIXTURE_TEST_CASE(a_barrier_names_the_missing_tasks_and_what_they_do_instead, job<4>) {
  auto const one = c.barrier(0, "b");
  c.barrier(1, "b");
  c.get(2, "address");
  c.pass(2s);

  expect_words(asked(c, one), {"2 of 4 tasks are missing: 2 (connected, last heard at 00:00:00.0",
                               "waits for key 'address'), 3 (connected, last heard at 00:00:00.0"});
}

BOOST_FIXTURE_TEST_CASE(asking_changes_nothing_and_is_no_request, job<2>) {
  auto const one = c.barrier(0, "b");

  ask(c, one);
  ask(c, one);

  BOOST_TEST(c.pushed<core::waiting>(0).size() == 2u);
  BOOST_TEST(c.code(one) == "waits");
  BOOST_TEST(c.after(c.barrier(1, "b")).code(one) == "OK");
}

BOOST_FIXTURE_TEST_CASE(nothing_is_reported_of_a_call_that_does_not_wait, job<2>) {
  auto const done = c.put(0, "k", "v");
  auto const others = c.barrier(1, "b");

  ask(c, done);
  ask(c, {0, request_id{12345}});
  ask(c, {0, others.id});

  BOOST_TEST(c.pushed<core::waiting>(0).empty());
}

BOOST_FIXTURE_TEST_CASE(the_join_names_who_has_not_come, empty_job<3>) {
  c.observer();
  auto const one = c.join({0, 1}, 101);

  expect_words(asked(c, one), {"2 of 3 tasks are missing", "0 (never connected)", "2 (never"});
}

BOOST_FIXTURE_TEST_CASE(a_join_beside_another_incarnation_says_who_holds_the_task, job<1>) {
  c[0].beats = false;
  auto const other = c.observer();
  auto const claimant = c.join({other, 0}, 900);

  expect_words(asked(c, claimant),
               {"task 0", "held by another incarnation", "which is being probed"});
}

BOOST_FIXTURE_TEST_CASE(each_kind_of_wait_says_what_is_missing, job<2>) {
  auto const get = c.get(0, "a/k");
  auto const all = c.get_all(0, {"x", "y"});
  auto const pop = c.pop(0, "q");
  auto const count = c.count_barrier(0, "c", 3);
  auto const leave = c.leave(1);
  auto const watch = c.watch_keys(0, "", 0);

  BOOST_TEST(asked(c, get) == "key 'a/k' has no value");
  BOOST_TEST(asked(c, all) == "key 'x' has no value");
  BOOST_TEST(asked(c, pop) == "queue 'q' has no item");
  BOOST_TEST(asked(c, count) == "1 of 3 have arrived");
  expect_words(asked(c, leave), {"1 of 2 tasks is missing: 0"});
  BOOST_TEST(asked(c, watch) == "nothing has changed");
  c.put(0, "address/0", "v");
  auto const misspelt = c.get(0, "adress/0");
  BOOST_TEST(asked(c, misspelt) == "key 'adress/0' has no value; 'address/0' exists");
}

BOOST_AUTO_TEST_CASE(alive_queries_agreements_and_exchanges_name_the_missing) {
  cluster c{2, {.preemption_lead = 0s}};
  auto const alive = c.send(0, core::alive_args{}, 60s);
  auto const exchange = c.exchange(0, "gpu", {});
  c.preempt(0, 1);
  c.pass(0s);
  auto const freeze = c.pushed<core::freeze_request>(0);
  BOOST_TEST_REQUIRE(freeze.size() == 1u);
  auto const frozen = c.frozen(0, freeze[0].agreement, 5);

  for (auto const one : {alive, exchange, frozen}) {
    expect_words(asked(c, one), {"1 of 2 tasks is missing: 1 (connected"});
  }
}

// Ten thousand clients ask within a tenth of a second: they share one text, then it is made anew.
BOOST_FIXTURE_TEST_CASE(what_one_gets_is_sent_to_others_for_a_tenth_of_a_second, job<3>) {
  auto const one = c.barrier(0, "b");
  expect_words(asked(c.pass(2s), one), {"2 of 3 tasks are missing"});
  auto const two = c.barrier(1, "b");

  expect_words(asked(c.pass(100ms - 1ns), two), {"2 of 3 tasks are missing"});
  expect_words(asked(c.pass(1ns), two), {"1 of 3 tasks is missing: 2"});
  expect_words(asked(c.pass(1ns), one), {"1 of 3 tasks is missing: 2"});
}

BOOST_FIXTURE_TEST_CASE(of_many_missing_tasks_little_is_reported, job<600>) {
  c.check_less();
  auto const one = c.barrier(1, "b");
  for (int i = 3; i < 600; i += 2) c.barrier(i, "b");

  auto const text = asked(c, one);

  expect_words(text, {"300 of 600 tasks are missing: 0,2,4,", " more; of these 0 (connected"});
  BOOST_TEST(text.size() < 1000u);
}

BOOST_AUTO_TEST_CASE(a_hello_says_how_long_refusals_are_borne_and_whose_process_it_is) {
  cluster c{1, {.coordinator_return = 7s, .hosted_by_task = 0}};

  BOOST_TEST((c[0].hello->coordinator_return == 7s));
  BOOST_TEST((c[0].hello->hosted_by_task == 0u));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
