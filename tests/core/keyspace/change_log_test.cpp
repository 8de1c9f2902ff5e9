#include "coxswain/core/keyspace/change_log.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace coxswain::core {
namespace {

struct log {
  explicit log(change_log::limits within = {}) : changes{memory, within} {}

  void add(std::string const& key, std::string value = {}) {
    changes.add(key, bytes{std::move(value), memory});
  }
  std::string after(std::uint64_t version) {
    if (!changes.remembers(version)) return "forgotten";
    std::string all;
    changes.each_after(version, [&](key_change const& c) {
      all += c.key;
      return true;
    });
    return all;
  }

  meter_ptr memory = make_meter(1'000'000);
  change_log changes;
};

BOOST_AUTO_TEST_SUITE(change_log_test)

BOOST_AUTO_TEST_CASE(the_oldest_changes_are_dropped_above_the_byte_limit_except_the_last) {
  log l{{100, 10}};
  l.add("a", "1234");
  l.add("b", "1234");
  BOOST_TEST(l.after(0) == "ab");
  l.add("c");
  BOOST_TEST(l.after(1) == "bc");
  BOOST_TEST(l.after(0) == "forgotten");
  l.add("d", "12345678901");

  BOOST_TEST(l.after(3) == "d");
  BOOST_TEST(l.after(2) == "forgotten");
}

BOOST_AUTO_TEST_CASE(a_full_log_keeps_the_last_changes_in_order) {
  log l{{5, 1000}};
  for (std::size_t i = 0; i < 100; ++i) {
    // Keys of all lengths follow each other in the same place.
    l.add(std::string(i * 7 % 90, '.') + std::to_string(i), "value");
    BOOST_TEST(l.changes.last() == i + 1);
  }
  std::string all;
  for (std::size_t i = 95; i < 100; ++i) all += std::string(i * 7 % 90, '.') + std::to_string(i);
  BOOST_TEST(l.after(95) == all);
  BOOST_TEST(l.memory->used() == l.changes.cost());
}

BOOST_AUTO_TEST_CASE(changes_are_kept_in_order_while_the_log_grows_again) {
  log l;
  for (int i = 0; i < 20; ++i) l.add("old");
  for (int i = 0; i < 15; ++i) l.changes.forget_oldest();
  for (int i = 0; i < 60; ++i) l.add(std::to_string(i % 10));

  BOOST_TEST(l.after(15) == "oldoldoldoldold" + [] {
    std::string all;
    for (int i = 0; i < 60; ++i) all += std::to_string(i % 10);
    return all;
  }());
}

BOOST_AUTO_TEST_CASE(a_log_of_capacity_zero_keeps_nothing) {
  log l{{0, 0}};
  l.add("a");

  BOOST_TEST(l.after(0) == "forgotten");
  BOOST_TEST(l.after(1) == "");
  BOOST_TEST(l.memory->used() == 0u);
}

BOOST_AUTO_TEST_CASE(dropped_changes_use_no_memory) {
  log l;
  l.add("a", "value");
  l.add("b", "value");
  BOOST_TEST(l.memory->used() == l.changes.cost());
  BOOST_TEST(l.changes.forget_oldest());
  BOOST_TEST(l.changes.forget_oldest());
  BOOST_TEST(!l.changes.forget_oldest());

  BOOST_TEST(l.memory->used() == 0u);
  BOOST_TEST(l.after(1) == "forgotten");
  BOOST_TEST(l.after(2) == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::core
