#include "coxswain/server/state_log.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::server {
namespace {

using kind = core::job_state::kind;

constexpr time_point t0{1h};

// A log that was asked at each of these seconds.
struct fixture {
  state_log log;
  std::string noted(int second, kind what, bool has_ended = false) {
    auto const at = t0 + second * 1s;
    if (!log.is_due(at, has_ended)) return "not due";
    return log.note(at, has_ended, {what, "sentence", {}, {}, 0}).value_or("");
  }
};

BOOST_FIXTURE_TEST_SUITE(state_log_test, fixture)

BOOST_AUTO_TEST_CASE(a_state_is_logged_once_when_it_has_lasted) {
  BOOST_TEST(noted(0, kind::waiting) == "");
  BOOST_TEST((log.next() == t0 + 10s));
  BOOST_TEST(noted(9, kind::waiting) == "");
  BOOST_TEST((log.next() == t0 + 10s));
  BOOST_TEST(noted(10, kind::waiting) == "sentence");
  BOOST_TEST(!log.next());
  BOOST_TEST(noted(30, kind::waiting) == "");
}

BOOST_AUTO_TEST_CASE(the_next_look_is_never_due_before_its_time) {
  BOOST_TEST(noted(0, kind::waiting) == "");
  BOOST_TEST(log.note(t0 + 9500ms, false, {kind::waiting, "sentence", {}, {}, 0}).has_value() ==
             false);
  BOOST_TEST((log.next() == t0 + 10500ms));
}

BOOST_AUTO_TEST_CASE(states_that_take_turns_are_not_logged) {
  BOOST_TEST(noted(0, kind::running) == "");
  BOOST_TEST(noted(10, kind::running) == "sentence");
  for (int second = 11; second < 60; second += 2) {
    BOOST_TEST(noted(second, kind::waiting) == "");
    BOOST_TEST(noted(second + 1, kind::running) == "");
  }
}

BOOST_AUTO_TEST_CASE(a_deadlock_and_an_end_are_logged_at_once) {
  BOOST_TEST(noted(0, kind::deadlock) == "sentence");
  BOOST_TEST(noted(0, kind::failed) == "not due");
  BOOST_TEST(noted(0, kind::failed, true) == "sentence");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::server
