// A recording is shown at any moment, forwards and back, with bounded work.

#include "coxswain/server/recording/seekable_replay.hpp"

#include "tests/server/recorded_puts.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <string>

namespace coxswain::server {
namespace {

// The replay from the beginning to this moment.
replay replayed(std::string const& recording, duration until) {
  replay r{recording};
  while (r.step(until)) {
  }
  return r;
}

BOOST_AUTO_TEST_SUITE(seekable_replay_test)

BOOST_AUTO_TEST_CASE(any_moment_is_shown_as_a_replay_from_the_beginning_shows_it) {
  auto const recording = recorded_puts();
  seekable_replay shown{replay{recording}, {.bookmarks_max = 8, .records_between = 10}};
  BOOST_TEST((shown.ends() == 201s));

  for (auto const to : {duration{201s}, duration{0s}, duration{100s}, duration{100s - 1ns},
                        duration{7s}, duration{8s}, duration{199500ms}, duration{1s}}) {
    shown.seek(to);

    BOOST_TEST_CONTEXT(to.count()) {
      BOOST_TEST(shown.job().digest() == replayed(recording, to).digest());
      BOOST_TEST((shown.job().look(shown.now()).uptime == to));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_moment_shows_what_was_known_then) {
  auto const recording = recorded_puts();
  seekable_replay shown{replay{recording}};

  shown.seek(50s);
  BOOST_TEST(shown.job().look(shown.now()).keys == 50u);
  BOOST_TEST(!shown.job().error());
  shown.seek(201s);
  BOOST_TEST(shown.job().look(shown.now()).keys == 200u);
  BOOST_TEST(shown.job().error().has_value());
}

BOOST_AUTO_TEST_CASE(a_moment_outside_the_recording_is_its_beginning_or_its_end) {
  auto const recording = recorded_puts();
  seekable_replay shown{replay{recording}};

  shown.seek(-1s);
  BOOST_TEST((shown.now() == replay::moment_at(0s)));
  shown.seek(1h);
  BOOST_TEST((shown.now() == replay::moment_at(201s)));
}

// With eight bookmarks, not more than a quarter of the records is replayed.
BOOST_AUTO_TEST_CASE(going_to_a_moment_replays_a_bounded_part) {
  auto const recording = recorded_puts();
  std::size_t records = 0;
  for (replay r{recording}; r.step();) ++records;
  seekable_replay shown{replay{recording}, {.bookmarks_max = 8, .records_between = 10}};

  for (int second = 200; second > 0; --second) {
    shown.seek(second * 1s);
    BOOST_TEST(shown.replayed() <= records / 4);
  }
}

BOOST_AUTO_TEST_CASE(bookmarks_that_take_too_much_memory_are_dropped) {
  auto const recording = recorded_puts();
  seekable_replay shown{replay{recording}, {.bytes_max = 1, .records_between = 10}};

  shown.seek(50s);

  BOOST_TEST(shown.job().digest() == replayed(recording, 50s).digest());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::server
