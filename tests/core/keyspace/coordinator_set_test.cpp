// Changing keys under conditions, several at once, and on behalf of a task: §7.1.

#include "tests/core/cluster.hpp"

namespace coxswain::test {
namespace {

using absent = core::absent_value;

core::expected_value version(std::uint64_t v) { return v; }
core::expected_value value(std::string v) { return v; }

BOOST_AUTO_TEST_SUITE(coordinator_set_test)

BOOST_FIXTURE_TEST_CASE(put_append_and_compare_and_set_return_the_new_version, job<1>) {
  BOOST_TEST(c.version(c.put(0, "k", "a")) == "1");
  BOOST_TEST(c.version(c.append(0, "k", "b")) == "2");
  BOOST_TEST(c.version(c.compare_and_set(0, "k", version(2), "c")) == "3");
  BOOST_TEST(c.version(c.increment(0, "n", 1)) == "4");

  BOOST_TEST(c.body<core::value_answer>(c.try_get(0, "k"))->version == 3u);
}

BOOST_FIXTURE_TEST_CASE(compare_and_set_stores_when_the_expectation_holds, job<1>) {
  BOOST_TEST(c.version(c.compare_and_set(0, "/k/", absent{}, "one")) == "1");
  BOOST_TEST(c.version(c.compare_and_set(0, "k", version(1), "two")) == "2");
  BOOST_TEST(c.version(c.compare_and_set(0, "k", value("two"), "")) == "3");
  BOOST_TEST(c.version(c.compare_and_set(0, "k", value(""), "four")) == "4");

  BOOST_TEST(c.value(c.get(0, "k")) == "four");
}

BOOST_FIXTURE_TEST_CASE(a_refused_compare_and_set_returns_the_current_value, job<1>) {
  c.put(0, "k", "held");

  auto const exists = c.compare_and_set(0, "k", absent{}, "v");
  BOOST_TEST(c.code(exists) == "ALREADY_EXISTS");
  BOOST_TEST(c.value(exists) == "held");
  BOOST_TEST(c.text(exists) == "key k already exists");
  auto const older = c.compare_and_set(0, "k", version(7), "v");
  BOOST_TEST(c.code(older) == "FAILED_PRECONDITION");
  BOOST_TEST(c.value(older) == "held");
  BOOST_TEST(c.body<core::value_answer>(older)->version == 1u);
  expect_words(c.text(older), {"key k", "not at version 7", "at version 1"});
  auto const another = c.compare_and_set(0, "k", value("hel"), "v");
  BOOST_TEST(c.code(another) == "FAILED_PRECONDITION");
  BOOST_TEST(c.value(another) == "held");
  expect_words(c.text(another), {"another value", "version 1"});

  BOOST_TEST(c.value(c.get(0, "k")) == "held");
}

BOOST_FIXTURE_TEST_CASE(compare_and_set_of_a_missing_key_is_not_found, job<1>) {
  for (auto const& expected : {version(0), version(1), value(""), value("v")}) {
    auto const refused = c.compare_and_set(0, "k", expected, "v");
    BOOST_TEST(c.code(refused) == "NOT_FOUND");
    BOOST_TEST(c.value(refused) == "NOT_FOUND");
  }
}

BOOST_FIXTURE_TEST_CASE(compare_and_set_needs_an_expectation, job<1>) {
  BOOST_TEST(c.code(c.compare_and_set(0, "k", std::monostate{}, "v")) == "INVALID_ARGUMENT");
  BOOST_TEST(c.code(c.compare_and_set(0, "", absent{}, "v")) == "INVALID_ARGUMENT");
}

BOOST_FIXTURE_TEST_CASE(one_of_two_compare_and_sets_of_a_version_succeeds, job<2>) {
  c.put(0, "k", "v");
  auto const one = c.compare_and_set(0, "k", version(1), "zero");
  auto const two = c.compare_and_set(1, "k", version(1), "one");

  BOOST_TEST(c.code(one) == "OK");
  BOOST_TEST(c.value(two) == "zero");
}

BOOST_FIXTURE_TEST_CASE(compare_and_set_and_append_wake_waiters, job<2>) {
  auto const a = c.get(1, "a");
  auto const b = c.get(1, "b");
  c.compare_and_set(0, "a", absent{}, "1");
  BOOST_TEST(c.after(c.append(0, "b", "2")).value(a) == "1");
  BOOST_TEST(c.value(b) == "2");
}

// The first attempt succeeded: executing the resent request again would refuse it.
BOOST_AUTO_TEST_CASE(compare_and_set_and_append_apply_once_when_their_replies_are_lost) {
  cluster c{2};
  c[0].deaf = true;
  auto const set = c.compare_and_set(0, "k", absent{}, "v");
  auto const append = c.append(0, "k", "w");
  auto const refused = c.compare_and_set(0, "k", absent{}, "x");
  c.put(1, "other", "changes the version");
  c.remove(1, "k");
  c[0].deaf = false;

  BOOST_TEST(c.blink(0).version(set) == "1");
  BOOST_TEST(c.version(append) == "2");
  BOOST_TEST(c.code(refused) == "ALREADY_EXISTS");
  BOOST_TEST(c.value(refused) == "vw");
}

BOOST_FIXTURE_TEST_CASE(append_adds_to_the_end_and_a_missing_key_counts_as_empty, job<1>) {
  c.append(0, "log", "a");
  c.append(0, "log", std::string("\0b", 2));
  c.append(0, "log", "");

  BOOST_TEST(c.value(c.get(0, "log")) == std::string("a\0b", 3));
  BOOST_TEST(c.code(c.append(0, "", "x")) == "INVALID_ARGUMENT");
}

BOOST_AUTO_TEST_CASE(append_beyond_the_value_limit_is_refused_and_changes_nothing) {
  cluster c{1, {.value_bytes_max = 5}};
  c.append(0, "k", "123");
  BOOST_TEST(c.code(c.append(0, "k", "45")) == "OK");

  auto const refused = c.append(0, "k", "6");

  BOOST_TEST(c.code(refused) == "RESOURCE_EXHAUSTED");
  expect_words(c.text(refused), {"6 bytes", "value_bytes_max is 5"});
  BOOST_TEST(c.value(c.get(0, "k")) == "12345");
}

BOOST_FIXTURE_TEST_CASE(put_all_stores_all_values_and_returns_the_last_version, job<1>) {
  BOOST_TEST(c.version(c.put_all(0, {{"a", "1"}, {"b/c", "2"}, {"/d/", ""}})) == "3");
  BOOST_TEST(c.listing(c.list(0, "")) == "a=1 b/c=2 d=");

  BOOST_TEST(c.version(c.put_all(0, {{"d", "4"}, {"a", "5"}}, true)) == "5");
  BOOST_TEST(c.listing(c.list(0, "")) == "a=5 b/c=2 d=4");
  BOOST_TEST(c.version(c.put_all(0, {})) == "5");
}

BOOST_FIXTURE_TEST_CASE(put_all_stores_nothing_if_one_key_exists_and_names_the_first, job<1>) {
  c.put(0, "b", "held");
  c.put(0, "c", "held");

  auto const refused = c.put_all(0, {{"a", "1"}, {"c", "3"}, {"b", "2"}});

  BOOST_TEST(c.code(refused) == "ALREADY_EXISTS");
  BOOST_TEST(c.text(refused) == "key c already exists");
  BOOST_TEST(c.listing(c.list(0, "")) == "b=held c=held");
}

BOOST_AUTO_TEST_CASE(put_all_with_an_invalid_or_duplicate_key_stores_nothing) {
  cluster c{1, {.value_bytes_max = 5, .keys_per_call_max = 3}};
  BOOST_TEST(c.code(c.put_all(0, {{"a", "1"}, {"", "2"}})) == "INVALID_ARGUMENT");
  auto const twice = c.put_all(0, {{"a/b", "1"}, {"/a//b", "2"}}, true);
  BOOST_TEST(c.code(twice) == "INVALID_ARGUMENT");
  expect_words(c.text(twice), {"duplicate key 'a/b'"});
  BOOST_TEST(c.code(c.put_all(0, {{"a", "1"}, {"b", "123456"}})) == "RESOURCE_EXHAUSTED");
  auto const many = c.put_all(0, {{"a", ""}, {"b", ""}, {"c", ""}, {"d", ""}});
  BOOST_TEST(c.code(many) == "RESOURCE_EXHAUSTED");
  expect_words(c.text(many), {"4 keys", "keys_per_call_max is 3"});

  BOOST_TEST(c.look().keys == 0u);
}

BOOST_AUTO_TEST_CASE(put_all_without_room_for_all_stores_nothing) {
  cluster c{1, {.memory_bytes_max = 100'000}};
  std::string const half(50'000, 'x');

  auto const refused = c.put_all(0, {{"a", half}, {"b", half}});

  BOOST_TEST(c.code(refused) == "RESOURCE_EXHAUSTED");
  expect_words(c.text(refused), {"100000 bytes", "memory_bytes_max"});
  BOOST_TEST(c.look().keys == 0u);
  BOOST_TEST(c.code(c.put_all(0, {{"a", half}, {"b", ""}})) == "OK");
}

BOOST_AUTO_TEST_CASE(compare_and_set_refuses_a_value_above_the_limit) {
  cluster c{1, {.value_bytes_max = 5}};

  auto const set = c.compare_and_set(0, "k", core::absent_value{}, "123456");

  BOOST_TEST(c.code(set) == "RESOURCE_EXHAUSTED");
  expect_words(c.text(set), {"6 bytes", "value_bytes_max is 5"});
  BOOST_TEST(c.look().keys == 0u);
}

BOOST_FIXTURE_TEST_CASE(put_all_wakes_waiters_after_all_values_are_stored, job<2>) {
  auto const both = c.get_all(1, {"a", "b"});
  auto const last = c.get(1, "b");
  BOOST_TEST(c.after(c.put_all(0, {{"a", "1"}, {"b", "2"}})).replies() == "0:OK 1:OK 1:OK");
  BOOST_TEST(c.listing(both) == "a=1 b=2");
  BOOST_TEST(c.value(last) == "2");
}

BOOST_FIXTURE_TEST_CASE(put_all_with_a_lost_reply_does_not_fail_as_existing, job<1>) {
  c[0].deaf = true;
  auto const put = c.put_all(0, {{"a", "1"}, {"b", "2"}});
  c[0].deaf = false;

  BOOST_TEST(c.blink(0).version(put) == "2");
}

BOOST_FIXTURE_TEST_CASE(count_matches_the_listing, job<1>) {
  for (auto const* const key : {"a", "a/1", "a/2/3", "ab", "b"}) c.put(0, key, "v");

  BOOST_TEST(c.count(c.count_keys(0, "")) == "5");
  BOOST_TEST(c.count(c.count_keys(0, "/")) == "5");
  BOOST_TEST(c.count(c.count_keys(0, "a/")) == "2");
  BOOST_TEST(c.count(c.count_keys(0, "a/2")) == "1");
  BOOST_TEST(c.count(c.count_keys(0, "b")) == "0");
  BOOST_TEST(c.count(c.count_keys(0, "\xff")) == "INVALID_ARGUMENT");
}

BOOST_FIXTURE_TEST_CASE(an_ephemeral_key_is_removed_when_its_task_fails, job<2>) {
  c.put_owned(0, "mine", "1");
  c.put(0, "mine/below", "2");
  c.put(0, "plain", "3");
  c.compare_and_set(0, "leader", absent{}, "task 0", true);
  BOOST_TEST(c.listing(c.list(1, "")) == "leader=task 0 mine=1 mine/below=2 plain=3");

  c.task_ended(0, {errc::internal, "killed"});

  BOOST_TEST(c.listing(c.list(1, "")) == "mine/below=2 plain=3");
}

BOOST_AUTO_TEST_CASE(an_ephemeral_key_is_removed_when_its_task_leaves) {
  cluster c{2, {.leave_barrier = false}};
  c.put_owned(0, "zero", "1");
  c.put_owned(1, "one", "1");

  c.leave(0);

  BOOST_TEST(c.listing(c.list(1, "")) == "one=1");
}

BOOST_FIXTURE_TEST_CASE(an_ephemeral_key_of_a_suspect_task_stays_until_the_grace_ends, job<2>) {
  c.put_owned(0, "k", "v");
  c.lose(0);
  BOOST_TEST(c.value(c.try_get(1, "k")) == "v");

  c.at(2s);

  BOOST_TEST(c.code(c.try_get(1, "k")) == "NOT_FOUND");
}

BOOST_AUTO_TEST_CASE(overwriting_an_ephemeral_key_changes_its_owner) {
  cluster c{3, {.leave_barrier = false}};
  c.put_owned(0, "to_another", "0");
  c.put_owned(0, "to_nobody", "0");
  c.put_owned(0, "compared", "0");
  c.put_owned(1, "to_another", "1", true);
  c.put(1, "to_nobody", "1", true);
  c.compare_and_set(2, "compared", value("0"), "2");

  c.leave(0);
  BOOST_TEST(c.listing(c.list(2, "")) == "compared=2 to_another=1 to_nobody=1");
  c.leave(1);
  BOOST_TEST(c.listing(c.list(2, "")) == "compared=2 to_nobody=1");
}

BOOST_AUTO_TEST_CASE(increment_and_append_keep_the_owner) {
  cluster c{2, {.leave_barrier = false}};
  c.put_owned(0, "n", "1");
  c.put_owned(0, "log", "a");
  c.increment(1, "n", 1);
  c.append(1, "log", "b");
  BOOST_TEST(c.listing(c.list(1, "")) == "log=ab n=2");

  c.leave(0);

  BOOST_TEST(c.listing(c.list(1, "")) == "");
}

BOOST_AUTO_TEST_CASE(an_ephemeral_key_removed_and_put_by_another_client_stays) {
  cluster c{2, {.leave_barrier = false}};
  c.put_owned(0, "k", "0");
  c.remove(1, "k");
  c.put(1, "k", "1");

  c.leave(0);

  BOOST_TEST(c.value(c.try_get(1, "k")) == "1");
}

BOOST_FIXTURE_TEST_CASE(only_a_task_can_put_an_ephemeral_key, job<1>) {
  int const o = c.observer();

  BOOST_TEST(c.code(c.put_owned(o, "k", "v")) == "FAILED_PRECONDITION");
  BOOST_TEST(c.code(c.compare_and_set(o, "k", absent{}, "v", true)) == "FAILED_PRECONDITION");
  BOOST_TEST(c.look().keys == 0u);
}

BOOST_FIXTURE_TEST_CASE(ephemeral_keys_are_removed_when_a_task_fails_after_a_job_error, job<3>) {
  c.put_owned(1, "k", "v");
  c.task_ended(0, {errc::internal, "killed"});
  BOOST_TEST(c.value(c.try_get(2, "k")) == "v");

  c.task_ended(1, {errc::internal, "killed"});

  BOOST_TEST(c.code(c.try_get(2, "k")) == "NOT_FOUND");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
