// JSON as text.

#include "coxswain/status/json.hpp"

#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <limits>
#include <string>

namespace coxswain::status_page {
namespace {

BOOST_AUTO_TEST_SUITE(json_text_test)

BOOST_AUTO_TEST_CASE(numbers_are_written_in_plain_decimal) {
  BOOST_TEST(serialized(milliseconds_of(339'512us)) == "339.512");
  BOOST_TEST(serialized(milliseconds_of(1us)) == "0.001");
  BOOST_TEST(serialized(milliseconds_of(100s)) == "100000");
  BOOST_TEST(serialized(milliseconds_of(-1500us)) == "-1.5");
  BOOST_TEST(serialized(json::value(0.1)) == "0.1");
  BOOST_TEST(serialized(json::value(1e14)) == "100000000000000");
  BOOST_TEST(serialized(json::value(1e15)) == "1e+15");
  BOOST_TEST(serialized(json::value(1e-300)) == "1e-300");
  BOOST_TEST(serialized(json::value(std::numeric_limits<std::int64_t>::min())) ==
             "-9223372036854775808");
  BOOST_TEST(serialized(json::value(std::numeric_limits<std::uint64_t>::max())) ==
             "18446744073709551615");
}

BOOST_AUTO_TEST_CASE(non_finite_numbers_become_null) {
  BOOST_TEST(serialized(json::value(std::numeric_limits<double>::infinity())) == "null");
  BOOST_TEST(serialized(json::value(std::numeric_limits<double>::quiet_NaN())) == "null");
}

BOOST_AUTO_TEST_CASE(any_text_round_trips) {
  std::string text;
  for (int c = 0; c < 128; ++c) text += static_cast<char>(c);
  text += "ä漢";

  auto const written = serialized(json::value(text));

  BOOST_TEST(json::parse(written).as_string() == text);
  BOOST_TEST(written.find("\\u0000\\u0001") == 1u);
  BOOST_TEST(written.find(R"(\b\t\n\u000b\f\r)") != written.npos);
}

BOOST_AUTO_TEST_CASE(lists_and_members_keep_their_order) {
  json::object const all{{"b", json::array{1, nullptr, true, json::array{}, json::object{}}},
                         {"a \"", "x"}};

  BOOST_TEST(serialized(all) == R"({"b":[1,null,true,[],{}],"a \"":"x"})");
  BOOST_TEST(serialized(all.at("b").as_array()) == "[1,null,true,[],{}]");
  BOOST_TEST(serialized(json::object{}) == "{}");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::status_page
