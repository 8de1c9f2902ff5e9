// Test cases of other key-value stores, each under its own name (3.40 to 3.42h). More of them are
// in coordinator_keys_test and kv_store_test.

#include "tests/core/cluster.hpp"

namespace coxswain::test {
namespace {

// The keys below "dir" in a job of one task that has put these keys.
std::string dir_with(std::vector<std::string> const& keys) {
  cluster c{1};
  for (auto const& key : keys) c.put(0, key, "v");
  auto const listing = c.list(0, "dir");
  auto found = c.code(listing) + ":" + c.listing(listing);
  c.remove_tree(0, "", true);
  return found;
}

BOOST_AUTO_TEST_SUITE(coordinator_key_cases_test)

BOOST_FIXTURE_TEST_CASE(insert_key_value_duplicate_fail, job<1>) {
  c.put(0, "test_key", "original");

  BOOST_TEST(c.code(c.put(0, "test_key", "never_added")) == "ALREADY_EXISTS");
  BOOST_TEST(c.value(c.get(0, "test_key")) == "original");
}

BOOST_FIXTURE_TEST_CASE(insert_key_value_duplicate_overwrite, job<1>) {
  c.put(0, "test_key", "original");

  BOOST_TEST(c.code(c.put(0, "test_key", "overwritten", true)) == "OK");
  BOOST_TEST(c.value(c.get(0, "test_key")) == "overwritten");
}

BOOST_AUTO_TEST_CASE(default_constructor_allows_overwrite_upstream_but_a_put_does_not_by_default) {
  BOOST_TEST(!core::put_args{}.overwrite);
}

BOOST_AUTO_TEST_CASE(explicit_constructor_allow_overwrite_true_is_a_put_that_overwrites) {
  cluster c{1};
  c.put(0, "k", "1", true);
  BOOST_TEST(c.code(c.put(0, "k", "2", true)) == "OK");
  BOOST_TEST(c.value(c.get(0, "k")) == "2");
}

BOOST_FIXTURE_TEST_CASE(explicit_constructor_allow_overwrite_false_is_a_put_without_overwrite,
                        job<1>) {
  c.put(0, "k", "1");
  BOOST_TEST(c.code(c.put(0, "k", "1")) == "ALREADY_EXISTS");
}

BOOST_FIXTURE_TEST_CASE(try_get_key_value, job<1>) {
  BOOST_TEST(c.code(c.try_get(0, "k")) == "NOT_FOUND");
  c.put(0, "k", "v");
  BOOST_TEST(c.value(c.try_get(0, "k")) == "v");
  c.remove(0, "k");
  BOOST_TEST(c.code(c.try_get(0, "k")) == "NOT_FOUND");
}

BOOST_FIXTURE_TEST_CASE(try_get_key_value_simple_success_and_try_get_existing_key, job<1>) {
  c.put(0, "k", "v");

  BOOST_TEST(c.value(c.try_get(0, "k")) == "v");
}

BOOST_FIXTURE_TEST_CASE(try_get_missing_key, job<1>) {
  c.put(0, "k/below", "v");

  BOOST_TEST(c.code(c.try_get(0, "k")) == "NOT_FOUND");
}

BOOST_FIXTURE_TEST_CASE(get_key_value_with_timeout_success, job<1>) {
  c.put(0, "k", "v");

  BOOST_TEST(c.value(c.get(0, "k", 10s)) == "v");
  BOOST_TEST(c.at(20s).replies() == "0:OK 0:OK");
}

BOOST_AUTO_TEST_CASE(get_missing_key_timeout_is_deadline_exceeded_where_upstream_says_not_found) {
  cluster c{1};
  auto const missing = c.get(0, "k", 50ms);
  BOOST_TEST(c.at(50ms).code(missing) == "DEADLINE_EXCEEDED");
}

BOOST_FIXTURE_TEST_CASE(get_blocks_until_key_set, job<2>) {
  auto const blocked = c.get(0, "k", 10s);
  BOOST_TEST(c.at(50ms).code(blocked) == "waits");
  BOOST_TEST(c.after(c.put(1, "k", "v")).value(blocked) == "v");
}

BOOST_FIXTURE_TEST_CASE(async_get_existing_key_and_add_key_then_callback_answer_at_once, job<1>) {
  c.put(0, "k", "v");
  c.replies();

  BOOST_TEST(c.after(c.get(0, "k", without_limit)).replies() == "0:OK");
}

BOOST_AUTO_TEST_CASE(async_get_before_set_and_add_callback_and_then_key_answer_with_the_put) {
  cluster c{1};
  auto const before = c.get(0, "k", without_limit);
  BOOST_TEST(c.replies() == "");
  BOOST_TEST(c.after(c.put(0, "k", "v")).value(before) == "v");
}

BOOST_FIXTURE_TEST_CASE(async_get_multiple_callbacks_same_key, job<1>) {
  std::vector<call> const three{c.get(0, "k"), c.get(0, "k"), c.get(0, "k")};
  c.put(0, "k", "v");

  for (auto const& one : three) BOOST_TEST(c.value(one) == "v");
}

BOOST_FIXTURE_TEST_CASE(async_get_multiple_keys, job<1>) {
  auto const one = c.get(0, "one");
  auto const two = c.get(0, "two");
  BOOST_TEST(c.after(c.put(0, "two", "2")).code(one) == "waits");
  BOOST_TEST(c.value(two) == "2");

  BOOST_TEST(c.after(c.put(0, "one", "1")).value(one) == "1");
}

BOOST_FIXTURE_TEST_CASE(async_get_cancel_after_completion_is_noop, job<1>) {
  c.put(0, "k", "v");
  auto const done = c.get(0, "k");
  core::client_message cancel{.what = core::cancel_args{done.id}};
  c.replies();

  BOOST_TEST(c.say(c[0].connection, cancel).replies() == "");
  BOOST_TEST(c.value(done) == "v");
  BOOST_TEST(c.goodbye(0) == "none");
}

BOOST_FIXTURE_TEST_CASE(async_get_cancelled_on_store_destruction, job<1>) {
  auto const one = c.get(0, "k", without_limit);
  BOOST_TEST(c.stop().code(one) == "CANCELLED");
}

BOOST_AUTO_TEST_CASE(get_key_value_dir_simple_success) {
  BOOST_TEST(dir_with({"dir/a", "dir/b"}) == "OK:dir/a=v dir/b=v");
}

BOOST_AUTO_TEST_CASE(get_key_value_dir_multiple_values_in_directory) {
  BOOST_TEST(dir_with({"dir/sub_dir/path", "dir/path", "dir/path2"}) ==
             "OK:dir/path=v dir/path2=v dir/sub_dir/path=v");
}

BOOST_AUTO_TEST_CASE(get_key_value_dir_empty_returns_empty_list) {
  BOOST_TEST(dir_with({}) == "OK:");
}

BOOST_AUTO_TEST_CASE(get_key_value_dir_wrong_dir_returns_empty_list) {
  BOOST_TEST(dir_with({"dir0/path"}) == "OK:");
}

BOOST_AUTO_TEST_CASE(get_key_value_dir_wrong_dir_prefix_returns_empty_list) {
  BOOST_TEST(dir_with({"wrong_dir/dir/path"}) == "OK:");
}

BOOST_AUTO_TEST_CASE(get_key_value_dir_non_directory_prefix_returns_empty_list) {
  BOOST_TEST(dir_with({"dir_key"}) == "OK:");
}

BOOST_AUTO_TEST_CASE(get_key_value_dir_non_directory_key_returns_empty_list) {
  BOOST_TEST(dir_with({"dir"}) == "OK:");
}

BOOST_AUTO_TEST_CASE(get_prefix_no_exact_match_lists_below_a_directory_that_is_not_a_key) {
  BOOST_TEST(dir_with({"dir/1", "dir/2/3", "dis"}) == "OK:dir/1=v dir/2/3=v");
}

BOOST_FIXTURE_TEST_CASE(delete_key_value_and_delete_existing_key, job<1>) {
  c.put(0, "gone", "1");
  c.put(0, "kept", "2");
  c.remove(0, "gone");
  auto const missing = c.get(0, "gone", 200ms);
  BOOST_TEST(c.at(200ms).code(missing) == "DEADLINE_EXCEEDED");
  BOOST_TEST(c.value(c.get(0, "kept")) == "2");
}

BOOST_FIXTURE_TEST_CASE(delete_missing_key_is_ok, job<1>) {
  auto const nothing = c.remove(0, "k");

  BOOST_TEST(c.code(nothing) == "OK");
  BOOST_TEST(c.body<core::removed_answer>(nothing)->count == 0u);
}

BOOST_FIXTURE_TEST_CASE(delete_key_value_directory, job<1>) {
  for (auto const* const key : {"test_dir/1", "test_dir/sub_dir/2"}) c.put(0, key, "v");
  c.remove_tree(0, "test_dir/");

  BOOST_TEST(c.listing(c.list(0, "test_dir/")) == "");
}

BOOST_FIXTURE_TEST_CASE(delete_directory_deletes_prefix_but_no_longer_sibling_names, job<1>) {
  for (auto const* const key : {"test_dir", "test_dir/a", "test_dir/b/c", "test_dir_other/key"}) {
    c.put(0, key, "v");
  }
  c.remove_tree(0, "test_dir");

  BOOST_TEST(c.listing(c.list(0, "")) == "test_dir_other/key=v");
}

BOOST_FIXTURE_TEST_CASE(delete_prefix_exact_match_removes_the_key_itself, job<1>) {
  c.put(0, "b", "v");
  c.put(0, "b/1", "v");
  BOOST_TEST(c.body<core::removed_answer>(c.remove_tree(0, "b"))->count == 2u);
}

BOOST_FIXTURE_TEST_CASE(delete_prefix_no_exact_match_removes_the_keys_below, job<1>) {
  c.put(0, "b/1", "v");
  c.put(0, "bb", "v");
  BOOST_TEST(c.body<core::removed_answer>(c.remove_tree(0, "b"))->count == 1u);
}

BOOST_FIXTURE_TEST_CASE(increment_key_value_simple_success, job<1>) {
  auto const sum = c.increment(0, "n", 3);

  BOOST_TEST(c.body<core::counter_answer>(sum)->value == 3);
}

// Sharp edge 32: an increment can add to the result of the last one.
BOOST_FIXTURE_TEST_CASE(a_counter_continues_beyond_32_bits, job<1>) {
  c.increment(0, "n", 2'147'483'647);
  c.increment(0, "n", 1);
  auto const sum = c.increment(0, "n", 1);

  BOOST_TEST(c.body<core::counter_answer>(sum)->value == 2'147'483'649);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
