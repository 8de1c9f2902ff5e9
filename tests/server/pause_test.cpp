// Connections whose peers do not read their replies, in virtual time.

#include "tests/server/fake_streams.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace coxswain::server {
namespace {

using fake_streams::fake_stream;
using fake_streams::t0;

options narrow() {
  options o = fake_streams::world::with_defaults();
  o.queued_bytes_max = 1'000;
  o.core.memory_bytes_max = 1'000'000;  // so that each frame is processed
  o.core.heartbeat_timeout = 10s;
  o.core.reconnect_grace = 0s;
  return o;
}

// A peer that reads nothing has sent a hundred requests, and then put a key.
struct world : fake_streams::world {
  world() : fake_streams::world{narrow()}, stream{add_fake_stream()} {
    stream.room = 0;
    stream.unread = 1'000'000;
    stream.fill();
    std::string asked;
    for (std::uint64_t i = 1; i <= 100; ++i) asked += try_get_frame(i, std::string(100, 'k'));
    send(asked + put_frame(101, "last", "v"));
    run();
  }

  outbox const& out() const { return logic.out(connection_id{std::uint64_t{1} << 32}); }
  std::uint64_t keys() const { return logic.look(t.now).keys; }

  void expect_all_replies() {
    message_reader reader;
    reader.feed(stream.written);
    for (std::uint64_t i = 1; i <= 101; ++i) BOOST_TEST(reader.take().id.value == i);
    BOOST_TEST(reader.empty());
  }
  void run_iterations(int count) {
    for (int i = 0; i < count; ++i) run(t.now);
  }

  fake_stream& stream;
};

struct narrow_world : fake_streams::world {
  narrow_world() : fake_streams::world{narrow()} {}
};

BOOST_FIXTURE_TEST_SUITE(pause_test, world)

BOOST_AUTO_TEST_CASE(a_peer_that_does_not_read_gets_replies_up_to_its_buffer) {
  BOOST_TEST(out().queued_bytes() <= 1'000u);
  BOOST_TEST(out().waiting() == 1u);
  BOOST_TEST(keys() == 0u);
}

BOOST_AUTO_TEST_CASE(further_input_of_a_paused_peer_stays_in_its_socket) {
  for (std::uint64_t i = 102; i <= 150; ++i) {
    send(try_get_frame(i, "k"));
    run();
  }

  BOOST_TEST(out().waiting() == 1u);
}

BOOST_AUTO_TEST_CASE(a_peer_that_reads_again_is_resumed_without_sending) {
  unblock(stream, 1 << 20);
  run_iterations(30);

  expect_all_replies();
  BOOST_TEST(keys() == 1u);
}

BOOST_AUTO_TEST_CASE(a_slow_reader_gets_everything) {
  for (int i = 0; i < 400; ++i) {
    unblock(stream, 100);
    run_iterations(2);
    BOOST_TEST(out().queued_bytes() <= 1'000u);
    BOOST_TEST(out().waiting() <= 1u);
  }

  expect_all_replies();
}

BOOST_AUTO_TEST_CASE(a_resumed_peer_must_show_a_sign_of_life) {
  run(t0 + 20s);
  unblock(stream, 1 << 20);
  run(t0 + 21s);
  run_iterations(30);
  expect_all_replies();

  run(t0 + 31s - 1ns);
  BOOST_TEST(!out().ends());
  run(t0 + 31s);
  BOOST_TEST(out().ends());
}

BOOST_AUTO_TEST_CASE(input_received_before_a_broken_connection_is_processed) {
  send(put_frame(102, "even later", "v"));
  stream.broken = true;
  unblock(stream, 0);
  run_iterations(2);

  BOOST_TEST(logic.connections() == 0u);
  BOOST_TEST(keys() == 2u);
}

BOOST_AUTO_TEST_CASE(input_before_the_end_of_the_stream_is_processed_before_the_loss) {
  ::shutdown(peers.back().value(), SHUT_WR);
  run(t0 + 1s);
  BOOST_TEST(logic.connections() == 1u);

  unblock(stream, 1 << 20);
  run_iterations(30);

  BOOST_TEST(logic.connections() == 0u);
  BOOST_TEST(keys() == 1u);
}

BOOST_AUTO_TEST_CASE(a_stop_does_not_wait_for_unread_input) {
  BOOST_TEST((logic.put_in(t.now, core::stopped{"enough"}).ok()));
  run();
  unblock(stream, 1 << 20);
  run_iterations(2);

  BOOST_TEST(out().ends());
  BOOST_TEST(out().empty());
  BOOST_TEST(stream.shut);
  BOOST_TEST(keys() == 0u);
}

// All input is read in one iteration: a put, which answers forty gets, and then the input of the
// peer that waits for them.
BOOST_FIXTURE_TEST_CASE(buffered_input_is_processed_when_waiting_replies_have_room, narrow_world) {
  auto& stream = add_fake_stream();
  std::string asked;
  for (std::uint64_t i = 1; i <= 40; ++i) asked += frame(core::get_args{"k"}, i);
  send(asked);
  run();
  stream.room = 0;
  add_fake_stream();
  send(put_frame(1, "k", std::string(100, 'v')));
  auto const last = put_frame(41, "last", "v");
  BOOST_TEST_REQUIRE(::send(peers.front().value(), last.data(), last.size(), 0) ==
                     static_cast<ssize_t>(last.size()));

  run();
  BOOST_TEST(logic.look(t.now).keys == 1u);

  unblock(stream, 1 << 20);
  for (int i = 0; i < 30; ++i) run();
  BOOST_TEST(logic.look(t.now).keys == 2u);
  message_reader reader;
  reader.feed(stream.written);
  for (std::uint64_t i = 1; i <= 41; ++i) BOOST_TEST(reader.take().id.value == i);
}

// Once for input left by the last iteration, and once for new input.
BOOST_FIXTURE_TEST_CASE(a_connection_read_twice_in_an_iteration_loses_nothing, narrow_world) {
  auto& stream = add_fake_stream();
  stream.room = 0;
  std::string asked;
  for (std::uint64_t i = 1; i <= 100; ++i) asked += try_get_frame(i, std::string(100, 'k'));
  send(asked);
  stream.at_read = [&] { send(put_frame(101, "last", "v")); };
  last->read_soon();

  run();
  unblock(stream, 1 << 20);
  for (int i = 0; i < 30; ++i) run();

  BOOST_TEST(logic.look(t.now).keys == 1u);
  message_reader reader;
  reader.feed(stream.written);
  for (std::uint64_t i = 1; i <= 101; ++i) BOOST_TEST(reader.take().id.value == i);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::server
