// The page of a recording: any moment of it can be asked for, and nothing can be done.

#include "coxswain/status/source/recorded_job.hpp"
#include "tests/server/recorded_puts.hpp"
#include "tests/status/page_harness.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>
#include <utility>

namespace coxswain::status_page {
namespace {

struct recorded_page : page_harness {
  recorded_page() {
    server::seekable_replay shown_replay{server::replay{recording}};
    shown.emplace(io, std::make_unique<recorded_job>(std::move(shown_replay)), page_options);
  }

  std::string recording = server::recorded_puts();
};

BOOST_AUTO_TEST_SUITE(recorded_page_test)

BOOST_FIXTURE_TEST_CASE(each_request_shows_the_moment_that_it_names, recorded_page) {
  for (auto const& [at, keys] : {std::pair{"0s", 0}, {"50s", 50}, {"7.5s", 7}, {"150000ms", 150}}) {
    auto const r = get(std::string{"/api/v1/state?at="} + at);
    BOOST_TEST(r.code == 200);
    BOOST_TEST(has(r.body, "\"keys\":" + std::to_string(keys) + ","), r.body);
    BOOST_TEST(has(r.body, "\"error\":null"));
  }
}

BOOST_FIXTURE_TEST_CASE(without_a_moment_the_end_is_shown, recorded_page) {
  get("/api/v1/state?at=50s");
  auto const r = get("/api/v1/state");

  BOOST_TEST(has(r.body, "\"keys\":200,"));
  BOOST_TEST(has(r.body, "killed by signal 9"));
  BOOST_TEST(has(r.body, "\"uptime_ms\":201000,"));
}

BOOST_FIXTURE_TEST_CASE(all_queries_are_about_the_moment, recorded_page) {
  BOOST_TEST(!has(get("/api/v1/events?at=200s").body, "killed by signal 9"));
  BOOST_TEST(has(get("/api/v1/events").body, "killed by signal 9"));
  BOOST_TEST(has(get("/api/v1/tasks?at=200s").body, "\"state\":\"connected\""));
  BOOST_TEST(has(get("/api/v1/tasks/0").body, "\"state\":\"failed\""));
  BOOST_TEST(has(get("/api/v1/keys?at=2s").body, "\"key\":\"k2\""));
  BOOST_TEST(!has(get("/api/v1/keys?at=1s").body, "\"key\":\"k2\""));
  BOOST_TEST(get("/api/v1/state?at=yesterday").code == 400);
}

BOOST_FIXTURE_TEST_CASE(a_moment_is_what_the_feed_begins_with, recorded_page) {
  auto const r = get("/api/v1/moment?at=50s");

  BOOST_TEST(r.body.starts_with("{\"type\":\"state\",\"state\":{"));
  BOOST_TEST(has(r.body, "\"keys\":50,"));
  BOOST_TEST(has(r.body, "\"why\":{"));
  BOOST_TEST(has(r.body, "\"events\":[{"));
  BOOST_TEST(has(r.body, "\"begins_ms\":0,\"ends_ms\":201000}"));
}

BOOST_FIXTURE_TEST_CASE(nothing_can_be_done_to_a_recording, recorded_page) {
  BOOST_TEST(has(get("/api/v1/role").body, "reader"));
  for (auto const* const path : {"/api/v1/stop", "/api/v1/cancel", "/api/v1/preempt"}) {
    BOOST_TEST(post(path, "{}").code == 404);
  }
  BOOST_TEST(get("/metrics").code == 404);
  BOOST_TEST(get("/readyz").code == 200);
}

BOOST_FIXTURE_TEST_CASE(a_recording_shows_no_values, recorded_page) {
  BOOST_TEST(has(get("/api/v1/keys/k1").body, "A recording has no values."));
  BOOST_TEST(!has(get("/api/v1/keys?values=1").body, "\"value\""));
}

BOOST_FIXTURE_TEST_CASE(a_running_job_has_no_moments, page_harness) {
  BOOST_TEST(get("/api/v1/moment").code == 404);
  BOOST_TEST(get("/api/v1/state?at=1s").code == 200);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::status_page
