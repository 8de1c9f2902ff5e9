#include "coxswain/core/keyspace/kv_store.hpp"
#include "coxswain/core/model/reasons.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace coxswain::core {
namespace {

struct store {
  meter_ptr memory = make_meter(1'000'000);
  kv_store keys{memory, change_log::limits{0, 0}};

  std::string put(std::string const& key, std::string value, bool overwrite = false) {
    auto const stored = keys.put(key, std::move(value), overwrite);
    return stored ? "OK" : std::string{name(stored.error().code())};
  }
  std::string value(std::string const& key) {
    auto const* const e = keys.find(key);
    return e ? std::string{e->value.view()} : "nothing";
  }
  std::string list(std::string const& directory) {
    std::string all;
    keys.list(directory, [&](std::string const& key, kv_store::entry const&) {
      all += (all.empty() ? "" : " ") + key;
      return true;
    });
    return all;
  }
  std::uint64_t remove_tree(std::string const& directory) {
    return keys.remove_tree(directory, "", 1000).count;
  }
  std::string add(std::string const& key, std::int64_t by) {
    auto const sum = keys.increment(key, by);
    return sum ? std::to_string(sum->value) : std::string{name(sum.error().code())};
  }
};

std::string normal(std::string_view key) {
  std::string path{key};
  status const why = normalise_key(path, 100);
  return why.ok() ? path : std::string{name(why.code())};
}

BOOST_AUTO_TEST_SUITE(kv_store_test)

BOOST_AUTO_TEST_CASE(normalize_key) {
  BOOST_TEST(normal("foo") == "foo");
  BOOST_TEST(normal("/foo/bar/") == "foo/bar");
  BOOST_TEST(normal("/a//b/") == "a/b");
  BOOST_TEST(normal("a///b") == "a/b");
  BOOST_TEST(normal("/") == "");
  BOOST_TEST(normal("") == "");
  BOOST_TEST(normal("////") == "");
  BOOST_TEST(normal("[op=save] step:7 .x") == "[op=save] step:7 .x");
}

BOOST_AUTO_TEST_CASE(a_nul_byte_in_a_key_is_invalid_where_upstream_cuts_the_key) {
  BOOST_TEST(normal(std::string_view{"a\0b", 3}) == "INVALID_ARGUMENT");
  BOOST_TEST(normal(std::string_view{"\0", 1}) == "INVALID_ARGUMENT");
}

// §16.1: above a limit the code is RESOURCE_EXHAUSTED with the limit's name and value. The length
// of the normalized key counts, as in the client.
BOOST_AUTO_TEST_CASE(a_key_above_the_limit_is_refused_and_the_limit_named) {
  BOOST_TEST(normal(std::string(100, 'k')) == std::string(100, 'k'));
  BOOST_TEST(normal("/" + std::string(100, 'k') + "//") == std::string(100, 'k'));

  std::string key(101, 'k');
  status const refused = normalise_key(key, 100);

  BOOST_TEST(refused == fail<&reasons::too_long>("key", 101, "key_bytes_max", 100));
}

BOOST_AUTO_TEST_CASE(a_listing_stops_when_its_visitor_returns_false) {
  store s;
  s.put("d/1", "");
  s.put("d/2", "");
  int visits = 0;

  s.keys.list("d", [&](std::string const&, kv_store::entry const&) { return ++visits < 1; });

  BOOST_TEST(visits == 1);
}

BOOST_AUTO_TEST_CASE(a_removal_stops_at_its_key_limit_and_continues_after_it) {
  store s;
  for (auto const* const key : {"d", "d/1", "d/2", "d/3", "d/4", "d0"}) s.put(key, "");

  auto const first = s.keys.remove_tree("d", "", 2);
  BOOST_TEST(first.count == 3u);
  BOOST_TEST(first.last == "d/2");
  BOOST_TEST(s.list("") == "d/3 d/4 d0");

  // Keys put behind the removal's position stay, including the directory's own key.
  s.put("d", "");
  s.put("d/1", "");
  auto const second = s.keys.remove_tree("d", first.last, 2);
  BOOST_TEST(second.count == 2u);
  BOOST_TEST(second.last == "");
  BOOST_TEST(s.list("") == "d d/1 d0");

  auto const root = s.keys.remove_tree("", "", 1);
  BOOST_TEST(root.last == "d");
  BOOST_TEST(s.keys.remove_tree("", root.last, 2).last == "");
  BOOST_TEST(s.keys.size() == 0u);
}

BOOST_AUTO_TEST_CASE(increment_by_with_invalid_value_fails) {
  store s;
  for (auto const* const bad : {"", "abc", "1x", " 1", "1 ", "+1", "0x1", "1.5", "-",
                                "9223372036854775808", "-9223372036854775809"}) {
    s.put("n", bad, true);
    BOOST_TEST(s.add("n", 1) == "FAILED_PRECONDITION", "added to '" << bad << "'");
    BOOST_TEST(s.value("n") == bad);
  }
}

BOOST_AUTO_TEST_CASE(an_overflow_is_out_of_range_and_changes_nothing) {
  store s;
  s.put("high", "9223372036854775807");
  s.put("low", "-9223372036854775808");

  BOOST_TEST(s.add("high", 1) == "OUT_OF_RANGE");
  BOOST_TEST(s.add("low", -1) == "OUT_OF_RANGE");
  BOOST_TEST(s.add("low", std::numeric_limits<std::int64_t>::min()) == "OUT_OF_RANGE");
  BOOST_TEST(s.value("high") == "9223372036854775807");
  BOOST_TEST(s.add("high", std::numeric_limits<std::int64_t>::min()) == "-1");
}

BOOST_AUTO_TEST_CASE(only_stored_keys_and_values_are_counted) {
  store s;
  s.put("a", std::string(1000, 'x'));
  auto const one = s.memory->used();
  BOOST_TEST(one > 1000u);
  BOOST_TEST(s.keys.bytes_stored() == 1000u);

  s.put("a", std::string(10, 'x'), true);
  BOOST_TEST(s.memory->used() == one - 990);
  BOOST_TEST(s.keys.bytes_stored() == 10u);
  s.put("b/c", "y");
  s.keys.remove("a");
  s.keys.remove("b/c");

  BOOST_TEST(s.memory->used() == 0u);
  BOOST_TEST(s.keys.bytes_stored() == 0u);
}

BOOST_AUTO_TEST_CASE(destroying_the_store_frees_its_memory) {
  auto const memory = make_meter(1'000'000);
  {
    kv_store keys{memory};
    BOOST_TEST(keys.put("a", "1", false).has_value());
    BOOST_TEST(keys.put("b", "2", false).has_value());
  }

  BOOST_TEST(memory->used() == 0u);
}

BOOST_AUTO_TEST_CASE(a_removed_value_is_counted_while_referenced) {
  store s;
  s.put("a", std::string(1000, 'x'));
  auto held = s.keys.find("a")->value;
  s.keys.remove("a");
  BOOST_TEST(s.memory->used() == 1000u);

  held = {};

  BOOST_TEST(s.memory->used() == 0u);
}

BOOST_AUTO_TEST_CASE(a_full_store_refuses_values_names_the_limit_and_changes_nothing) {
  store s;
  s.put("old", "1");
  BOOST_TEST(s.put("a", std::string(650'000, 'x')) == "OK");
  auto const used = s.memory->used();

  auto const refused = s.keys.put("b", std::string(100'000, 'y'), false);

  BOOST_TEST(states(refused.error(), &reasons::no_room_for_value));
  BOOST_TEST(s.put("old", std::string(100'000, 'y'), true) == "RESOURCE_EXHAUSTED");
  BOOST_TEST(s.value("old") == "1");
  BOOST_TEST(s.memory->used() == used);
}

BOOST_AUTO_TEST_CASE(a_full_store_refuses_append_and_increment) {
  store s;
  s.put("text", "1");
  while (s.put("k" + std::to_string(s.keys.size()), std::string(1'000, 'x')) == "OK") continue;
  auto const used = s.memory->used();

  auto const appended = s.keys.append("text", std::string(1'000, 'y'));
  auto const counted = s.keys.increment(std::string(1'000, 'n'), 1);

  BOOST_TEST(appended.error().code() == errc::resource_exhausted);
  BOOST_TEST(counted.error().code() == errc::resource_exhausted);
  BOOST_TEST(s.value("text") == "1");
  BOOST_TEST(s.memory->used() == used);
}

BOOST_AUTO_TEST_CASE(no_change_is_dropped_for_a_value_that_cannot_fit_anyway) {
  auto const memory = make_meter(1'000'000);
  kv_store keys{memory, change_log::limits{10, 1'000}};
  BOOST_TEST(keys.put("k", "1", false).has_value());
  memory->add(2'000'000);

  BOOST_TEST((keys.put("k", "2", true).error().code() == errc::resource_exhausted));

  BOOST_TEST(keys.changes().remembers(0));
  memory->subtract(2'000'000);
}

BOOST_AUTO_TEST_CASE(values_leave_a_sixteenth_of_the_core_memory_free) {
  store s;
  std::size_t stored = 0;
  while (s.put("k" + std::to_string(stored), std::string(10'000, 'x')) == "OK") ++stored;

  BOOST_TEST(s.memory->used() <= 750'000u - 750'000u / 16);
  BOOST_TEST(s.memory->used() > 690'000u);
}

BOOST_AUTO_TEST_CASE(a_refusal_names_the_key_as_jax_expects_it) {
  store s;
  s.put("some/key", "1");

  auto const refused = s.keys.put("some/key", "2", false);

  BOOST_TEST(refused.error().text() == "ALREADY_EXISTS: key some/key already exists");
}

// §2.2: a reply kept for a resume has at most 1 KiB.
BOOST_AUTO_TEST_CASE(a_refusal_shortens_a_long_key) {
  store s;
  std::string const key(4096, 'k');
  s.put(key, "1");

  BOOST_TEST(s.keys.put(key, "2", false).error().message().size() <= 1024u);
  BOOST_TEST(s.keys.increment(key, INT64_MAX).error().message().size() <= 1024u);
}

BOOST_AUTO_TEST_CASE(a_similar_key_differs_in_one_place_by_more_than_a_number) {
  store s;
  for (int i = 0; i < 1000; ++i) s.put("address/" + std::to_string(i), "v");
  s.put("zebra", "v");
  auto const similar = [&s](std::string const& key) {
    return s.keys.similar_to(key).value_or("none");
  };

  BOOST_TEST(similar("adress/0") == "none");  // too far away among so many
  BOOST_TEST(similar("address/0x") == "address/0");
  BOOST_TEST(similar("address/1000") == "none");
  BOOST_TEST(similar("Zebra") == "none");
  BOOST_TEST(similar("zebar") == "zebra");
  BOOST_TEST(similar("zebras!") == "zebra");
  BOOST_TEST(similar("zebrafish") == "none");
}

BOOST_AUTO_TEST_CASE(all_keys_of_a_small_store_are_compared) {
  store s;
  s.put("address/0", "v");
  s.put("other", "v");

  BOOST_TEST(s.keys.similar_to("Address/0").value() == "address/0");
  BOOST_TEST(s.keys.similar_to("adress/0").value() == "address/0");
  BOOST_TEST(!s.keys.similar_to("address/1"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::core
