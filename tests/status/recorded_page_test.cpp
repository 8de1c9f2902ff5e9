// The page of a recording: any moment of it can be asked for, and nothing can be done.

#include "coxswain/server/recording/settings.hpp"
#include "coxswain/status/source/recorded_events.hpp"
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

// The end of a recording whose beginning had no room.
struct cut_page : page_harness {
  cut_page() {
    core::config of;
    of.job = "night";
    wire::append(recording, {.coordinator = incarnation{77},
                             .started = wall_time{.unix_ms = 1'795'485'600'000},
                             .settings = server::settings_of(of),
                             .lost = 1234});
    add(600s, 0, "task 0 is joining");
    add(700s, 1, "task 0 is suspect");
    add(720s, 2, "the job has failed: task 0 failed");
    shown.emplace(io, std::make_unique<recorded_events>(server::replay{recording}), page_options);
  }
  void add(duration at, std::uint64_t level, std::string_view text) {
    wire::record what;
    what.at = at;
    what.kind = wire::record_kind::event;
    what.content = text;
    what.number = level;
    wire::append(recording, what);
  }

  std::string recording;
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
  for (auto const* const path :
       {"/api/v1/stop", "/api/v1/drain", "/api/v1/cancel", "/api/v1/preempt", "/api/v1/stacks"}) {
    BOOST_TEST(post(path, "{}").code == 404);
  }
  BOOST_TEST(get("/metrics").code == 404);
  BOOST_TEST(get("/readyz").code == 200);
}

BOOST_FIXTURE_TEST_CASE(a_recording_shows_no_values, recorded_page) {
  BOOST_TEST(has(get("/api/v1/keys/k1").body, "A recording has no values."));
  BOOST_TEST(!has(get("/api/v1/keys?values=1").body, "\"value\""));
}

BOOST_FIXTURE_TEST_CASE(without_its_beginning_a_recording_shows_its_events, cut_page) {
  auto const end = get("/api/v1/moment").body;
  BOOST_TEST(has(end, R"("job":"night")"));
  BOOST_TEST(has(end,
                 "Only the events of this recording are left: its first 1234 records were "
                 "lost. The last error: the job has failed: task 0 failed\""));
  BOOST_TEST(has(end, R"("since":"2026-11-24T)"));
  BOOST_TEST(has(end, "task 0 is joining"));
  BOOST_TEST(has(end, "\"begins_ms\":600000,\"ends_ms\":720000}"));

  auto const before = get("/api/v1/moment?at=710s").body;
  BOOST_TEST(has(before, "1234 records were lost\""));
  BOOST_TEST(has(before, "task 0 is suspect"));
  BOOST_TEST(!has(before, "has failed"));
  BOOST_TEST(has(before, "\"uptime_ms\":710000,"));
  BOOST_TEST(has(get("/api/v1/events?severity=error").body, "\"at_ms\":720000"));
}

BOOST_FIXTURE_TEST_CASE(a_running_job_has_no_moments, page_harness) {
  BOOST_TEST(get("/api/v1/moment").code == 404);
  BOOST_TEST(get("/api/v1/state?at=1s").code == 200);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::status_page
