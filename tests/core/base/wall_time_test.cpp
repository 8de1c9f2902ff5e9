#include "coxswain/base/wall_time.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <limits>
#include <string>

namespace coxswain {
namespace {

// 2026-11-23 13:03:07.212 UTC
constexpr std::int64_t then = 1'795'438'987'212;

BOOST_AUTO_TEST_SUITE(wall_time_test)

BOOST_AUTO_TEST_CASE(times_are_shown_in_local_time_with_the_offset) {
  BOOST_TEST(rfc3339({then, 3600}) == "2026-11-23T14:03:07.212+01:00");
  BOOST_TEST(rfc3339({then, 0}) == "2026-11-23T13:03:07.212+00:00");
  BOOST_TEST(rfc3339({then, -12'600}) == "2026-11-23T09:33:07.212-03:30");
  BOOST_TEST(rfc3339({then, 12 * 3600}) == "2026-11-24T01:03:07.212+12:00");
}

BOOST_AUTO_TEST_CASE(the_date_is_shown_only_on_another_day) {
  wall_time const at{then, 3600};

  BOOST_TEST(clock_text(at, at.plus(9h)) == "14:03:07.2");
  BOOST_TEST(clock_text(at, at.plus(10h)) == "2026-11-23 14:03:07.2");
  BOOST_TEST(clock_text(at.plus(-1ms), at) == "14:03:07.2");
}

BOOST_AUTO_TEST_CASE(impossible_times_are_clamped) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  constexpr auto longest = std::numeric_limits<std::int32_t>::max();

  BOOST_TEST(rfc3339({most, 0}) == "9999-12-31T23:59:59.999+00:00");
  BOOST_TEST(rfc3339({-1, 0}) == "1970-01-01T00:00:00.000+00:00");
  BOOST_TEST(rfc3339({0, longest}) == "1970-01-01T18:00:00.000+18:00");
  BOOST_TEST(rfc3339(wall_time{most, longest}.plus(duration::max())) ==
             "9999-12-31T23:59:59.999+18:00");
}

BOOST_AUTO_TEST_CASE(texts_are_read_again) {
  for (std::int32_t const offset : {0, 3600, -12'600, 12 * 3600}) {
    BOOST_TEST((parse_rfc3339(rfc3339({then, offset})) == wall_time{then, offset}));
  }
  BOOST_TEST((parse_rfc3339("2026-11-23T13:03:07Z") == wall_time{then - 212, 0}));
  BOOST_TEST((parse_rfc3339("2026-11-23T14:03:07.2129999999+01:00") == wall_time{then, 3600}));
  BOOST_TEST((parse_rfc3339("2026-11-23T14:03:07.2+01:00") == wall_time{then - 12, 3600}));
}

BOOST_AUTO_TEST_CASE(other_texts_are_no_times) {
  std::string const right = "2026-11-23T14:03:07.212+01:00";
  for (std::size_t n = 0; n < right.size(); ++n) {
    if (n != right.size() - 2 && n != right.size() - 3)
      BOOST_TEST(!parse_rfc3339(right.substr(0, n)));
  }
  for (std::string const text :
       {"now", "2026-13-23T14:03:07Z", "2026-11-23 14:03:07Z", "1969-12-31T23:59:59Z",
        "2026-11-23T14:03:07.212", "2026-11-23T14:03:07+01:00x"}) {
    BOOST_TEST(!parse_rfc3339(text), text);
  }
  BOOST_TEST(!parse_rfc3339(right + std::string(1, 0)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain
