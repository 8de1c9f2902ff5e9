#include "job.hpp"

#include "bench_error.hpp"
#include "text.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::bench {
namespace {

BOOST_AUTO_TEST_SUITE(words)

BOOST_AUTO_TEST_CASE(arrivals_are_one_of_three_patterns) {
  BOOST_TEST((arrivals::parse("together").how == arrivals::pattern::together));
  BOOST_TEST((arrivals::parse("ordered").how == arrivals::pattern::ordered));

  auto const jittered = arrivals::parse("jittered:5ms");
  BOOST_TEST((jittered.how == arrivals::pattern::jittered));
  BOOST_TEST((jittered.within == 5ms));
  BOOST_TEST((arrivals::parse("jittered:250us").within == std::chrono::microseconds{250}));
  BOOST_TEST((arrivals::parse("jittered:10s").within == 10s));
}

BOOST_AUTO_TEST_CASE(other_arrivals_are_refused) {
  for (auto const* text : {"", "apart", "jittered", "jittered:", "jittered:5", "jittered:0ms",
                           "jittered:-1ms", "jittered:11s", "jittered:5 ms", "jittered:5msx"}) {
    BOOST_CHECK_EXCEPTION((void)arrivals::parse(text), bench_error,
                          [](auto const& e) { return e.code() == exit_code::usage; });
  }
}

BOOST_AUTO_TEST_CASE(figures_have_three_digits_and_their_unit) {
  BOOST_TEST(time_text(850) == "850 ns");
  BOOST_TEST(time_text(9'120) == "9.12 us");
  BOOST_TEST(time_text(14'300'000) == "14.3 ms");
  BOOST_TEST(time_text(1.85e9) == "1.85 s");
  BOOST_TEST(bytes_text(64.0) == "64 B");
  BOOST_TEST(bytes_text(1536.0) == "1.50 KiB");
  BOOST_TEST(bytes_text(12.0 * 1024 * 1024) == "12.0 MiB");
  BOOST_TEST(bytes_text(-2048.0) == "-2.00 KiB");
  BOOST_TEST(rate_text(12'345.4) == "12,345 /s");
  BOOST_TEST(rate_text(2.5) == "2.50 /s");
  BOOST_TEST(grouped(1'234'567) == "1,234,567");
  BOOST_TEST(grouped(999) == "999");
  BOOST_TEST(counted(1, "task") == "1 task");
  BOOST_TEST(counted(1'024, "task") == "1,024 tasks");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::bench
