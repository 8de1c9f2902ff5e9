#include "options/units.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::tools {
namespace {

BOOST_AUTO_TEST_SUITE(units)

BOOST_AUTO_TEST_CASE(a_duration_is_numbers_with_units) {
  BOOST_TEST((parse_duration("200ms") == 200ms));
  BOOST_TEST((parse_duration("1.5s") == 1500ms));
  BOOST_TEST((parse_duration("5min") == 300s));
  BOOST_TEST((parse_duration("1min30s") == 90s));
  BOOST_TEST((parse_duration("2h") == 7200s));
  BOOST_TEST((parse_duration("7us") == 7us));
  BOOST_TEST((parse_duration("10sec") == 10s));
  BOOST_TEST((parse_duration("10seconds") == 10s));
  BOOST_TEST((parse_duration("10minutes") == 600s));
  BOOST_TEST((parse_duration("1hour30mins") == 5400s));
  BOOST_TEST((parse_duration("1day") == 24h));
  BOOST_TEST((parse_duration("0") == 0s));
}

BOOST_AUTO_TEST_CASE(what_could_be_misread_is_no_duration) {
  for (auto const* text : {"", "30", "s", "-1s", "1 s", "1s ", "1e3s", "inf", "nan", "0x1s", "1S",
                           "1.5", "1s2", "300years", "200000d"}) {
    BOOST_TEST(!parse_duration(text), text);
  }
}

BOOST_AUTO_TEST_CASE(a_duration_never_reads_as_without_limit) {
  BOOST_TEST((parse_duration("106751d").value() < without_limit));
  BOOST_TEST(!parse_duration("106752d"));
}

BOOST_AUTO_TEST_CASE(a_size_is_a_number_and_perhaps_a_unit) {
  BOOST_TEST(parse_size("4096").value() == 4096);
  BOOST_TEST(parse_size("64KiB").value() == 65536);
  BOOST_TEST(parse_size("1.5GiB").value() == 1610612736);
  BOOST_TEST(parse_size("1MB").value() == 1000000);
  BOOST_TEST(parse_size("8G").value() == 8 * parse_size("1GiB").value());
  BOOST_TEST(parse_size("512k").value() == 524288);
  for (auto const* text : {"", "MiB", "-1", "1 MiB", "64mib", "1MiB2", "9999PiB"}) {
    BOOST_TEST(!parse_size(text), text);
  }
}

BOOST_AUTO_TEST_CASE(people_read_three_digits_and_a_unit) {
  BOOST_TEST(text_of(0s) == "0 s");
  BOOST_TEST(text_of(15ns) == "15 ns");
  BOOST_TEST(text_of(1234us) == "1.23 ms");
  BOOST_TEST(text_of(99990us) == "100 ms");
  BOOST_TEST(text_of(90s) == "90.0 s");
  BOOST_TEST(text_of(300s) == "5.00 min");
  BOOST_TEST(text_of(100h) == "4.17 days");
  BOOST_TEST(text_of(without_limit) == "for ever");
  BOOST_TEST(size_text(512) == "512 B");
  BOOST_TEST(size_text(1536) == "1.50 KiB");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::tools
