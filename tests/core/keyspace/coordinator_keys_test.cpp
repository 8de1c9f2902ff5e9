// Keys: §7.1, and §7.3.1 to 3.42e.

#include "tests/core/cluster.hpp"

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

BOOST_FIXTURE_TEST_CASE(get_key_value_timeout_return_error, job<1>) {
  c.at(3s);
  auto const one = c.get(0, "the/key", 1s);

  BOOST_TEST(c.at(4s - 1ns).code(one) == "waits");
  BOOST_TEST(c.at(4s).code(one) == "DEADLINE_EXCEEDED");
  expect_words(c.text(one), {"'the/key'", "1 s"});
  BOOST_TEST(c.look().waiting_gets == 0u);
}

BOOST_FIXTURE_TEST_CASE(get_key_value_delayed_response_before_timeout_success, job<2>) {
  auto const one = c.get(0, "k", 10s);
  c.at(5s);
  BOOST_TEST(c.after(c.put(1, "k", "v")).value(one) == "v");

  c.at(20s);
}

BOOST_FIXTURE_TEST_CASE(a_value_put_at_the_deadline_counts, job<2>) {
  auto const one = c.get(0, "k", 10s);
  c.at(10s - 1ns).sleep_without_advance(1ns);
  BOOST_TEST(c.after(c.put(1, "k", "v")).value(one) == "v");
}

BOOST_FIXTURE_TEST_CASE(a_get_with_timeout_zero_is_answered_in_the_same_iteration, job<1>) {
  auto const one = c.get(0, "k", 0s);
  BOOST_TEST(c.at(0s).code(one) == "DEADLINE_EXCEEDED");
}

BOOST_FIXTURE_TEST_CASE(a_get_without_timeout_keeps_waiting, job<2>) {
  auto const one = c.get(0, "k", without_limit);
  BOOST_TEST(c.at(2h).code(one) == "waits");

  BOOST_TEST(c.after(c.put(1, "k", "v")).value(one) == "v");
}

BOOST_FIXTURE_TEST_CASE(cancel_get_key_value_success, job<1>) {
  auto const one = c.get(0, "k");
  BOOST_TEST(c.cancel(one).look().waiting_gets == 0u);

  BOOST_TEST(c.after(c.put(0, "k", "v")).code(one) == "waits");
  BOOST_TEST(c.replies() == "0:OK");
}

BOOST_FIXTURE_TEST_CASE(set_overwrite_and_increment_wake_all_waiters_in_order, job<3>) {
  c.get(2, "k");
  c.get(0, "k");
  c.get(1, "k");
  BOOST_TEST(c.after(c.put(0, "k", "1")).replies() == "0:OK 2:OK 0:OK 1:OK");

  auto const on_counter = c.get(1, "n");
  BOOST_TEST(c.after(c.increment(0, "n", 5)).value(on_counter) == "5");
}

BOOST_FIXTURE_TEST_CASE(a_value_read_by_many_gets_is_stored_once, job<3>) {
  auto const a = c.get(0, "k");
  auto const b = c.get(1, "k");
  c.put(2, "k", std::string(10'000, 'x'));

  BOOST_TEST(c.answer_to(a) == c.answer_to(b));
  BOOST_TEST(c.logic().memory()->used() < 12'000u);
}

BOOST_FIXTURE_TEST_CASE(only_waiters_of_that_key_are_woken, job<2>) {
  auto const other = c.get(0, "k/1");
  auto const parent = c.get(0, "k");
  BOOST_TEST(c.after(c.put(1, "k2", "v")).code(other) == "waits");
  BOOST_TEST(c.code(parent) == "waits");
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

BOOST_FIXTURE_TEST_CASE(increment_key_value, job<1>) {
  c.put(0, "one", "1");
  c.put(0, "text", "abc");
  c.put(0, "max", "9223372036854775807");

  c.increment(0, "one", 3);
  c.increment(0, "absent", 10);

  BOOST_TEST(c.value(c.try_get(0, "one")) == "4");
  BOOST_TEST(c.value(c.try_get(0, "absent")) == "10");
  auto const bad = c.increment(0, "text", 1);
  BOOST_TEST(c.code(bad) == "FAILED_PRECONDITION");
  expect_words(c.text(bad), {"'text'", "decimal 64-bit integer"});
  auto const over = c.increment(0, "max", 1);
  BOOST_TEST(c.code(over) == "OUT_OF_RANGE");
  expect_words(c.text(over), {"'max' is 9223372036854775807", "1"});
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

BOOST_FIXTURE_TEST_CASE(keys_need_no_task, job<1>) {
  int const o = c.observer();

  BOOST_TEST(c.code(c.put(o, "k", "v")) == "OK");
  BOOST_TEST(c.value(c.get(o, "k")) == "v");
  BOOST_TEST(c.code(c.increment(o, "n", 1)) == "OK");
  BOOST_TEST(c.code(c.list(o, "")) == "OK");
  BOOST_TEST(c.code(c.remove_tree(o, "", true)) == "OK");
}

BOOST_FIXTURE_TEST_CASE(keys_outlive_the_session_that_put_them, job<1>) {
  int const o = c.observer();
  c.put(o, "k", "v");
  c.bye(o);

  BOOST_TEST(c.value(c.try_get(0, "k")) == "v");
}

BOOST_FIXTURE_TEST_CASE(a_waiting_get_ends_with_its_session, job<1>) {
  int const o = c.observer();
  c.get(o, "k");
  BOOST_TEST(c.after(c.get(o, "l")).look().waiting_gets == 2u);
  BOOST_TEST(c.lose(o).look().waiting_gets == 2u);

  BOOST_TEST(c.at(2s).look().waiting_gets == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_task_can_wait_for_the_same_key_twice, job<1>) {
  auto const one = c.get(0, "k", 60s);
  auto const two = c.get(0, "k", 60s);
  BOOST_TEST(c.after(c.put(0, "k", "v")).value(one) == "v");
  BOOST_TEST(c.value(two) == "v");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
