// Keys: §7.1, and §7.3.1 to 3.42e.

#include "tests/core/steps.hpp"

namespace coxswain::test {
namespace {

std::string keys(core::listing_answer const* listing) {
  if (!listing) return "no listing";
  std::string all;
  for (auto const& e : listing->entries) {
    all += (all.empty() ? "" : " ") + e.key + "=" + std::string{e.value.view()};
  }
  return all;
}

BOOST_AUTO_TEST_SUITE(coordinator_keys_test)

rows const cases{
    {"get_key_value_timeout_return_error", 1,
     "at 3s; one = 0 get the/key 1s; at 4s-; one -> waits; at 4s; one -> DEADLINE_EXCEEDED; "
     "one ~ 'the/key' ... 1 s; waiting-gets -> 0"},
    {"get_key_value_delayed_response_before_timeout_success", 2,
     "one = 0 get k 10s; at 5s; 1 put k v; one -> v; at 20s"},
    {"a_get_with_timeout_zero_is_answered_in_the_same_iteration", 1,
     "one = 0 get k 0s; at 0s; one -> DEADLINE_EXCEEDED"},
    {"a_get_without_timeout_keeps_waiting", 2,
     "one = 0 get k for-ever; at 7200s; one -> waits; 1 put k v; one -> v"},
    {"cancel_get_key_value_success", 1,
     "one = 0 get k; cancel one; waiting-gets -> 0; 0 put k v; one -> waits; replies -> 0:OK"},
    {"set_overwrite_and_increment_wake_all_waiters_in_order", 3,
     "2 get k; 0 get k; 1 get k; 0 put k 1; replies -> 0:OK 2:OK 0:OK 1:OK; on_counter = 1 get n; "
     "0 increment n 5; on_counter -> 5"},
    {"only_waiters_of_that_key_are_woken", 2,
     "other = 0 get k/1; parent = 0 get k; 1 put k2 v; other -> waits; parent -> waits"},
    {"increment_key_value", 1,
     "0 put one 1; 0 put text abc; 0 put max 9223372036854775807; 0 increment one 3; "
     "0 increment absent 10; 0 try-get one -> 4; 0 try-get absent -> 10; bad = 0 increment text 1; "
     "bad -> FAILED_PRECONDITION; bad ~ 'text' ... decimal 64-bit integer; "
     "over = 0 increment max 1; over -> OUT_OF_RANGE; over ~ 'max' is 9223372036854775807 ... 1"},
    {"keys_need_no_task", 1,
     "observer o; o put k v -> OK; o get k -> v; o increment n 1 -> OK; o list -> OK; "
     "o remove-tree '' all -> OK"},
    {"keys_outlive_the_session_that_put_them", 1, "observer o; o put k v; bye o; 0 try-get k -> v"},
    {"a_waiting_get_ends_with_its_session", 1,
     "observer o; o get k; o get l; waiting-gets -> 2; cut o; waiting-gets -> 2; at 2s; "
     "waiting-gets -> 0"},
    {"a_task_can_wait_for_the_same_key_twice", 1,
     "one = 0 get k 60s; two = 0 get k 60s; 0 put k v; one -> v; two -> v"},
    {"a_value_put_at_the_deadline_counts", 2,
     "one = 0 get k 10s; at 10s-; sleep 1ns; 1 put k v; one -> v"},
};

BOOST_FIXTURE_TEST_CASE(a_value_read_by_many_gets_is_stored_once, job<3>) {
  auto const a = c.get(0, "k");
  auto const b = c.get(1, "k");
  c.put(2, "k", std::string(10'000, 'x'));

  BOOST_TEST(c.answer_to(a) == c.answer_to(b));
  BOOST_TEST(c.logic().memory()->used() < 12'000u);
}

BOOST_FIXTURE_TEST_CASE(a_delete_or_refused_put_wakes_no_waiter, job<2>) {
  auto const waits = c.get(0, "k");
  c.remove(1, "k");
  BOOST_TEST(c.after(c.put(1, std::string("k\0", 2), "v")).code(waits) == "waits");
}

BOOST_FIXTURE_TEST_CASE(equivalent_paths_are_the_same_key, job<1>) {
  auto const waits = c.get(0, "//a/b//");
  BOOST_TEST(c.after(c.put(0, "/a//b", "v")).value(waits) == "v");
  BOOST_TEST(c.value(c.try_get(0, "a/b")) == "v");
  BOOST_TEST(c.code(c.put(0, "a/b/", "w")) == "ALREADY_EXISTS");
  BOOST_TEST(keys(c.body<core::listing_answer>(c.list(0, "/a/"))) == "a/b=v");

  c.remove(0, "a//b");

  BOOST_TEST(c.code(c.try_get(0, "a/b")) == "NOT_FOUND");
}

BOOST_FIXTURE_TEST_CASE(a_key_is_a_non_empty_utf8_path, job<1>) {
  for (std::string const& bad : {std::string{}, std::string{"//"}, std::string("a\0b", 3),
                                 std::string{"\xff"}, std::string{"a/\xc0\x80"}}) {
    BOOST_TEST(c.code(c.put(0, bad, "v")) == "INVALID_ARGUMENT");
    BOOST_TEST(c.code(c.get(0, bad)) == "INVALID_ARGUMENT");
    BOOST_TEST(c.code(c.try_get(0, bad)) == "INVALID_ARGUMENT");
    BOOST_TEST(c.code(c.increment(0, bad, 1)) == "INVALID_ARGUMENT");
  }
  BOOST_TEST(c.code(c.list(0, "\xff")) == "INVALID_ARGUMENT");
  BOOST_TEST(c.code(c.remove(0, "\xff")) == "INVALID_ARGUMENT");
}

BOOST_AUTO_TEST_CASE(a_page_of_a_listing_fits_in_a_frame) {
  cluster c{1, {.value_bytes_max = 1000}};
  for (int i = 0; i < 70; ++i) c.put(0, "d/" + std::to_string(i), std::string(1000, 'x'));

  auto const listing = c.list(0, "d");

  // The limit is 64 KiB plus 1000 bytes; a key takes 1035 bytes.
  BOOST_TEST(c.body<core::listing_answer>(listing)->entries.size() == 64u);
  BOOST_TEST(c.body<core::listing_answer>(listing)->more);
}

BOOST_FIXTURE_TEST_CASE(remove_keeps_the_keys_below, job<1>) {
  for (auto const* const key : {"d", "d/a", "d/b/c"}) c.put(0, key, "v");

  auto const removed = c.remove(0, "/d/");
  auto const again = c.remove(0, "d");

  BOOST_TEST(c.body<core::removed_answer>(removed)->count == 1u);
  BOOST_TEST(c.body<core::removed_answer>(removed)->last == "");
  BOOST_TEST(c.code(again) == "OK");
  BOOST_TEST(c.body<core::removed_answer>(again)->count == 0u);
  BOOST_TEST(keys(c.body<core::listing_answer>(c.list(0, ""))) == "d/a=v d/b/c=v");
}

BOOST_FIXTURE_TEST_CASE(the_root_cannot_be_removed_as_a_key, job<1>) {
  c.put(0, "a", "1");
  for (auto const* const root : {"", "/"}) {
    BOOST_TEST(c.code(c.remove(0, root)) == "INVALID_ARGUMENT");
  }
  BOOST_TEST(c.look().keys == 1u);
}

BOOST_FIXTURE_TEST_CASE(removing_everything_needs_the_all_option, job<1>) {
  c.put(0, "a", "1");
  c.put(0, "b/c", "2");
  for (auto const* const root : {"", "/"}) {
    auto const careless = c.remove_tree(0, root);
    BOOST_TEST(c.code(careless) == "INVALID_ARGUMENT");
    expect_words(c.text(careless), {"all"});
  }
  BOOST_TEST(c.look().keys == 2u);

  auto const meant = c.remove_tree(0, "/", true);

  BOOST_TEST(c.body<core::removed_answer>(meant)->count == 2u);
  BOOST_TEST(c.look().keys == 0u);
}

BOOST_FIXTURE_TEST_CASE(key_versions_increase_with_every_change_of_any_key, job<1>) {
  c.put(0, "a", "1");
  c.put(0, "b", "1");
  auto const a1 = c.body<core::value_answer>(c.try_get(0, "a"))->version;
  auto const b1 = c.body<core::value_answer>(c.try_get(0, "b"))->version;
  c.put(0, "a", "1", true);
  auto const a2 = c.body<core::value_answer>(c.get(0, "a"))->version;

  BOOST_TEST(a1 < b1);
  BOOST_TEST(b1 < a2);
  BOOST_TEST(c.body<core::listing_answer>(c.list(0, ""))->entries[1].version == b1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
