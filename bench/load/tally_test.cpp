#include "load/tally.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <boost/test/unit_test.hpp>

#include <cstdint>

namespace coxswain::bench {
namespace {

BOOST_AUTO_TEST_SUITE(histograms)

BOOST_AUTO_TEST_CASE(small_times_are_exact) {
  histogram h;
  for (auto const ns : {7, 3, 7, 0}) h.add(ns);

  boost::json::object const expected{{"max", 7}, {"times", {0.0, 1U, 3.0, 1U, 7.0, 2U}}};
  BOOST_TEST((h.to_json() == expected));
}

BOOST_AUTO_TEST_CASE(any_time_is_recorded_with_at_most_0_05_percent_error) {
  for (std::int64_t ns = 1; ns < 4'000'000'000'000; ns += 1 + ns / 7) {
    histogram h;
    h.add(ns);

    BOOST_TEST(h.to_json().at("times").as_array().at(0).as_double() == static_cast<double>(ns),
               boost::test_tools::tolerance(0.0005));
  }
}

BOOST_AUTO_TEST_CASE(the_longest_time_is_exact_and_a_negative_one_counts_as_zero) {
  histogram h;
  h.add(123'456'789);
  h.add(-5);

  BOOST_TEST(h.to_json().at("max") == 123'456'789);
  BOOST_TEST(h.to_json().at("times").as_array().at(0) == 0.0);
}

BOOST_AUTO_TEST_CASE(a_tally_is_written_with_its_latencies) {
  tally found;
  found.operations = 7;
  found.elapsed = 3s;
  found.busy = 2s;
  found.latencies.resize(2);
  found.latencies[1].add(5);

  boost::json::object const expected{
      {"operations", 7U},
      {"elapsed", 3'000'000'000},
      {"busy", 2'000'000'000},
      {"latencies",
       {{{"max", 0}, {"times", boost::json::array{}}}, {{"max", 5}, {"times", {5.0, 1U}}}}}};
  BOOST_TEST(boost::json::serialize(found.to_json()) == boost::json::serialize(expected));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::bench
