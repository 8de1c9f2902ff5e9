// A server's counters of connections and loop iterations, over real sockets.

#include "tests/server/harness.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace coxswain::server {
namespace {

BOOST_AUTO_TEST_SUITE(statistics_test)

BOOST_FIXTURE_TEST_CASE(open_and_total_connections_are_counted, harness) {
  o.connections_max = 2;
  auto first = greeted();
  auto second = greeted();
  auto third = connect();
  third.goodbye();

  auto const full = made->statistics();
  first.close();
  until([&] { return made->statistics().connections == 1; });

  BOOST_TEST(full.connections == 2u);
  BOOST_TEST(full.connections_max == 2u);
  BOOST_TEST(full.connections_accepted == 2u);
  BOOST_TEST(full.connections_refused == 1u);
  BOOST_TEST(made->statistics().connections_accepted == 2u);
}

BOOST_FIXTURE_TEST_CASE(received_and_sent_messages_and_bytes_are_counted, harness) {
  auto client = greeted();
  auto const before = made->statistics();
  auto const asked = put_frame(1, "key", std::string(1000, 'v'));
  client.ask(asked);

  auto const after = made->statistics();

  BOOST_TEST(before.frames_received == 1u);
  BOOST_TEST(before.bytes_received == hello_frame().size());
  BOOST_TEST(after.frames_received == 2u);
  BOOST_TEST(after.bytes_received - before.bytes_received == asked.size());
  BOOST_TEST(after.frames_sent - before.frames_sent == 1u);
  BOOST_TEST(after.bytes_sent > before.bytes_sent);
  BOOST_TEST(after.sends - before.sends == 1u);
  BOOST_TEST(after.queued_bytes == 0u);
}

BOOST_FIXTURE_TEST_CASE(replies_queued_for_a_non_reading_peer_are_counted_until_sent, harness) {
  o.queued_bytes_max = 2'000'000;
  auto idle = greeted();
  idle.ask(put_frame(1, "dir/key", std::string(1'000'000, 'v')));
  std::uint64_t id = 1;
  until([&] {
    static_cast<void>(idle.send_lazily(list_frame(++id, "dir")));
    auto const now = made->statistics();
    return now.queued_bytes > 0 && now.queued_messages > 0;
  });

  idle.close();
  until([&] { return made->statistics().connections == 0; });

  BOOST_TEST(made->statistics().queued_bytes == 0u);
  BOOST_TEST(made->statistics().queued_messages == 0u);
}

BOOST_FIXTURE_TEST_CASE(the_release_of_a_round_is_timed_once, harness) {
  auto a = greeted();
  auto b = greeted();
  join(a, b);
  BOOST_TEST(made->statistics().releases.count() == 0u);
  a.send(barrier_frame(2, 0, "b"));
  b.send(barrier_frame(2, 1, "b"));
  a.next();
  b.next();

  auto const counted = made->statistics();

  BOOST_TEST(counted.releases.count() == 1u);
  BOOST_TEST((counted.releases.sum() > 0ns));
  BOOST_TEST((counted.releases.sum() < counted.uptime));
  BOOST_TEST(counted.core.barrier_wait.count() == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_round_that_ends_at_its_deadline_is_timed_too, harness) {
  auto a = greeted();
  auto b = greeted();
  join(a, b);
  core::barrier_args barrier{.name = "b", .timeout = 1ms};
  BOOST_TEST(a.ask(frame(barrier, 2, task_id{0})).what.outcome.code() == errc::deadline_exceeded);

  BOOST_TEST(made->statistics().releases.count() == 1u);
}

// The server runs on the test's thread: work between two iterations delays the second.
BOOST_FIXTURE_TEST_CASE(a_delayed_iteration_records_its_delay, harness) {
  auto client = greeted();
  client.send(frame(core::get_args{"nothing", 1ms}, 1));
  until([&] { return made->look().waiting_gets == 1; });
  auto const before = made->statistics().loop_lag;
  auto const until = std::chrono::steady_clock::now() + 20ms;
  while (std::chrono::steady_clock::now() < until) {
  }

  BOOST_TEST(client.next().what.outcome.code() == errc::deadline_exceeded);

  auto const after = made->statistics().loop_lag;
  BOOST_TEST(after.count() > before.count());
  BOOST_TEST((after.sum() - before.sum() >= 15ms));
}

BOOST_FIXTURE_TEST_CASE(iterations_are_counted_and_timed, harness) {
  auto client = greeted();
  auto const before = made->statistics();
  client.ask(try_get_frame(1, "key"));

  auto const after = made->statistics();

  BOOST_TEST(after.iterations.count() > before.iterations.count());
  BOOST_TEST((after.iterations.sum() > before.iterations.sum()));
  BOOST_TEST((after.iterations.sum() <= after.uptime));
  BOOST_TEST((after.iteration_max <= after.iterations.sum()));
  BOOST_TEST((after.iteration_max > duration::zero()));
}

BOOST_AUTO_TEST_CASE(uptime_and_start_time_are_those_of_the_server) {
  auto const before = std::chrono::system_clock::now();
  harness h;
  h.serve();

  auto const counted = h.made->statistics();

  BOOST_TEST((counted.started >= before));
  BOOST_TEST((counted.started <= std::chrono::system_clock::now()));
  BOOST_TEST((counted.uptime >= 0ns));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::server
