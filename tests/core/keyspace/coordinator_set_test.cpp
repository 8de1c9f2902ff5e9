// Changing keys under conditions, several at once, and on behalf of a task: §7.1.

#include "tests/core/steps.hpp"

namespace coxswain::test {
namespace {

using absent = core::absent_value;

core::expected_value version(std::uint64_t v) { return v; }
core::expected_value value(std::string v) { return v; }

BOOST_AUTO_TEST_SUITE(coordinator_set_test)

rows const cases{
    {"compare_and_set_stores_when_the_expectation_holds", 1,
     "0 swaps /k/ absent one -> 1; 0 swaps-version k 1 two -> 2; 0 swaps k two '' -> 3; "
     "0 swaps k '' four -> 4; 0 get k -> four"},
    {"one_of_two_compare_and_sets_of_a_version_succeeds", 2,
     "0 put k v; one = 0 swaps-version k 1 zero; two = 1 swaps-version k 1 one; one -> OK; "
     "two -> zero"},
    {"compare_and_set_and_append_wake_waiters", 2,
     "a = 1 get a; b = 1 get b; 0 swaps a absent 1; 0 append b 2; a -> 1; b -> 2"},
    {"append_beyond_the_value_limit_is_refused_and_changes_nothing", 1,
     "0 append k 123; 0 append k 45 -> OK; refused = 0 append k 6; refused -> RESOURCE_EXHAUSTED; "
     "refused ~ 6 bytes ... value_bytes_max is 5; 0 get k -> 12345",
     config{.value_bytes_max = 5}},
    {"an_ephemeral_key_is_removed_when_its_task_leaves", 2,
     "0 owns zero 1; 1 owns one 1; 0 leaves; 1 list -> one=1", config{.leave_barrier = false}},
    {"an_ephemeral_key_of_a_suspect_task_stays_until_the_grace_ends", 2,
     "0 owns k v; cut 0; 1 try-get k -> v; at 2s; 1 try-get k -> NOT_FOUND"},
    {"increment_and_append_keep_the_owner", 2,
     "0 owns n 1; 0 owns log a; 1 increment n 1; 1 append log b; 1 list -> log=ab n=2; 0 leaves; "
     "1 list ->",
     config{.leave_barrier = false}},
    {"an_ephemeral_key_removed_and_put_by_another_client_stays", 2,
     "0 owns k 0; 1 remove k; 1 put k 1; 0 leaves; 1 try-get k -> 1",
     config{.leave_barrier = false}},
    {"ephemeral_keys_are_removed_when_a_task_fails_after_a_job_error", 3,
     "1 owns k v; ended 0 INTERNAL killed; 2 try-get k -> v; ended 1 INTERNAL killed; "
     "2 try-get k -> NOT_FOUND"},
    // The first attempt succeeded: executing the resent request again would refuse it.
    {"compare_and_set_and_append_apply_once_when_their_replies_are_lost", 2,
     "deaf 0; set = 0 swaps k absent v; append = 0 append k w; refused = 0 swaps k absent x; "
     "1 put other 'changes the version'; 1 remove k; hears 0; blink 0; set -> 1; append -> 2; "
     "refused -> ALREADY_EXISTS; refused -> vw"},
    {"put_all_wakes_waiters_after_all_values_are_stored", 2,
     "both = 1 get-all 300s a b; last = 1 get b; 0 put-all a=1 b=2; replies -> 0:OK 1:OK 1:OK; "
     "both -> a=1 b=2; last -> 2"},
    {"put_all_with_a_lost_reply_does_not_fail_as_existing", 1,
     "deaf 0; put = 0 put-all a=1 b=2; hears 0; blink 0; put -> 2"},
    {"put_append_and_compare_and_set_return_the_new_version", 1,
     "0 put k a -> 1; 0 append k b -> 2; 0 swaps-version k 2 c -> 3; 0 increment n 1 -> 4; "
     "0 try-get k ~ version 3"},
};

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

BOOST_FIXTURE_TEST_CASE(append_adds_to_the_end_and_a_missing_key_counts_as_empty, job<1>) {
  c.append(0, "log", "a");
  c.append(0, "log", std::string("\0b", 2));
  c.append(0, "log", "");

  BOOST_TEST(c.value(c.get(0, "log")) == std::string("a\0b", 3));
  BOOST_TEST(c.code(c.append(0, "", "x")) == "INVALID_ARGUMENT");
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

BOOST_FIXTURE_TEST_CASE(only_a_task_can_put_an_ephemeral_key, job<1>) {
  int const o = c.observer();

  BOOST_TEST(c.code(c.put_owned(o, "k", "v")) == "FAILED_PRECONDITION");
  BOOST_TEST(c.code(c.compare_and_set(o, "k", absent{}, "v", true)) == "FAILED_PRECONDITION");
  BOOST_TEST(c.look().keys == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
