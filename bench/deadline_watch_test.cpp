#include "deadline_watch.hpp"

#include "bench_error.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace coxswain::bench {
namespace {

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
