// Gets of several keys at once: §7.1.

#include "coxswain/core/keyspace/joint_gets.hpp"

#include "tests/core/steps.hpp"

#include <algorithm>

namespace coxswain::test {
namespace {

BOOST_AUTO_TEST_SUITE(coordinator_get_all_test)

rows const cases{
    {"get_all_needs_all_values_at_the_same_time", 2,
     "both = 1 get-all 300s a b; 0 put a 1; 0 remove a; 0 put b 2; both -> waits; 0 put a 3; "
     "both -> a=3 b=2"},
    {"get_all_keeps_its_place_among_other_gets_of_a_key", 3,
     "2 get k; 0 get-all 300s k; 1 get k; 2 put k v; replies -> 2:OK 2:OK 0:OK 1:OK"},
    {"get_all_of_a_task_that_leaves_is_cancelled", 2,
     "waits = 0/0 get-all 300s a; 0 leaves; waits -> CANCELLED", config{.leave_barrier = false}},
    {"a_task_in_get_all_is_shown_as_waiting_for_a_key", 2,
     "1/1 get-all 300s address/0; barrier = 0 barrier b 1s; at 1s; "
     "barrier ~ waits for key 'address/0'"},
    {"get_all_ends_when_cancelled_or_with_its_session", 1,
     "observer o; one = 0 get-all 300s a b; o get-all 300s a b; waiting-gets -> 2; cancel one; "
     "bye o; waiting-gets -> 0; 0 put-all a=1 b=2; one -> waits"},
    {"get_all_is_executed_again_after_a_resume", 2,
     "waits = 0 get-all 300s a b; cut 0; 1 put-all a=1 b=2; 1 put b 3 overwrite; resume 0; "
     "waits -> a=1 b=3"},
};

BOOST_FIXTURE_TEST_CASE(get_all_returns_values_in_request_order, job<1>) {
  c.put_all(0, {{"a", "1"}, {"b", "2"}});

  auto const both = c.get_all(0, {"b", "/a/", "b"});

  BOOST_TEST(c.listing(both) == "b=2 a=1 b=2");
  BOOST_TEST(c.body<core::listing_answer>(both)->version == 2u);
  BOOST_TEST(c.body<core::listing_answer>(both)->entries[1].version == 1u);
  BOOST_TEST(c.listing(c.get_all(0, {})) == "");
}

// It only waits, so no reply can be too large.
BOOST_FIXTURE_TEST_CASE(get_all_without_values_has_an_empty_listing, job<1>) {
  c.put(0, "a", "1");
  core::get_all_args const both{{"a", "b"}, 60s, true};

  auto const waits = c.send(0, both, 60s);
  BOOST_TEST(c.code(waits) == "waits");
  c.put(0, "b", "2");

  BOOST_TEST(c.listing(waits) == "");
  BOOST_TEST(c.listing(c.send(0, both, 60s)) == "");
  auto const none = c.send(0, core::get_all_args{{"none"}, 1s, true}, 1s);
  BOOST_TEST(c.at(1s).code(none) == "DEADLINE_EXCEEDED");
}

BOOST_AUTO_TEST_CASE(get_all_waits_for_all_keys_in_any_order) {
  for (std::vector<std::string> const& order :
       {std::vector<std::string>{"a", "b", "c"}, {"c", "b", "a"}, {"b", "c", "a"}}) {
    cluster c{2};
    auto const all = c.get_all(1, {"a", "b", "c"});
    for (auto const& key : order) {
      BOOST_TEST(c.code(all) == "waits");
      c.put(0, key, key + key);
    }

    BOOST_TEST(c.listing(all) == "a=aa b=bb c=cc");
    BOOST_TEST(c.look().waiting_gets == 0u);
    c.remove_tree(0, "", true);
  }
}

BOOST_FIXTURE_TEST_CASE(get_all_timeout_names_and_counts_the_missing_keys, job<1>) {
  c.put(0, "b", "2");
  auto const all = c.get_all(0, {"a", "b", "c"}, 1s);

  BOOST_TEST(c.at(1s - 1ns).code(all) == "waits");
  BOOST_TEST(c.at(1s).code(all) == "DEADLINE_EXCEEDED");
  BOOST_TEST(c.text(all) == "not all keys got values within 1 s; missing: 2 of 3 keys: 'a', 'c'");
  BOOST_TEST(c.look().waiting_gets == 0u);
}

BOOST_FIXTURE_TEST_CASE(get_all_names_no_more_than_16_missing_keys, job<1>) {
  std::vector<std::string> keys;
  for (int i = 0; i < 40; ++i) keys.push_back("k/" + std::to_string(100 + i));
  auto const all = c.get_all(0, keys, 0s);
  expect_words(c.at(0s).text(all), {"40 of 40 keys", "'k/115' and 24 more"});
  BOOST_TEST(!contains(c.text(all), "k/116"));
}

BOOST_AUTO_TEST_CASE(get_all_ends_cancelled_when_the_job_fails_or_the_coordinator_stops) {
  cluster c{2};
  auto const waits = c.get_all(1, {"a", "b"});
  c.put(0, "a", "1");
  BOOST_TEST(c.task_ended(0, {errc::internal, "killed"}).code(waits) == "CANCELLED");
  BOOST_TEST(c.code(c.get_all(1, {"a", "b"})) == "CANCELLED");
  BOOST_TEST(c.listing(c.get_all(1, {"a"})) == "a=1");
  c.remove_tree(1, "", true);

  cluster d{1};
  auto const stopped = d.get_all(0, {"a"});
  d.stop();
  BOOST_TEST(d.code(stopped) == "CANCELLED");
}

BOOST_AUTO_TEST_CASE(get_all_has_limits) {
  cluster c{1, {.value_bytes_max = 100, .keys_per_call_max = 1000}};
  std::vector<core::put_all_args::entry> entries;
  std::vector<std::string> keys;
  for (int i = 0; i < 1000; ++i) {
    entries.push_back({std::to_string(i), std::string(100, 'v')});
    keys.push_back(std::to_string(i));
  }
  c.put_all(0, std::move(entries));

  auto const large = c.get_all(0, keys);

  BOOST_TEST(c.code(large) == "RESOURCE_EXHAUSTED");
  expect_words(c.text(large), {"1000 keys", "frame_bytes_max", "fewer"});
  keys.push_back("one more");
  auto const many = c.get_all(0, keys);
  BOOST_TEST(c.code(many) == "RESOURCE_EXHAUSTED");
  expect_words(c.text(many), {"1001 keys", "keys_per_call_max is 1000"});
  BOOST_TEST(c.code(c.get_all(0, {"a", ""})) == "INVALID_ARGUMENT");
}

BOOST_AUTO_TEST_CASE(the_keys_of_a_waiting_get_all_count_as_memory) {
  cluster c{1, {.memory_bytes_max = 1'000'000}};
  std::vector<std::string> const keys(500, std::string(40, 'k'));
  std::vector<call> open;
  while (c.code(open.emplace_back(c.get_all(0, keys))) == "waits") {
    BOOST_TEST_REQUIRE(open.size() < 10u);
  }

  BOOST_TEST(c.code(open.back()) == "RESOURCE_EXHAUSTED");
  BOOST_TEST(open.size() > 2u);
  open.pop_back();
  for (auto const& one : open) c.cancel(one);
  BOOST_TEST(c.logic().memory()->used() < 1'000u);
}

BOOST_AUTO_TEST_CASE(destruction_frees_the_memory_of_waiting_gets) {
  auto const memory = make_meter(1'000'000);
  {
    core::joint_gets all{memory};
    all.add({"a", "b"}, false);
    BOOST_TEST(memory->used() > 0u);
  }

  BOOST_TEST(memory->used() == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_get_all_of_ten_thousand_keys_put_in_order_is_cheap, job<1>) {
  c.check_less();
  std::vector<std::string> keys;
  for (int i = 0; i < 10'000; ++i) keys.push_back("k/" + std::to_string(i));
  auto const all = c.get_all(0, keys);
  for (auto const& key : keys) c.put(0, key, "v");
  BOOST_TEST(c.code(all) == "waits");
  BOOST_TEST(c.pass(0s).body<core::listing_answer>(all)->entries.size() == 10'000u);
}

// This many gets of 5,000 keys. The last two keys come late, so that the put of one of them makes a
// get check all others.
struct woken_gets {
  explicit woken_gets(int count) {
    c.check_less();
    std::vector<std::string> keys{"first", "last"};
    while (keys.size() < 5'000) keys.push_back("k/" + std::to_string(keys.size()));
    for (std::size_t i = 2; i < keys.size(); ++i) c.put(0, keys[i], "v");
    c.put(0, "first", "v");
    std::swap(keys[0], keys[1]);
    for (int i = 0; i < count; ++i) all.push_back(c.get_all(0, keys, 1h));
    c.put(0, "last", "v");
  }
  ~woken_gets() { c.remove_tree(0, "", true); }

  [[nodiscard]] std::ptrdiff_t waiting() {
    return std::count_if(all.begin(), all.end(), [&](call one) { return c.code(one) == "waits"; });
  }

  cluster c{1, {.page_entries_max = 10'000}};
  std::vector<call> all;
};

BOOST_AUTO_TEST_CASE(a_put_checks_a_bounded_number_of_keys_of_woken_get_alls) {
  woken_gets w{8};

  BOOST_TEST(w.waiting() == 8);
  for (int i = 0; i < 4; ++i) w.c.advance_once();
  BOOST_TEST(w.waiting() == 6);

  // All of them had found the removed key.
  w.c.remove(0, "last");
  BOOST_TEST(w.waiting() == 0);
}

BOOST_AUTO_TEST_CASE(a_removal_checks_a_bounded_number_of_keys_of_woken_get_alls) {
  woken_gets w{20};

  w.c.remove(0, "last");
  BOOST_TEST(w.waiting() == 13);  // each was checked twice
  w.c.pass(0s);
  BOOST_TEST(w.waiting() > 0);

  w.c.put(0, "last", "v");
  w.c.pass(0s);
  BOOST_TEST(w.waiting() == 0);
}

BOOST_AUTO_TEST_CASE(a_job_error_ends_get_alls_that_were_woken) {
  woken_gets w{20};
  w.c.cancel(w.all.back());
  w.all.pop_back();

  w.c.report_error(0, errc::internal, "broken");

  for (call const one : w.all) {
    BOOST_TEST((w.c.code(one) == "OK" || w.c.code(one) == "CANCELLED"), w.c.code(one));
  }
}

BOOST_FIXTURE_TEST_CASE(a_woken_get_all_may_end_before_it_is_checked, job<2>) {
  c.check_less();
  std::vector<std::string> keys{"last"};
  while (keys.size() < 1'000) keys.push_back("k/" + std::to_string(keys.size()));
  for (std::size_t i = 1; i < keys.size(); ++i) c.put(0, keys[i], "v");
  auto const cancelled = c.get_all(1, keys);
  auto const gone = c.get_all(1, keys);
  auto const stays = c.get_all(0, keys);

  c.put(0, "last", "v");
  BOOST_TEST(c.cancel(cancelled).cancel(gone).pass(0s).code(cancelled, stays) == "waits OK");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
