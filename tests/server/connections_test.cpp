#include "coxswain/server/connections.hpp"

#include "tests/server/fake_streams.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace coxswain::server {
namespace {

using fake_streams::fake_stream;
using fake_streams::t0;
using fake_streams::world;

struct blocked_world : world {
  blocked_world() : stream{add_fake_stream()} {
    stream.room = 3;
    stream.unread = 1'000;
    stream.fill();
    send(try_get_frame(1, "k"));
    run();
    BOOST_TEST(stream.written.size() == 3u);
  }
  bool cut_off() { return logic.out(connection_id{std::uint64_t{1} << 32}).ends(); }

  fake_stream& stream;
};

struct world_without_grace : world {
  world_without_grace() : world{without_grace()} {}
  static options without_grace() {
    options o = with_defaults();
    o.core.reconnect_grace = 0s;
    return o;
  }
};

BOOST_AUTO_TEST_SUITE(connections_test)

BOOST_FIXTURE_TEST_CASE(each_connection_is_written_once_per_iteration, world) {
  auto& stream = add_fake_stream();
  stream.writes = 0;
  send(try_get_frame(1, "a") + try_get_frame(2, "b") + try_get_frame(3, "c"));

  run();

  BOOST_TEST(stream.writes == 1);
  message_reader reader;
  reader.feed(stream.written);
  for (std::uint64_t id = 1; id <= 3; ++id) BOOST_TEST(reader.take().id.value == id);
}

BOOST_FIXTURE_TEST_CASE(unaccepted_bytes_are_written_when_the_peer_reads, blocked_world) {
  run(t0 + 1s);
  BOOST_TEST(stream.written.size() == 3u);

  send(try_get_frame(2, "k"));
  run(t0 + 2s);
  BOOST_TEST(stream.written.size() == 3u);
  unblock(stream, 1 << 20);
  run(t0 + 3s);

  message_reader reader;
  reader.feed(stream.written);
  BOOST_TEST(reader.take().id.value == 1u);
  BOOST_TEST(reader.take().id.value == 2u);
}

BOOST_FIXTURE_TEST_CASE(a_fast_reader_does_not_delay_the_iteration, world) {
  auto& stream = add_fake_stream();
  send(put_frame(1, "k", std::string(60'000, 'v')));
  run();
  stream.written.clear();
  std::string requests;
  for (std::uint64_t id = 2; id < 202; ++id) requests += try_get_frame(id, "k");
  send(requests);
  iterations = 0;
  stream.writes = 0;

  run();

  BOOST_TEST(stream.written.size() > 200u * 60'000);
  BOOST_TEST(stream.writes == 7);  // of 32 values each
  BOOST_TEST(iterations >= 7);
}

BOOST_FIXTURE_TEST_CASE(a_stalled_reader_is_disconnected_and_closed_after_the_linger,
                        blocked_world) {
  run(t0 + 30s - 1ns);
  BOOST_TEST(!cut_off());
  run(t0 + 30s);
  BOOST_TEST(cut_off());

  run(t0 + 32s - 1ns);
  BOOST_TEST(all.size() == 1u);
  BOOST_TEST((all.next_deadline() == t0 + 32s));
  run(t0 + 32s);
  BOOST_TEST(all.size() == 0u);
  BOOST_TEST(logic.connections() == 0u);
}

// The socket took all that one iteration may write to it, and then has no room.
BOOST_FIXTURE_TEST_CASE(a_stalled_reader_of_many_replies_is_disconnected, world) {
  auto& stream = add_fake_stream();
  send(put_frame(1, "k", std::string(60'000, 'v')));
  run();
  stream.fill();
  std::string requests;
  for (std::uint64_t id = 2; id < 202; ++id) requests += try_get_frame(id, "k");
  send(requests);
  run();
  BOOST_TEST(stream.written.size() < 50u * 60'000);

  auto const look = all.next_deadline().value();
  run(look);
  run(look + 30s - 1ns);
  BOOST_TEST(!logic.out(connection_id{std::uint64_t{1} << 32}).ends());
  run(look + 30s);
  BOOST_TEST(logic.out(connection_id{std::uint64_t{1} << 32}).ends());
}

BOOST_FIXTURE_TEST_CASE(a_slow_reader_is_not_disconnected, blocked_world) {
  auto now = t0;
  for (int i = 0; i < 10; ++i) {
    now += 29s;
    --stream.unread;
    run(now);
    BOOST_TEST(!cut_off());
  }

  run(now + 30s - 1ns);
  BOOST_TEST(!cut_off());
  run(now + 30s);
  BOOST_TEST(cut_off());
}

BOOST_FIXTURE_TEST_CASE(write_progress_at_the_deadline_counts, blocked_world) {
  run(t0 + 29s);
  --stream.unread;

  run(t0 + 30s);

  BOOST_TEST(!cut_off());
}

BOOST_FIXTURE_TEST_CASE(blocked_readers_are_checked_three_times, blocked_world) {
  BOOST_TEST((all.next_deadline() == t0 + 10s));
  run(t0 + 10s);
  BOOST_TEST((all.next_deadline() == t0 + 20s));
  run(t0 + 20s);
  BOOST_TEST((all.next_deadline() == t0 + 30s));
}

BOOST_FIXTURE_TEST_CASE(a_peer_that_has_read_everything_is_not_checked, blocked_world) {
  unblock(stream, 1 << 20);
  run(t0 + 1s);

  run(t0 + 10s);

  BOOST_TEST(!all.next_deadline().has_value());
}

BOOST_FIXTURE_TEST_CASE(after_a_goodbye_input_is_drained_until_the_peer_closes, world) {
  auto& stream = add_fake_stream();
  send("this is no protocol");
  run();
  BOOST_TEST(stream.shut);
  BOOST_TEST(all.size() == 1u);

  send(std::string(1'000, 'x'));
  run(t0 + 500ms);
  BOOST_TEST(all.size() == 1u);
  message_reader reader;
  reader.feed(stream.written);
  BOOST_TEST(std::holds_alternative<core::goodbye>(reader.take().what.value));
  BOOST_TEST(reader.empty());

  peers.back().close();
  run(t0 + 600ms);
  BOOST_TEST(all.size() == 0u);
  BOOST_TEST(logic.connections() == 0u);
}

BOOST_FIXTURE_TEST_CASE(after_a_goodbye_the_linger_is_one_second, world) {
  add_fake_stream();
  send("this is no protocol");
  run();
  BOOST_TEST((all.next_deadline() == t0 + 1s));

  run(t0 + 1s - 1ns);
  BOOST_TEST(all.size() == 1u);
  run(t0 + 1s);
  BOOST_TEST(all.size() == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_late_read_goodbye_still_lingers_for_a_second, world) {
  auto& stream = add_fake_stream();
  stream.room = 0;
  stream.fill();
  send("this is no protocol");
  run();
  BOOST_TEST(!stream.shut);
  unblock(stream, 1 << 20);
  run(t0 + 1900ms);
  BOOST_TEST(stream.shut);

  run(t0 + 2900ms - 1ns);
  BOOST_TEST(all.size() == 1u);
  run(t0 + 2900ms);
  BOOST_TEST(all.size() == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_closed_connection_is_lost, world) {
  add_fake_stream();
  send(join_frame(1, 0));
  run();
  peers.back().close();

  run();

  BOOST_TEST(all.size() == 0u);
  BOOST_TEST(logic.connections() == 0u);
  BOOST_TEST_REQUIRE(logic.look(t0).tasks.size() == 1u);
  BOOST_TEST(logic.look(t0).tasks[0].suspect);
}

// An ephemeral key is removed with its task.
BOOST_FIXTURE_TEST_CASE(input_before_another_peers_close_is_processed_first, world_without_grace) {
  add_fake_stream();
  core::put_args mine{.key = "k", .ephemeral = true};
  send(join_frame(1, 0) + frame(mine, 2, task_id{0}));
  run();
  auto const task = std::move(peers.back());
  auto const& stream = add_fake_stream();

  send(try_get_frame(1, "k"));
  ::shutdown(task.value(), SHUT_RDWR);
  run();

  BOOST_TEST(logic.look(t.now).keys == 0u);
  message_reader reader;
  reader.feed(stream.written);
  BOOST_TEST(std::holds_alternative<core::value_answer>(reader.take().what.value));
}

BOOST_FIXTURE_TEST_CASE(the_last_message_before_a_close_is_heard, world) {
  add_fake_stream();
  send(put_frame(1, "k", "v"));
  peers.back().close();

  run();

  BOOST_TEST(all.size() == 0u);
  BOOST_TEST(logic.look(t0).keys == 1u);
}

BOOST_FIXTURE_TEST_CASE(an_unwritable_connection_is_lost, world) {
  auto& stream = add_fake_stream();
  stream.broken = true;
  send(try_get_frame(1, "k"));

  run();

  BOOST_TEST(all.size() == 0u);
  BOOST_TEST(logic.connections() == 0u);
}

BOOST_FIXTURE_TEST_CASE(input_before_a_failed_write_is_processed, world) {
  auto& stream = add_fake_stream();
  stream.broken = true;
  send(try_get_frame(1, "k"));
  stream.at_write = [&] {
    send(put_frame(2, "last", "words"));
    peers.back().close();
  };

  run();

  BOOST_TEST(all.size() == 0u);
  BOOST_TEST(logic.look(t0).keys == 1u);
}

BOOST_FIXTURE_TEST_CASE(heavy_input_of_one_peer_does_not_starve_others, world) {
  auto const& quick = add_fake_stream();
  int const quick_peer = peers.back().value();
  auto ends = net::tcp_pair();
  auto const id = logic.open(t.now, "peer", {});
  all.add(id, std::make_unique<net::socket_stream>(std::move(ends.second)));
  auto const lot = hello_frame() + put_frame(1, "k", std::string(2 << 20, 'v'));
  std::size_t sent = 0;
  while (sent < 1 << 20) {
    auto const more = ::send(ends.first.value(), lot.data() + sent, lot.size() - sent, 0);
    if (more > 0) sent += static_cast<std::size_t>(more);
  }
  net::wait_for_bytes(all.size() == 2 ? ends.first.value() : -1, 0);
  auto const ask = try_get_frame(1, "x");
  BOOST_TEST(::send(quick_peer, ask.data(), ask.size(), 0) == static_cast<ssize_t>(ask.size()));

  polled.request_iteration();
  io.restart();
  io.poll_one();

  BOOST_TEST(t.bytes_read <= 64u * 1024 * 5);
  BOOST_TEST(!quick.written.empty());
  while (sent < lot.size()) {
    auto const more = ::send(ends.first.value(), lot.data() + sent, lot.size() - sent, 0);
    if (more > 0) sent += static_cast<std::size_t>(more);
    run();
  }
  net::wait_until([&] {
    run();
    return logic.look(t0).keys == 1;
  });
}

BOOST_FIXTURE_TEST_CASE(all_connections_can_be_ended_at_once, world) {
  add_fake_stream();
  add_fake_stream();

  all.end_all();
  all.clear_away();

  BOOST_TEST(all.size() == 0u);
  BOOST_TEST(logic.connections() == 0u);
}

BOOST_AUTO_TEST_CASE(socket_errors_map_to_closed_or_unreachable) {
  auto const with = [](int error) {
    return loss_of({net::transfer::outcome::failed, 0, {error, boost::system::system_category()}});
  };
  BOOST_TEST((loss_of({net::transfer::outcome::eof, 0, {}}) == core::loss::closed));
  BOOST_TEST((with(ECONNRESET) == core::loss::closed));
  BOOST_TEST((with(EPIPE) == core::loss::closed));
  BOOST_TEST((with(ETIMEDOUT) == core::loss::unreachable));
  BOOST_TEST((with(EHOSTUNREACH) == core::loss::unreachable));
  BOOST_TEST((with(ENETUNREACH) == core::loss::unreachable));
}

// The memory of a used, idle connection, besides that of the kernel.
BOOST_AUTO_TEST_CASE(the_objects_of_a_connection_are_small) {
  BOOST_TEST(sizeof(connection) <= 200u);
  BOOST_TEST(sizeof(outbox) + sizeof(wire::frame_decoder) <= 320u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::server
