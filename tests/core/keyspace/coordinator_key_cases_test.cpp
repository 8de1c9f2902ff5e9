// Test cases of other key-value stores, each under its own name (3.40 to 3.42h). More of them are
// in coordinator_keys_test and kv_store_test.

#include "tests/core/cluster.hpp"

#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::test {
namespace {

struct key_case {
  char const* name;
  // Calls, which are made before any is looked at; `put!` overwrites, and each get waits 10 s.
  char const* calls;
  // Their results but for OK: values, listings, removed keys, sums, codes.
  char const* results;
};

constexpr key_case cases[] = {
    {"insert_key_value_duplicate_fail", "put k first, put k never, get k", "ALREADY_EXISTS first"},
    {"insert_key_value_duplicate_overwrite", "put k first, put! k second, get k", "second"},
    {"explicit_constructor_allow_overwrite_true_is_a_put_that_overwrites",
     "put! k 1, put! k 2, get k", "2"},
    {"explicit_constructor_allow_overwrite_false_is_a_put_without_overwrite", "put k 1, put k 1",
     "ALREADY_EXISTS"},
    {"key_value_set_duplicate_fails_and_the_first_value_stays", "put k 1, put k 2, try k",
     "ALREADY_EXISTS 1"},
    {"key_value_set_duplicate_overwrites", "put k 1, put! k 2, try k", "2"},
    {"overwriting_insert_succeeds", "put a 1, put! a 2, try a", "2"},
    {"overwriting_insert_fails_without_overwrite_even_for_an_equal_value",
     "put a 1, put a 2, put a 1, try a", "ALREADY_EXISTS ALREADY_EXISTS 1"},

    {"try_get_key_value", "try k, put k v, try k, rm k, try k", "NOT_FOUND v 1 NOT_FOUND"},
    {"try_get_key_value_simple_success_and_try_get_existing_key", "put k v, try k", "v"},
    {"try_get_missing_key", "put k/below v, try k", "NOT_FOUND"},
    {"key_value_try_get", "try a/k, put a/k v, try a/k, rm a/k, try a/k",
     "NOT_FOUND v 1 NOT_FOUND"},
    {"get_existing_key_and_get_missing_key", "put a 1, try a, try b", "1 NOT_FOUND"},

    {"get_key_value_simple_success", "put k v, get k", "v"},
    {"get_key_value_with_timeout_success", "put k v, get k", "v"},
    {"get_missing_key_timeout_is_deadline_exceeded_where_upstream_says_not_found", "get k",
     "DEADLINE_EXCEEDED"},
    {"get_blocks_until_key_set", "get k, put k v", "v"},
    {"async_key_value_get_completes_with_the_set_after_it", "get k, put k v", "v"},
    {"async_get_existing_key_and_add_key_then_callback_answer_at_once", "put k v, get k", "v"},
    {"async_get_before_set_and_add_callback_and_then_key_answer_with_the_put", "get k, put k v",
     "v"},
    {"async_get_multiple_callbacks_same_key", "get k, get k, get k, put k v", "v v v"},
    {"async_get_multiple_keys", "get one, get two, put two 2, put one 1", "1 2"},

    {"key_value_dir_get", "put d/s/1 1, put d/s/2 2, put d/3 3, put dd 4, put d_other/5 5, list d/",
     "d/3=3 d/s/1=1 d/s/2=2"},
    {"get_key_value_dir_simple_success", "put d/a v, put d/b v, list d", "d/a=v d/b=v"},
    {"get_key_value_dir_single_value_in_directory_and_multiple_values",
     "put d/p 1, list d, put d/p2 2, put d/s/p 3, list d", "d/p=1 d/p=1 d/p2=2 d/s/p=3"},
    {"get_key_value_dir_multiple_values_in_directory", "put d/s/p v, put d/p v, put d/p2 v, list d",
     "d/p=v d/p2=v d/s/p=v"},
    {"get_key_value_dir_empty_returns_empty_list", "list d", "nothing"},
    {"get_key_value_dir_wrong_dir_returns_empty_list", "put d0/p v, list d", "nothing"},
    {"get_key_value_dir_wrong_dir_prefix_returns_empty_list", "put wrong/d/p v, list d", "nothing"},
    {"get_key_value_dir_non_directory_prefix_returns_empty_list", "put d_key v, list d", "nothing"},
    {"get_key_value_dir_non_directory_key_returns_empty_list", "put d v, list d", "nothing"},
    {"get_key_value_dir_empty_wrong_dir_wrong_dir_prefix_non_directory_prefix_and_key_list_nothing",
     "put d0/p v, put wrong/d/p v, put d_key v, put d v, list d", "nothing"},
    {"the_root_can_be_listed_where_upstream_lists_nothing", "put b 2, put a/x 1, list /, list //",
     "a/x=1 b=2 a/x=1 b=2"},
    {"get_prefix_no_match_lists_nothing", "put a v, list b", "nothing"},
    {"get_prefix_exact_match_is_not_below_itself_replaced_by_row_3_42d",
     "put b v, put bb v, put bbb v, list b", "nothing"},
    {"get_prefix_no_exact_match_lists_below_a_directory_that_is_not_a_key",
     "put d/1 v, put d/2/3 v, put e v, list d", "d/1=v d/2/3=v"},
    {"get_prefix_with_directory_format",
     "put b/3/5 v, put b/1 v, put b/3/4 v, put a/9 v, put c/0 v, put b v, put b0 v, put b. v, "
     "list b, list b/3, list /",
     "b/1=v b/3/4=v b/3/5=v b/3/4=v b/3/5=v a/9=v b=v b.=v b/1=v b/3/4=v b/3/5=v b0=v c/0=v"},

    {"delete_key_value_and_delete_existing_key",
     "put gone 1, put kept 2, rm gone, get gone, get kept", "1 DEADLINE_EXCEEDED 2"},
    {"key_value_delete", "put gone 1, put kept 2, rm gone, try gone, get kept, rm gone",
     "1 NOT_FOUND 2 0"},
    {"delete_key_and_delete_missing_key", "put a 1, rm a, try a, rm a", "1 NOT_FOUND 0"},
    {"delete_missing_key_is_ok", "rm k", "0"},
    {"delete_key_value_directory", "put d/1 v, put d/s/2 v, rm-r d/, list d/", "2 nothing"},
    {"key_value_delete_directory",
     "put d v, put d/1 v, put d/s/2 v, put d_other/k v, rm-r d/, list /", "3 d_other/k=v"},
    {"delete_directory_deletes_prefix_but_no_longer_sibling_names",
     "put d v, put d/a v, put d/b/c v, put d_other/k v, rm-r d, list /", "3 d_other/k=v"},
    {"delete_prefix_exact_match_removes_the_key_itself", "put b v, put b/1 v, rm-r b", "2"},
    {"delete_prefix_no_exact_match_removes_the_keys_below", "put b/1 v, put bb v, rm-r b", "1"},
    {"delete_prefix_no_match_exact_match_and_no_exact_match",
     "put d v, put d/1 v, put d.o v, put d0 v, put dt/1 v, rm-r none, rm-r d, rm-r dtt, list /",
     "0 2 0 d.o=v d0=v dt/1=v"},

    {"increment_key_value_simple_success", "add n 3", "3"},
    {"key_value_increment", "put n 10, add n 1, try n", "11 11"},
    {"increment_by_positive_value_succeeds", "put n 3, add n 2, try n", "5 5"},
    {"increment_by_negative_value_succeeds", "put n 3, add n -5, try n", "-2 -2"},
    {"increment_by_without_existing_value_succeeds", "add n 2, add zero 0, try zero", "2 0 0"},
    {"increments_have_64_bits_where_upstream_has_32",
     "add n 2147483647, add n 1, add n 9223372034707292159",
     "2147483647 2147483648 9223372036854775807"},
    // Sharp edge 32: an increment can add to the result of the last one.
    {"a_counter_continues_beyond_32_bits", "add n 2147483647, add n 1, add n 1",
     "2147483647 2147483648 2147483649"},
};

call make(cluster& c, std::string const& what, std::string const& key, std::string const& value) {
  if (what == "get") return c.get(0, key, 10s);
  if (what == "try") return c.try_get(0, key);
  if (what == "list") return c.list(0, key);
  if (what == "rm") return c.remove(0, key);
  if (what == "rm-r") return c.remove_tree(0, key);
  if (what == "add") return c.increment(0, key, std::stoll(value));
  return c.put(0, key, value, what == "put!");
}

std::string result(cluster& c, std::string const& what, call made) {
  if (what == "get" || what == "try") return c.value(made);
  auto const* const removed = c.body<core::removed_answer>(made);
  auto const* const sum = c.body<core::counter_answer>(made);
  if (removed) return std::to_string(removed->count);
  if (sum) return std::to_string(sum->value);
  if (what != "list") return c.code(made);
  return c.listing(made).empty() ? "nothing" : c.listing(made);
}

void run(key_case const& one) {
  cluster c{1};
  std::vector<std::pair<std::string, call>> made;
  std::istringstream calls{one.calls};
  for (std::string text; std::getline(calls >> std::ws, text, ',');) {
    std::istringstream words{text};
    std::string what;
    std::string key;
    std::string value;
    words >> what >> key >> value;
    made.emplace_back(what, make(c, what, key, value));
  }
  c.at(10s);
  std::string all;
  for (auto const& [what, sent] : made) {
    auto const text = result(c, what, sent);
    if (text != "OK") all += (all.empty() ? "" : " ") + text;
  }
  BOOST_TEST(all == one.results);
}

BOOST_AUTO_TEST_SUITE(coordinator_key_cases_test)

bool const are_registered = [] {
  using namespace boost::unit_test;
  for (auto const& one : cases) {
    framework::current_auto_test_suite().add(
        make_test_case([&one] { run(one); }, one.name, __FILE__, __LINE__));
  }
  return true;
}();

BOOST_AUTO_TEST_CASE(default_constructor_allows_overwrite_upstream_but_a_put_does_not_by_default) {
  BOOST_TEST(!core::put_args{}.overwrite);
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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
