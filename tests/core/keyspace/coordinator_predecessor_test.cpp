// Keys that an earlier process of a task has put: §7.1.13.

#include "tests/core/steps.hpp"

namespace coxswain::test {
namespace {

// Task 0 puts "k" and fails. Its next process is client 2.
struct restarted_task {
  cluster c{2, {.recoverable = true}};
  int next{};

  restarted_task() {
    c.put(0, "k", "v");
    restart(0, 102);
  }
  void restart(int old, std::uint64_t self) {
    c.bye(old, true);
    next = c.observer();
    c.join({next, 0}, self);
  }
  std::string replace(int who, std::string value) {
    return c.version(c.send(who, core::put_args{"k", std::move(value), false, false, true}));
  }
};

BOOST_AUTO_TEST_SUITE(coordinator_predecessor_test)

rows const cases{
    {"a_task_that_is_not_recoverable_has_no_predecessor", 2,
     "0 put k v; 0 leaves; observer next; next/0 joins 102; next put k v -> ALREADY_EXISTS",
     config{.leave_barrier = false}},
};

BOOST_FIXTURE_TEST_CASE(the_next_process_may_put_what_the_one_before_has_put, restarted_task) {
  BOOST_TEST(c.version(c.put(next, "/k", "v")) == "1");
  BOOST_TEST(c.version(c.put(next, "k", "v")) == "ALREADY_EXISTS");

  BOOST_TEST(c.body<core::value_answer>(c.try_get(1, "k"))->version == 1u);
  BOOST_TEST(c.changes(c.watch_keys(1, "", 0)) == "k=v to 1");
}

BOOST_FIXTURE_TEST_CASE(any_number_of_processes_follow_each_other, restarted_task) {
  for (std::uint64_t self = 103; self < 106; ++self) {
    BOOST_TEST(c.version(c.put(next, "k", "v")) == "1");
    restart(next, self);
  }
  restart(next, 106);
  BOOST_TEST(c.version(c.put(next, "k", "v")) == "1");
}

BOOST_FIXTURE_TEST_CASE(another_value_is_refused, restarted_task) {
  for (std::string const value : {"w", "", "longer"}) {
    auto const refused = c.put(next, "k", value);
    BOOST_TEST(c.code(refused) == "ALREADY_EXISTS");
    BOOST_TEST(c.text(refused) == "key k already exists");
  }
  BOOST_TEST(c.value(c.try_get(1, "k")) == "v");
  BOOST_TEST(c.version(c.put(next, "k", "v")) == "1");
}

BOOST_FIXTURE_TEST_CASE(another_value_replaces_it_on_demand, restarted_task) {
  BOOST_TEST(replace(1, "w") == "ALREADY_EXISTS");
  BOOST_TEST(replace(next, "w") == "2");
  BOOST_TEST(replace(next, "x") == "ALREADY_EXISTS");
  BOOST_TEST(c.changes(c.watch_keys(1, "", 0)) == "k=v k=w to 2");
  restart(next, 103);

  BOOST_TEST(replace(next, "w") == "3");
}

BOOST_FIXTURE_TEST_CASE(other_tasks_and_observers_are_refused, restarted_task) {
  BOOST_TEST(c.code(c.put(1, "k", "v")) == "ALREADY_EXISTS");
  BOOST_TEST(c.code(c.put(c.observer(), "k", "v")) == "ALREADY_EXISTS");
  BOOST_TEST(replace(c.observer(), "v") == "ALREADY_EXISTS");
}

BOOST_FIXTURE_TEST_CASE(what_others_have_changed_is_theirs, restarted_task) {
  c.put(1, "put", "v");
  c.put(next, "k", "v", true);
  c.put(next, "appended", "v");
  c.append(1, "appended", "");
  c.put(next, "incremented", "1");
  c.increment(1, "incremented", 0);
  c.put(next, "overwritten", "v");
  c.put(1, "overwritten", "v", true);
  c.put(c.observer(), "observed", "v");
  restart(next, 103);

  BOOST_TEST(c.version(c.put(next, "k", "v")) == "3");
  for (auto const* const key : {"put", "appended", "overwritten", "observed"}) {
    BOOST_TEST(c.code(c.put(next, key, "v")) == "ALREADY_EXISTS", key);
  }
  BOOST_TEST(c.code(c.put(next, "incremented", "1")) == "ALREADY_EXISTS");
}

BOOST_FIXTURE_TEST_CASE(all_ways_to_set_a_value_count, restarted_task) {
  c.put_all(next, {{"a", "1"}, {"b", "2"}});
  c.compare_and_set(next, "c", core::absent_value{}, "3");
  restart(next, 103);

  BOOST_TEST(c.code(c.put(next, "a", "1"), c.put(next, "b", "2"), c.put(next, "c", "3")) ==
             "OK OK OK");
  restart(next, 104);
  BOOST_TEST(c.code(c.put_all(next, {{"a", "1"}})) == "ALREADY_EXISTS");
  BOOST_TEST(c.code(c.compare_and_set(next, "c", core::absent_value{}, "3")) == "ALREADY_EXISTS");
}

BOOST_FIXTURE_TEST_CASE(a_lasting_key_does_not_become_ephemeral, restarted_task) {
  BOOST_TEST(c.code(c.put_owned(next, "k", "v")) == "ALREADY_EXISTS");
  BOOST_TEST(c.code(c.put(next, "k", "v")) == "OK");
}

BOOST_FIXTURE_TEST_CASE(a_process_that_was_reset_is_no_other_one, restarted_task) {
  c.put(next, "mine", "v");
  c.report_error(next, errc::internal, "boom");
  c.reset({next, 0}, 102);
  c.join({next, 0}, 102);

  BOOST_TEST(c.code(c.put(next, "mine", "v")) == "ALREADY_EXISTS");
}

BOOST_AUTO_TEST_CASE(nothing_depends_on_volatile_values) {
  cluster c{1, {.recoverable = true, .volatile_above = 3}};
  c.put(0, "short", "abc");
  c.put(0, "long", "abcd");
  c.bye(0, true);
  int const next = c.observer();
  c.join({next, 0}, 101);

  BOOST_TEST(c.code(c.put(next, "short", "abc")) == "OK");
  BOOST_TEST(c.code(c.put(next, "long", "abcd")) == "ALREADY_EXISTS");
  auto const replaced = c.send(next, core::put_args{"long", "abcd", false, false, true});
  BOOST_TEST(c.version(replaced) == "3");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
