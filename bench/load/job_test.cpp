#include "load/job.hpp"

#include "bench_error.hpp"
#include "report/text.hpp"
#include "workloads/deadline_watch.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

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

constexpr time_point t0{1'000s};

std::uint64_t figure(finding const& of, std::string const& key) {
  for (auto const& f : of.figures) {
    if (f.key == key) return f.value;
  }
  throw bench_error{"there is no " + key};
}

BOOST_AUTO_TEST_SUITE(deadline_watches)

BOOST_AUTO_TEST_CASE(an_answer_is_early_before_its_deadline_and_not_at_it) {
  deadline_watch w;
  for (auto const late : {-1ns, 0ns, 1ns}) {
    w.begins({7, request_id{2}}, t0 + 50ms);

    BOOST_TEST((w.ends({7, request_id{2}}, t0 + 50ms + late) == late));
  }
  auto const found = deadline_watch::told(w.to_bytes({}));

  BOOST_TEST(figure(found, "early") == 1u);
  BOOST_TEST(figure(found, "early_by_max_ns") == 1u);
  BOOST_TEST(!found.is_good);
  BOOST_TEST(found.text.find("TOO EARLY: 1 of 3 barriers") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(calls_of_several_connections_are_told_apart) {
  deadline_watch w;
  w.begins({0, request_id{2}}, t0 + 1s);
  w.begins({1, request_id{2}}, t0 + 2s);

  BOOST_TEST((w.ends({1, request_id{2}}, t0 + 2s) == 0ns));
  BOOST_TEST(w.open() == 1u);
  BOOST_CHECK_THROW(w.ends({1, request_id{2}}, t0 + 2s), bench_error);
}

BOOST_AUTO_TEST_CASE(what_the_coordinator_knows_of_its_lateness_is_told_beside) {
  auto const found = deadline_watch::told(deadline_watch{}.to_bytes({120us, 3ms, 20'000}));

  BOOST_TEST(found.is_good);
  BOOST_TEST(figure(found, "own_lateness_p99_ns") == 120'000u);
  BOOST_TEST(figure(found, "own_lateness_max_ns") == 3'000'000u);
  BOOST_TEST(figure(found, "deadlines_answered") == 20'000u);
  BOOST_TEST(found.text.find("120 us") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::bench
