#include "text/task_ranges.hpp"

#include <boost/test/unit_test.hpp>

#include <string_view>

namespace coxswain::tools {

BOOST_AUTO_TEST_SUITE(task_ranges_test)

BOOST_AUTO_TEST_CASE(tasks_are_read_one_by_one_and_in_ranges) {
  BOOST_TEST(ranges_of(parse_tasks("0").value()) == "0");
  BOOST_TEST(ranges_of(parse_tasks("0,2-5").value()) == "0,2-5");
  BOOST_TEST(ranges_of(parse_tasks("4294967295").value()) == "4294967295");
  BOOST_TEST(parse_tasks("4294967290-4294967295").value().size() == 6u);
}

BOOST_AUTO_TEST_CASE(tasks_are_put_in_order_and_each_counts_once) {
  BOOST_TEST(ranges_of(parse_tasks("7,3-4,4-5,3").value()) == "3-5,7");
}

BOOST_AUTO_TEST_CASE(what_is_no_range_of_tasks_is_refused) {
  for (std::string_view const text :
       {"", ",", "1,", ",1", "-", "1-", "-1", "5-2", "1-2-3", "a", "1 ", "+1", "4294967296",
        "0-1000000", "0-500000,500001-1100000"}) {
    BOOST_TEST(!parse_tasks(text), text);
  }
  BOOST_TEST(parse_tasks("0-999999").value().size() == 1'000'000u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::tools
