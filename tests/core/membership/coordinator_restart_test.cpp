// A restarted coordinator has its state and no connections: sessions resume within a grace.

#include "tests/core/cluster.hpp"

namespace coxswain::test {
namespace {

core::config restarting() {
  return {.heartbeat_timeout = 10s, .reconnect_grace = 1s, .restart_grace = 15s};
}

// The coordinator was away for this long.
void restart(cluster& c, duration downtime) {
  for (int i = 0; i < 3; ++i) c[i].connection = {};
  c.sleep_without_advance(downtime);
  BOOST_TEST(c.logic().put_in(t0 + c.now(), core::restarted{downtime}).ok());
}

BOOST_AUTO_TEST_SUITE(coordinator_restart_test)

BOOST_AUTO_TEST_CASE(a_long_downtime_fails_no_task) {
  cluster c{3, restarting()};
  auto const waits = c.barrier(0, "b", 300s);
  c.barrier(1, "b", 300s);

  restart(c, 1min);
  c.pass(14s);
  for (int i = 0; i < 3; ++i) c.resume(i);
  c.barrier(2, "b", 300s);

  BOOST_TEST(c.code(waits) == "OK");
  BOOST_TEST(c.error() == "none");
  expect_words(c.log(), {"the coordinator was restarted after 60 s; 3 sessions have 15 s to resume",
                         "3 of 3 sessions resumed 14 s after the coordinator was restarted"});
}

BOOST_AUTO_TEST_CASE(who_does_not_resume_fails_and_is_named) {
  cluster c{3, restarting()};
  restart(c, 2s);
  c.resume(0).resume(2);

  BOOST_TEST(c.pass(15s - 1ms).error() == "none");
  c.pass(1ms);

  BOOST_TEST(c.state_of(1) == "failed");
  expect_words(c.log(), {"2 of 3 sessions resumed 15 s after", "; missing: task 1", "task 1 (",
                         "has not resumed its session within 15 s"});
}

BOOST_AUTO_TEST_CASE(deadlines_of_calls_run_on) {
  cluster c{3, restarting()};
  auto const waits = c.get(0, "k", 30s);
  restart(c, 20s);
  c.resume(0).resume(1).resume(2);

  BOOST_TEST(c.pass(10s - 1ms).code(waits) == "waits");
  BOOST_TEST(c.pass(1ms).code(waits) == "DEADLINE_EXCEEDED");
}

BOOST_AUTO_TEST_CASE(a_task_that_left_to_return_has_the_grace_as_well) {
  auto options = restarting();
  options.recoverable = true;
  options.return_timeout = 60s;
  cluster c{3, options};
  c.leave(0, 0s, true);

  restart(c, 10min);
  c.resume(1).resume(2);
  BOOST_TEST(c.pass(15s - 1ms).state_of(0) == "returning");
  BOOST_TEST(c.pass(1ms).state_of(0) == "failed");
}

core::config with_volatile_values() {
  auto made = restarting();
  made.volatile_above = 100;
  return made;
}

BOOST_AUTO_TEST_CASE(volatile_values_are_reported_and_gone_after_a_restart) {
  cluster c{3, with_volatile_values()};
  std::string const large(101, '7');
  auto const put = c.put(0, "large", large);
  c.put(0, "small", std::string(100, 's'));
  auto const version_of_large = c.version(put);
  BOOST_TEST(std::get<core::stored_answer>(c.answer_to(put)->value).is_volatile);
  BOOST_TEST(c.value(c.get(1, "large")) == large);
  auto const watch = c.watch_keys(1, "", std::nullopt, 300s);

  restart(c, 1s);
  c.resume(0).resume(1).resume(2);

  auto const waits = c.get(0, "large", 30s);
  BOOST_TEST(c.code(waits) == "waits");
  BOOST_TEST(c.code(watch) != "waits");
  BOOST_TEST(c.value(c.get(1, "small")) == std::string(100, 's'));
  expect_words(c.log(), {"1 volatile value is lost with the process of the coordinator"});
  c.put(2, "large", "new");
  BOOST_TEST(c.value(waits) == "new");
  BOOST_TEST(version_of_large == "1");
}

BOOST_AUTO_TEST_CASE(nothing_depends_on_a_volatile_value) {
  cluster c{1, with_volatile_values()};
  std::string const large(101, '7');
  c.put(0, "large", large);

  BOOST_TEST(c.code(c.increment(0, "large", 1)) == "FAILED_PRECONDITION");
  BOOST_TEST(c.code(c.compare_and_set(0, "large", core::expected_value{large}, "x")) ==
             "FAILED_PRECONDITION");
  BOOST_TEST(c.code(c.push(0, "queue", large)) == "RESOURCE_EXHAUSTED");
  BOOST_TEST(c.code(c.append(0, "small", large)) == "RESOURCE_EXHAUSTED");
  BOOST_TEST(c.code(c.put_all(0, {{"a", large}})) == "RESOURCE_EXHAUSTED");
  BOOST_TEST(c.code(c.barrier(0, "b", 30s, {.gather = large})) == "RESOURCE_EXHAUSTED");
  BOOST_TEST(c.code(c.compare_and_set(0, "large", core::expected_value{std::uint64_t{1}}, "x")) ==
             "OK");
}

BOOST_AUTO_TEST_CASE(a_snapshot_has_no_volatile_values) {
  cluster c{1, with_volatile_values()};
  c.put(0, "large", std::string(5000, '7'));
  BOOST_TEST(c.snapshot().size() < 5000u);
  BOOST_TEST(c.snapshot().find("777777") == std::string::npos);
  auto const loaded = core::coordinator::load(c.logic().options(), c.snapshot(), t0);
  BOOST_TEST_REQUIRE(loaded.has_value());
  BOOST_TEST(loaded->digest() == c.logic().digest());
  BOOST_TEST(loaded->value("large")->value.size() == 5000u);
}

BOOST_AUTO_TEST_CASE(a_suspended_coordinator_sends_everyone_away_to_come_back) {
  cluster c{3, restarting()};
  BOOST_TEST(c.logic().put_in(t0 + c.now(), core::suspended{"upgrade"}).ok());
  c.advance_once();
  for (int i = 0; i < 3; ++i) BOOST_TEST(c.goodbye(i) == "UNAVAILABLE may resume: upgrade");
  auto const late = c.dial();
  expect_words(c.goodbye_to(late), {"UNAVAILABLE may resume", "about to be restarted"});

  restart(c, 1s);
  c.resume(0).resume(1).resume(2);
  BOOST_TEST(c.error() == "none");
}

BOOST_AUTO_TEST_CASE(each_restart_raises_the_term_and_sessions_learn_it) {
  auto options = restarting();
  options.term = 4;
  cluster c{3, options};
  BOOST_TEST(c[0].hello->term == 4u);

  restart(c, 1s);
  c.resume(0);
  BOOST_TEST(c[0].resumed->term == 5u);

  c[0].connection = {};
  c.log();
  BOOST_TEST(c.logic().put_in(t0 + c.now(), core::restarted{1s, 9}).ok());
  c.resume(0);
  expect_words(c.log(), {"this coordinator took over after 1 s"});
  BOOST_TEST(c[0].resumed->term == 9u);
  BOOST_TEST(c.logic().term() == 9u);
}

BOOST_AUTO_TEST_CASE(a_replaced_coordinator_sends_a_client_of_its_successor_away) {
  cluster c{2, restarting()};
  auto seen = c.resume_of(0);
  seen.term_seen = 1;
  c.lose(0).say(c.dial(), core::client_message{.what = seen});
  BOOST_TEST(!c.logic().newer_term());

  seen.term_seen = 2;
  auto const late = c.dial();
  c.say(late, core::client_message{.what = seen});

  expect_words(c.goodbye_to(late),
               {"UNAVAILABLE may resume", "this coordinator has term 1", "another one has term 2"});
  expect_words(c.log(), {"refused: this coordinator has term 1"});
  BOOST_TEST((c.logic().newer_term() == std::optional<std::uint64_t>{2}));
  BOOST_TEST(c.error() == "none");
}

// Its clients are of another job: there is nothing to resume (§1.1).
BOOST_AUTO_TEST_CASE(a_new_coordinator_refuses_sessions_of_an_old_one_whatever_their_term) {
  cluster c{1, restarting()};
  auto of_another = c.resume_of(0);
  of_another.coordinator = incarnation{78};
  of_another.term_seen = 5;
  auto const late = c.dial();
  c.say(late, core::client_message{.what = of_another});

  expect_words(c.goodbye_to(late), {"ABORTED: session ended: the coordinator was restarted"});
  BOOST_TEST(!c.logic().newer_term());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
