#include "coxswain/server/dispatch.hpp"

#include "coxswain/core/model/operations.hpp"
#include "tests/server/messages.hpp"
#include "tests/wire/samples.hpp"

#include <boost/test/unit_test.hpp>

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace coxswain::server {
namespace {

using taken = dispatch::taken;

constexpr time_point t0{1000s};

struct world {
  explicit world(std::uint32_t tasks = 2) {
    o.core.num_tasks = tasks;
    o.log = [this](core::event const& e) { log.push_back(e.text); };
  }

  connection_id open() { return d().open(now, "10.0.0.1:5", core::session_secret{}); }

  connection_id greeted() {
    auto const id = open();
    BOOST_TEST(
        std::holds_alternative<boxed<core::hello_answer>>(ask(id, hello_frame()).what.value));
    return id;
  }

  // Writes all output of all connections.
  void settle() {
    std::vector<connection_id> dirty;
    while (d().deliver(dirty)) {
      for (auto const id : dirty) write(id);
    }
  }
  void write(connection_id id) {
    auto& out = d().out(id);
    while (!out.empty()) {
      auto const text = next_bytes(out);
      readers[id].feed(text);
      d().wrote(now, id, text.size());
    }
  }
  wire::server_message next(connection_id id) {
    settle();
    return readers[id].take();
  }
  wire::server_message ask(connection_id id, std::string bytes) {
    d().received(now, id, std::move(bytes));
    return next(id);
  }
  bool silent(connection_id id) {
    settle();
    return readers[id].empty();
  }
  core::goodbye goodbye(connection_id id) {
    auto const last = next(id);
    BOOST_TEST_REQUIRE(std::holds_alternative<core::goodbye>(last.what.value));
    BOOST_TEST(d().out(id).ends());
    return std::get<core::goodbye>(last.what.value);
  }

  void pass(time_point end) {
    for (; now + 50ms < end; now += 50ms) d().advance(now);
    now = end;
    d().advance(now);
  }

  dispatch& d() {
    if (!made) made.emplace(o, incarnation{77}, now);
    return *made;
  }
  std::size_t memory_used() {
    auto const& memory = *d().logic().memory();
    return memory.used() + memory.transit();
  }

  options o;
  time_point now{t0};
  std::vector<std::string> log;
  std::optional<dispatch> made;
  std::map<connection_id, message_reader> readers;
};

BOOST_AUTO_TEST_SUITE(dispatch_test)

BOOST_AUTO_TEST_CASE(a_join_may_follow_its_hello_at_once) {
  world w{1};
  auto const id = w.open();

  auto const hello = w.ask(id, hello_frame() + join_frame(1, 0));

  BOOST_TEST(std::holds_alternative<boxed<core::hello_answer>>(hello.what.value));
  auto const joined = w.next(id);
  BOOST_TEST((joined.id == request_id{1}));
  BOOST_TEST(std::holds_alternative<core::join_answer>(joined.what.value));
}

// One of every kind, which a role may make or not.
BOOST_AUTO_TEST_CASE(each_request_on_the_wire_needs_its_role) {
  using enum core::role;
  for (auto const mine : {reader, operator_, worker, relay}) {
    for (auto message : test::sample_requests()) {
      bool const is_request =
          std::visit([]<class Args>(Args const&) { return core::is_numbered<Args>; }, message.what);
      if (!is_request) continue;
      world w;
      w.o.core.credentials = {{mine, "token"}};
      auto const id = w.open();
      core::hello_args hello{.token = "token"};
      hello.relay = mine == relay;
      auto const greeted = w.ask(id, frame(std::move(hello)));
      BOOST_TEST_REQUIRE((std::get<boxed<core::hello_answer>>(greeted.what.value)->given == mine));
      auto const row = core::row_of(message.what);

      w.d().received(w.now, id, frame(std::move(message.what), 1));

      w.settle();
      auto& replies = w.readers[id];
      bool const is_refused =
          !replies.empty() && replies.take().what.outcome.code() == errc::permission_denied;
      bool const is_above = mine == relay ? row.needed != reader : mine < row.needed;
      // An unlock without the lock is refused as well.
      bool const is_unlock = row.name == "unlock";
      BOOST_TEST((is_refused == is_above || is_unlock), name(mine) << " " << row.name);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_join_after_a_refused_hello_has_no_effect) {
  world w{1};
  auto const id = w.open();

  w.d().received(w.now, id, frame(core::hello_args{.num_tasks = 2}) + join_frame(1, 0));

  BOOST_TEST((w.goodbye(id).why.code() == errc::failed_precondition));
  auto const look = w.d().logic().look(w.now);
  BOOST_TEST(look.sessions == 0u);
  BOOST_TEST((look.tasks.at(0).state == task_state::never_connected));
}

BOOST_AUTO_TEST_CASE(frames_may_arrive_in_any_pieces) {
  auto const input = hello_frame() + join_frame(1, 0) + barrier_frame(2, 0, "b");
  for (std::size_t piece = 1; piece <= input.size(); ++piece) {
    world w{1};
    auto const id = w.open();
    for (std::size_t at = 0; at < input.size(); at += piece) {
      w.d().received(w.now, id, std::string{input.substr(at, piece)});
    }
    BOOST_TEST(std::holds_alternative<boxed<core::hello_answer>>(w.next(id).what.value));
    BOOST_TEST(w.next(id).id.value == 1u);
    BOOST_TEST(w.next(id).id.value == 2u);
    BOOST_TEST(w.silent(id));
  }
}

BOOST_FIXTURE_TEST_CASE(a_release_reaches_every_participant_once, world) {
  auto const a = greeted();
  auto const b = greeted();
  d().received(now, a, join_frame(1, 0));
  d().received(now, b, join_frame(1, 1));
  settle();
  d().received(now, a, barrier_frame(2, 0, "b") + try_get_frame(3, "k"));
  d().received(now, b, barrier_frame(2, 1, "b"));

  std::vector<connection_id> dirty;
  BOOST_TEST(d().deliver(dirty));

  BOOST_TEST(dirty == (std::vector{a, b}), boost::test_tools::per_element());
  BOOST_TEST(!d().deliver(dirty));
  write(a);
  write(b);
}

// A barrier over so many that its release is delivered in parts.
struct wide_world : world {
  static constexpr std::uint32_t tasks = 300;

  wide_world() : world{tasks} {
    for (std::uint32_t i = 0; i < tasks; ++i) all.push_back(greeted());
    for (std::uint32_t i = 0; i < tasks; ++i) d().received(now, all[i], join_frame(1, i));
    settle();
    for (auto& [_, reader] : readers) reader = {};
  }
  void arrive(core::barrier_args const& at = {.name = "b"}) {
    for (std::uint32_t i = 0; i < tasks; ++i) {
      d().received(now, all[i], frame(at, 2, task_id{i}));
    }
  }

  std::vector<connection_id> all;
};

BOOST_FIXTURE_TEST_CASE(a_release_to_many_is_delivered_in_parts, wide_world) {
  arrive();

  std::map<connection_id, int> deliveries;
  int parts = 0;
  for (std::vector<connection_id> dirty; d().deliver(dirty); ++parts) {
    BOOST_TEST(dirty.size() < tasks);
    for (auto const id : dirty) {
      ++deliveries[id];
      write(id);
    }
  }

  BOOST_TEST(parts > 1);
  BOOST_TEST(!d().has_to_deliver());
  for (auto const id : all) {
    BOOST_TEST(deliveries[id] == 1);
    BOOST_TEST((readers[id].take().id == request_id{2}));
    BOOST_TEST(readers[id].empty());
  }
}

BOOST_FIXTURE_TEST_CASE(the_parts_of_a_release_share_its_data, wide_world) {
  std::string const data(100, 'd');
  arrive({.name = "b", .gather = true, .data = data});

  for (std::vector<connection_id> dirty; d().deliver(dirty);) write(dirty.front());

  auto const in_transit = d().logic().memory()->transit();
  BOOST_TEST(in_transit > tasks * data.size());
  BOOST_TEST(in_transit < 2 * tasks * data.size());
}

BOOST_FIXTURE_TEST_CASE(output_follows_a_release_whose_receivers_are_all_lost, wide_world) {
  auto const other = greeted();
  arrive();
  d().received(now, other, try_get_frame(3, "k"));
  for (auto const id : all) d().lost(now, id, core::loss::closed);

  BOOST_TEST((next(other).id == request_id{3}));
}

BOOST_FIXTURE_TEST_CASE(later_output_follows_a_release_that_is_delivered_in_parts, wide_world) {
  arrive();
  for (auto const id : all) d().received(now, id, try_get_frame(3, "k"));

  for (auto const id : all) {
    BOOST_TEST((next(id).id == request_id{2}));
    BOOST_TEST((next(id).id == request_id{3}));
  }
}

BOOST_AUTO_TEST_CASE(hello_raises_the_frame_limit) {
  std::string const large(100'000, 'v');
  {
    world w;
    auto const id = w.open();
    w.d().received(w.now, id, put_frame(1, "k", large));
    BOOST_TEST(contains(w.goodbye(id).why.message(), "the limit is 16384 bytes"));
  }
  world w;
  auto const id = w.open();
  BOOST_TEST(std::holds_alternative<boxed<core::hello_answer>>(
      w.ask(id, hello_frame() + put_frame(1, "k", large) + try_get_frame(2, "k")).what.value));
  BOOST_TEST(w.next(id).id.value == 1u);
  auto const got = w.next(id);
  BOOST_TEST((std::get<core::value_answer>(got.what.value).value.view() == large));
}

BOOST_AUTO_TEST_CASE(a_length_beyond_the_limit_ends_the_session) {
  world w{1};
  w.o.core.value_bytes_max = 1'000'000;
  auto const id = w.greeted();
  BOOST_TEST(w.ask(id, join_frame(1, 0)).what.outcome.ok());

  std::string head;
  wire::append_length(head, w.o.core.frame_bytes_max() + 1);
  w.d().received(w.now, id, head);
  w.d().received(w.now, id, "whatever follows");

  auto const goodbye = w.goodbye(id);
  BOOST_TEST(goodbye.why.code() == errc::invalid_argument);
  BOOST_TEST(contains(goodbye.why.message(), "announces 1065537 bytes"));
  BOOST_TEST(!goodbye.may_resume);
  BOOST_TEST(w.d().error().has_value());
}

BOOST_AUTO_TEST_CASE(malformed_input_ends_the_session_and_later_input_is_ignored) {
  world w{1};
  auto const id = w.greeted();
  BOOST_TEST(w.ask(id, join_frame(1, 0)).what.outcome.ok());

  std::string garbage;
  wire::append_length(garbage, 4);
  garbage += "\xff\xff\xff\xff";
  w.d().received(w.now, id, garbage + put_frame(2, "k", "v"));
  w.d().received(w.now, id, put_frame(3, "k", "v"));

  BOOST_TEST(w.goodbye(id).why.code() == errc::invalid_argument);
  w.d().received(w.now, id, put_frame(4, "k", "v"));
  BOOST_TEST(w.silent(id));
  BOOST_TEST(w.d().look(w.now).keys == 0u);
  BOOST_TEST(w.d().error().has_value());
  w.d().lost(w.now, id, core::loss::closed);
  BOOST_TEST(w.d().connections() == 0u);
  w.d().check_invariants();
}

BOOST_FIXTURE_TEST_CASE(input_and_output_of_a_lost_connection_are_dropped, world) {
  auto const id = greeted();
  d().received(now, id, try_get_frame(1, "k"));
  d().lost(now, id, core::loss::closed);

  d().received(now, id, try_get_frame(2, "k"));
  d().wrote(now, id, 10);
  d().write_blocked(now, id);
  d().still_reads(now, id);

  std::vector<connection_id> dirty{connection_id{1}};
  BOOST_TEST(!d().deliver(dirty));
  BOOST_TEST(dirty.empty());
  BOOST_TEST(d().connections() == 0u);
}

BOOST_AUTO_TEST_CASE(events_go_to_the_log_in_order) {
  world w{1};
  auto const id = w.greeted();
  w.log.clear();
  w.d().received(w.now, id, join_frame(1, 0));
  w.d().report({core::severity::warning, "from the shell"});
  BOOST_TEST(w.log.empty());

  w.settle();

  BOOST_TEST(w.log.size() >= 2u);
  BOOST_TEST(w.log.back() == "from the shell");
}

BOOST_FIXTURE_TEST_CASE(a_throwing_log_callback_does_no_harm, world) {
  o.log = [](core::event const&) { throw std::runtime_error{"disk full"}; };
  d().report({core::severity::info, "one"});
  d().report({core::severity::info, "two"});

  BOOST_TEST(greeted().value != 0u);
}

BOOST_FIXTURE_TEST_CASE(a_log_callback_may_call_the_coordinator, world) {
  o.log = [&](core::event const& e) {
    if (e.text == "stop now") BOOST_TEST((d().put_in(now, core::stopped{"the log says so"}).ok()));
  };
  auto const id = greeted();
  d().report({core::severity::info, "stop now"});

  BOOST_TEST(contains(goodbye(id).why.message(), "the log says so"));
}

BOOST_FIXTURE_TEST_CASE(queued_replies_are_counted_as_in_transit, world) {
  auto const id = greeted();
  auto const before = memory_used();
  d().received(now, id, try_get_frame(1, std::string(3'000, 'k')));
  std::vector<connection_id> dirty;
  d().deliver(dirty);

  auto const queued = d().out(id).queued_bytes();
  BOOST_TEST(queued > 0u);
  BOOST_TEST(memory_used() >= before + queued);
  write(id);
  BOOST_TEST(d().out(id).empty());
}

BOOST_FIXTURE_TEST_CASE(peers_that_do_not_read_cannot_use_all_memory, world) {
  o.core.memory_bytes_max = 4'000'000;
  auto const writer = greeted();
  for (std::uint64_t id = 1; id <= 100; ++id) {
    d().received(now, writer, put_frame(id, "k" + std::to_string(id), std::string(1'000, 'v')));
  }
  settle();
  std::vector<connection_id> idle;
  for (int i = 0; i < 20; ++i) idle.push_back(greeted());

  std::vector<connection_id> dirty;
  for (std::uint64_t id = 1; id <= 50; ++id) {
    for (auto const one : idle) {
      d().begin();
      if (!d().out(one).pauses_reading()) d().received(now, one, list_frame(id, ""));
    }
    d().deliver(dirty);
  }

  // Each listing has 100 KB.
  BOOST_TEST(memory_used() <= 4'000'000u + 20 * 110'000);
  d().received(now, writer, put_frame(101, "k", "v"));
  settle();
  readers.erase(writer);
  for (auto const one : idle) write(one);
  settle();
  for (auto const one : idle) BOOST_TEST(d().out(one).empty());
}

BOOST_FIXTURE_TEST_CASE(frames_are_processed_while_their_replies_fit, world) {
  o.core.memory_bytes_max = 1'000'000;  // so that each frame is processed
  o.queued_bytes_max = 1'000;
  auto const id = greeted();
  std::string asked;
  for (std::uint64_t i = 1; i <= 100; ++i) asked += try_get_frame(i, std::string(100, 'k'));

  d().received(now, id, asked + "\1\1");

  auto const& out = d().out(id);
  for (std::uint64_t i = 1; i <= 100; ++i) {
    BOOST_TEST(out.queued_bytes() <= 1'000u);
    BOOST_TEST(out.waiting() <= 1u);
    d().check_invariants();
    BOOST_TEST(next(id).id.value == i);
    d().go_on(now, id);
  }
  BOOST_TEST(silent(id));
  d().check_invariants();
}

BOOST_FIXTURE_TEST_CASE(a_value_requested_many_times_in_an_iteration_is_held_once, world) {
  o.queued_bytes_max = 300'000;
  auto const writer = greeted();
  for (std::uint64_t id = 1; id <= 100; ++id) {
    d().received(now, writer, put_frame(id, "k" + std::to_string(id), std::string(1'000, 'v')));
  }
  settle();
  auto const id = greeted();
  auto const before = memory_used();
  std::string asked;
  for (std::uint64_t i = 1; i <= 1'000; ++i) asked += list_frame(i, "");

  d().received(now, id, asked);

  // Each listing has 100 KB, of which 6 KB are keys: two are queued; the encoder keeps the third;
  // and 64 wait unencoded.
  BOOST_TEST(memory_used() < before + 3 * 110'000 + 64 * 8'000);
}

BOOST_FIXTURE_TEST_CASE(all_input_of_an_unwritable_connection_is_processed, world) {
  o.core.memory_bytes_max = 1'000'000;  // so that each frame is processed
  o.queued_bytes_max = 100;
  auto const id = greeted();
  std::string asked;
  for (std::uint64_t i = 1; i <= 10; ++i) asked += try_get_frame(i, std::string(100, 'k'));
  d().received(now, id, asked + put_frame(11, "last", "v"));
  BOOST_TEST(d().look(now).keys == 0u);

  d().broke(id);
  d().go_on(now, id);
  d().received(now, id, put_frame(12, "even later", "v"));

  BOOST_TEST(d().look(now).keys == 2u);
  BOOST_TEST(d().out(id).empty());
  d().check_invariants();
}

BOOST_AUTO_TEST_CASE(a_paused_unreachable_peer_fails_by_its_last_sign_of_life) {
  world w{1};
  w.o.core.heartbeat_timeout = 10s;
  w.o.core.memory_bytes_max = 1'000'000;  // so that each frame is processed
  w.o.queued_bytes_max = 100;
  auto const id = w.greeted();
  w.d().received(w.now, id, join_frame(1, 0));
  w.settle();
  std::string asked;
  for (std::uint64_t i = 2; i <= 11; ++i) asked += try_get_frame(i, std::string(100, 'k'));
  w.d().received(w.now, id, asked);
  w.pass(t0 + 9s);

  w.d().broke(id);
  w.d().lost(w.now, id, core::loss::unreachable);

  w.pass(t0 + 10s - 1ns);
  BOOST_TEST(!w.d().error().has_value());
  w.pass(t0 + 10s);
  BOOST_TEST(w.d().error().has_value());
}

BOOST_AUTO_TEST_CASE(writing_to_a_full_peer_is_no_sign_of_life) {
  world w{1};
  w.o.core.heartbeat_timeout = 10s;
  w.o.queued_bytes_max = 100;
  auto const id = w.greeted();
  w.d().received(w.now, id, join_frame(1, 0));
  for (std::uint64_t i = 2; i <= 3; ++i) {
    w.d().received(w.now, id, frame(core::get_args{"k", 300s}, i));
  }
  w.settle();
  w.pass(t0 + 9s);

  w.d().received(w.now, w.greeted(), put_frame(1, "k", std::string(100, 'v')));
  w.settle();

  w.pass(t0 + 10s - 1ns);
  BOOST_TEST(!w.d().error().has_value());
  w.pass(t0 + 10s);
  BOOST_TEST(w.d().error().has_value());
}

BOOST_FIXTURE_TEST_CASE(a_value_sent_to_many_peers_is_not_copied, world) {
  auto const id = greeted();
  d().received(now, id, put_frame(1, "k", std::string(1 << 20, 'v')));
  settle();
  std::vector<connection_id> readers;
  for (int i = 0; i < 10; ++i) readers.push_back(greeted());
  auto const before = memory_used();

  for (auto const reader : readers) d().received(now, reader, try_get_frame(1, "k"));
  std::vector<connection_id> dirty;
  d().deliver(dirty);

  BOOST_TEST(dirty.size() == 10u);
  BOOST_TEST(memory_used() < before + 10'000);
  for (auto const reader : readers) BOOST_TEST(d().out(reader).queued_bytes() > 1u << 20);
}

// The core holds nearly all of its share, so a quarter of the memory is left.
struct full_world : world {
  full_world() {
    o.core.memory_bytes_max = 8'000'000;
    o.core.stalled_reader_timeout = 9s;
    o.core.credentials = {{core::role::worker, "w"}, {core::role::reader, "r"}};
    auto const writer = connected("w");
    for (std::uint64_t id = 1; id <= 4; ++id) {
      std::string const value(1'375'000, 'v');
      send(writer, put_frame(id, std::to_string(id), value));
      BOOST_TEST(next(writer).what.outcome.ok());
    }
  }
  connection_id connected(std::string token) {
    core::hello_args hello{.token = std::move(token)};
    auto const id = open();
    BOOST_TEST(std::holds_alternative<boxed<core::hello_answer>>(ask(id, frame(hello)).what.value));
    return id;
  }
  // In as many loop iterations as a large frame takes.
  taken send(connection_id from, std::string_view bytes) {
    for (std::size_t i = 0; i < 1 + bytes.size() / 1'000'000; ++i) d().begin();
    return d().received(now, from, bytes);
  }

  std::string const large = put_frame(1, "large", std::string(1'200'000, 'l'));
  std::string_view const beginning = std::string_view{large}.substr(0, 1'000);
  std::string_view const rest = std::string_view{large}.substr(1'000);
};

BOOST_FIXTURE_TEST_CASE(large_frames_are_received_while_memory_permits, full_world) {
  auto const first = connected("w");
  auto const second = connected("w");
  BOOST_TEST((send(first, beginning) == taken::all));
  BOOST_TEST((send(second, beginning) == taken::reading_paused));
  settle();
  BOOST_TEST(d().out(second).pauses_reading());
  BOOST_TEST(memory_used() < 8'000'000u);
  d().check_invariants();

  send(first, rest);
  // The frame has arrived, and the core has no memory for it.
  BOOST_TEST(next(first).what.outcome.code() == errc::resource_exhausted);
  BOOST_TEST(!d().out(second).pauses_reading());
  BOOST_TEST((d().go_on(now, second) == taken::all));
  send(second, rest);
  BOOST_TEST(next(second).what.outcome.code() == errc::resource_exhausted);
  d().check_invariants();
}

// It hears no reply to its heartbeats, which are behind the frame.
BOOST_AUTO_TEST_CASE(
    a_client_that_suspects_silence_gets_signs_of_life_while_its_large_frame_arrives) {
  for (bool const suspects : {false, true}) {
    world w;
    if (suspects) w.o.core.restart_grace = 12s;  // a sign each second
    auto const id = w.greeted();
    auto const other = w.greeted();
    std::string const large = put_frame(1, "k", std::string(100'000, 'v'));
    w.d().received(w.now, id, large.substr(0, 50'000));
    w.d().advance(w.now);
    for (int i = 0; i < 3; ++i) {
      w.pass(w.now + 950ms);
      BOOST_TEST(w.silent(id));
      w.pass(w.now + 50ms);
      BOOST_TEST(w.silent(id) != suspects);
      if (suspects) BOOST_TEST((w.next(id) == wire::server_message{}));
    }

    BOOST_TEST(w.ask(id, large.substr(50'000)).id.value == 1u);
    w.pass(w.now + 5s);
    BOOST_TEST(w.silent(id));
    BOOST_TEST(w.silent(other));
  }
}

BOOST_FIXTURE_TEST_CASE(small_frames_need_no_memory_permit, full_world) {
  auto const first = connected("w");
  auto const second = connected("w");
  send(first, beginning);
  auto const small = put_frame(1, "small", std::string(16'000, 's'));

  send(second, std::string_view{small}.substr(0, 10'000));
  send(second, std::string_view{small}.substr(10'000));

  BOOST_TEST(next(second).what.outcome.ok());
}

// There is memory for one frame; each has 4 s because the others wait.
BOOST_FIXTURE_TEST_CASE(a_large_frame_without_memory_in_time_is_disconnected, full_world) {
  auto const begin = now;
  std::vector<connection_id> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(connected("w"));
    send(all.back(), beginning);
  }
  for (auto const time : {4s, 8s}) {
    pass(begin + time);
    settle();
  }

  pass(begin + 9s - 1ms);
  BOOST_TEST(silent(all[3]));
  pass(begin + 9s);

  auto const why = goodbye(all[3]);
  BOOST_TEST(why.may_resume);
  BOOST_TEST(why.why.code() == errc::resource_exhausted);
  BOOST_TEST(contains(why.why.message(), "no memory for its frame of 1200"));
  BOOST_TEST(contains(why.why.message(), "memory_bytes_max is 8000000"));
  d().check_invariants();
}

// A third of the stalled-reader timeout plus a second per MiB.
BOOST_FIXTURE_TEST_CASE(a_slow_large_frame_is_disconnected_when_others_wait, full_world) {
  auto const slow = connected("w");
  send(slow, beginning);
  pass(now + 60s);
  BOOST_TEST(silent(slow));
  auto const before = memory_used();
  auto const other = connected("w");

  send(other, beginning);
  d().advance(now);

  BOOST_TEST(contains(goodbye(slow).why.message(), "too slowly"));
  BOOST_TEST(!d().out(other).pauses_reading());
  BOOST_TEST(memory_used() <= before + 10'000);
  d().lost(now, slow, core::loss::closed);
  d().go_on(now, other);
  send(other, rest);
  BOOST_TEST(next(other).what.outcome.code() == errc::resource_exhausted);
}

BOOST_FIXTURE_TEST_CASE(the_reader_role_has_a_small_frame_limit, full_world) {
  auto const reader = connected("r");
  send(reader, beginning);

  auto const why = goodbye(reader);
  BOOST_TEST(!why.may_resume);
  BOOST_TEST(contains(why.why.message(), "the limit is 262144 bytes"));
}

// Keys whose listing takes 420 KB in an outbox.
struct listing_world : full_world {
  listing_world() {
    made.reset();
    worker = connected("w");
    for (std::uint64_t id = 1; id <= 400; ++id) {
      send(worker, put_frame(id, "k" + std::to_string(id), std::string(1'000, 'v')));
    }
    settle();
    while (!readers[worker].empty()) readers[worker].take();
  }
  // A client that requests a listing and does not read it.
  connection_id idle(std::string token) {
    auto const id = connected(std::move(token));
    send(id, list_frame(1, ""));
    d().deliver(dirty);
    return id;
  }
  connection_id worker;
  std::vector<connection_id> dirty;
};

BOOST_FIXTURE_TEST_CASE(reader_requests_wait_while_listings_are_unread, listing_world) {
  std::vector<connection_id> all;
  for (int i = 0; i < 20; ++i) all.push_back(idle("r"));

  // A quarter of the memory is left for others.
  BOOST_TEST(memory_used() > 6'000'000u);
  BOOST_TEST(memory_used() < 6'000'000u + 450'000);
  BOOST_TEST(d().out(all.back()).pauses_reading());
  send(worker, try_get_frame(401, "k1"));
  d().deliver(dirty);
  write(worker);
  BOOST_TEST(readers[worker].take().what.outcome.ok());
  d().check_invariants();

  for (int i = 0; i < 3; ++i) {
    for (auto const one : all) {
      write(one);
      d().deliver(dirty);
      d().begin();
      d().go_on(now, one);
    }
  }
  settle();
  for (auto const one : all) {
    auto const seen = readers[one].take();
    BOOST_TEST(std::get<core::listing_answer>(seen.what.value).entries.size() == 400u);
    BOOST_TEST(!d().out(one).pauses_reading());
  }
  d().check_invariants();
}

BOOST_FIXTURE_TEST_CASE(a_stalled_reader_without_a_task_is_disconnected_first, listing_world) {
  auto const task = connected("w");
  send(task, join_frame(1, 0));
  std::vector<connection_id> all;
  for (int i = 0; i < 30; ++i) {
    all.push_back(idle("w"));
    BOOST_TEST(memory_used() <= 8'000'000u);
  }

  BOOST_TEST(d().out(all.front()).ends());
  BOOST_TEST(contains(log.back(), "it does not read"));
  BOOST_TEST(!d().out(task).ends());
  BOOST_TEST(!d().out(worker).ends());
  d().check_invariants();
}

std::string try_gets(std::uint64_t first, std::uint64_t last) {
  std::string all;
  for (auto id = first; id <= last; ++id) all += try_get_frame(id, "k");
  return all;
}

// Connections that send `frames` messages each, and how many of each were processed.
struct busy_world : world {
  connection_id busy(std::uint64_t frames) {
    auto const id = greeted();
    BOOST_TEST((d().received(now, id, try_gets(1, frames)) == taken::waits));
    return id;
  }
  // A loop iteration in which all of them have input. Returns the number of processed messages.
  std::uint64_t iteration(std::vector<connection_id> const& all) {
    auto const before = d().frames_received();
    d().begin();
    for (auto const id : all) static_cast<void>(d().go_on(now, id));
    return d().frames_received() - before;
  }
};

constexpr auto quantum = static_cast<std::uint64_t>(step_scheduler::quantum);

BOOST_FIXTURE_TEST_CASE(
    a_connection_has_one_quantum_in_an_iteration_and_its_frames_keep_their_order, world) {
  auto const id = greeted();
  d().begin();
  auto const before = d().frames_received();

  auto const gets = try_gets(1, quantum * 2);
  BOOST_TEST((d().received(now, id, gets + put_frame(quantum * 2 + 1, "k", "v")) == taken::waits));
  BOOST_TEST(d().frames_received() - before == quantum);
  BOOST_TEST((d().go_on(now, id) == taken::waits));
  d().begin();
  BOOST_TEST((d().go_on(now, id) == taken::waits));
  BOOST_TEST(d().frames_received() - before == 2 * quantum);
  d().begin();
  BOOST_TEST((d().go_on(now, id) == taken::all));

  BOOST_TEST(d().steps().waits().counts()[1] == 1u);  // two iterations
  BOOST_TEST(d().steps().waits().sum() == 2u);

  for (std::uint64_t i = 1; i <= quantum * 2; ++i) {
    auto const got = next(id);
    BOOST_TEST_REQUIRE(got.id.value == i);
    BOOST_TEST(got.what.outcome.code() == errc::not_found);
  }
  BOOST_TEST(next(id).what.outcome.ok());
}

BOOST_FIXTURE_TEST_CASE(exactly_one_quantum_leaves_no_waiting_input, world) {
  auto const id = greeted();
  d().begin();

  BOOST_TEST((d().received(now, id, try_gets(1, quantum)) == taken::all));
}

BOOST_FIXTURE_TEST_CASE(a_message_that_visits_many_keys_delays_the_next_ones, world) {
  auto const id = greeted();
  std::vector<std::string> const many(4 * quantum, "k");
  d().received(now, id, put_frame(1, "k", "v"));
  d().begin();

  auto const asked = frame(core::get_all_args{many}, 2) + try_get_frame(3, "k");
  BOOST_TEST((d().received(now, id, asked) == taken::waits));
  for (int i = 0; i < 3; ++i) {
    d().begin();
    BOOST_TEST((d().go_on(now, id) == taken::waits));
  }
  d().begin();

  BOOST_TEST((d().go_on(now, id) == taken::all));
}

BOOST_FIXTURE_TEST_CASE(a_quantum_debt_is_paid_off_by_later_iterations, world) {
  auto const id = greeted();
  std::vector<std::string> const many(4 * quantum, "k");
  d().received(now, id, put_frame(1, "k", "v") + frame(core::get_all_args{many}, 2));

  for (int i = 0; i < 3; ++i) d().begin();
  BOOST_TEST((d().received(now, id, try_get_frame(3, "k")) == taken::waits));
  d().begin();
  BOOST_TEST((d().go_on(now, id) == taken::all));
}

BOOST_FIXTURE_TEST_CASE(connections_above_their_share_wait_and_others_continue, busy_world) {
  std::vector<connection_id> hostile;
  for (int i = 0; i < 5; ++i) hostile.push_back(busy(20 * quantum));
  iteration(hostile);  // the second quantum of each

  auto const one = greeted();
  for (int i = 0; i < 20; ++i) {
    BOOST_TEST(iteration(hostile) <= step_scheduler::quanta_beyond_share * quantum);
    auto const id = static_cast<std::uint64_t>(i);
    BOOST_TEST((d().received(now, one, try_get_frame(id + 1, "k")) == taken::all));
  }
  settle();
  for (auto const id : hostile) {
    auto& reader = readers[id];
    std::uint64_t count = 0;
    for (; !reader.empty(); ++count) reader.take();
    BOOST_TEST(count + 1 >= (2 + 6) * quantum);  // with its Hello; of 80 quanta
  }

  // With more than one quantum: the rest in the next iteration, whatever else waits.
  BOOST_TEST((d().received(now, one, try_gets(21, 20 + 2 * quantum - 1)) == taken::waits));
  iteration(hostile);
  BOOST_TEST((d().go_on(now, one) == taken::all));
}

BOOST_AUTO_TEST_CASE(a_connection_with_waiting_input_is_not_silent) {
  world w{1};
  w.o.core.heartbeat_timeout = 10s;
  auto const id = w.greeted();
  w.d().received(w.now, id, join_frame(1, 0) + put_frame(2, "k", "v"));
  std::vector<std::string> const many(4 * quantum, "k");
  w.d().received(w.now, id, frame(core::get_all_args{many}, 3) + try_get_frame(4, "k"));

  // No further iteration begins that would process the rest.
  auto const end = w.now + 30s;
  for (; w.now < end; w.now += 50ms) {
    BOOST_TEST_REQUIRE((w.d().go_on(w.now, id) == taken::waits));
    w.d().advance(w.now);
  }

  BOOST_TEST(!w.d().error().has_value());
}

core::count_barrier_args barrier_of_two() { return {.name = "two", .count = 2, .timeout = 1s}; }

BOOST_AUTO_TEST_CASE(a_queued_arrival_within_its_share_meets_its_deadline) {
  world w{1};
  auto const id = w.greeted();
  w.d().received(w.now, id, join_frame(1, 0));
  auto const other = w.greeted();
  w.d().received(w.now, other, frame(barrier_of_two(), 1));
  w.d().begin();
  w.now += 1s - 1ns;

  // The iteration that receives it; the next one begins after the deadline.
  auto const late = w.now;
  w.d().received(w.now, id, try_gets(2, 1 + quantum) + frame(barrier_of_two(), 2 + quantum));
  w.d().advance(late);
  w.now += 10ms;
  w.d().begin();
  BOOST_TEST((w.d().go_on(w.now, id) == taken::all));
  w.d().advance(w.now);

  BOOST_TEST(w.next(other).what.outcome.ok());
}

// So many connections with one quantum each that they take several iterations.
std::vector<connection_id> many_connections(world& w) {
  constexpr auto at_once = step_scheduler::iteration_steps / step_scheduler::quantum;
  std::vector<connection_id> all;
  for (auto i = 0; i < 5 * at_once / 2; ++i) all.push_back(w.greeted());
  w.d().begin();
  for (std::size_t i = 0; i < all.size(); ++i) {
    bool const fits = static_cast<std::int64_t>(i) < at_once;
    auto const taken_now = w.d().received(w.now, all[i], try_gets(1, quantum));
    BOOST_TEST_REQUIRE((taken_now == (fits ? taken::all : taken::waits)));
  }
  return all;
}

BOOST_AUTO_TEST_CASE(many_connections_within_their_share_continue_round_robin) {
  constexpr std::uint64_t steps = step_scheduler::iteration_steps;
  constexpr std::uint64_t at_once = steps / step_scheduler::quantum;
  busy_world w;
  auto all = many_connections(w);
  all.erase(all.begin(), all.begin() + at_once);

  BOOST_TEST(w.iteration(all) == steps);
  BOOST_TEST(w.iteration(all) == steps / 2);
  BOOST_TEST(w.iteration(all) == 0u);
  BOOST_TEST(w.d().steps().waits().counts()[0] == at_once);
  BOOST_TEST(w.d().steps().waits().counts()[1] == at_once / 2);
  BOOST_TEST(w.d().steps().worker_wait_max() == 0u);
  BOOST_TEST(w.d().steps().steps_max() == steps);
}

BOOST_AUTO_TEST_CASE(tasks_are_not_delayed_by_other_clients) {
  world w{1};
  auto const task = w.greeted();
  w.d().received(w.now, task, join_frame(1, 0));
  auto const all = many_connections(w);

  // Its own two quanta.
  BOOST_TEST((w.d().received(w.now, task, try_gets(2, 1 + 2 * quantum)) == taken::waits));
  w.d().begin();
  for (auto const id : all) static_cast<void>(w.d().go_on(w.now, id));
  BOOST_TEST((w.d().go_on(w.now, task) == taken::all));
  BOOST_TEST(w.d().steps().worker_wait_max() == 1u);
}

BOOST_AUTO_TEST_CASE(input_queued_behind_many_others_meets_its_deadline) {
  world w;
  auto const other = w.greeted();
  w.d().received(w.now, other, frame(barrier_of_two(), 1));
  auto const id = w.greeted();
  w.now += 1s - 1ns;
  auto const all = many_connections(w);
  BOOST_TEST((w.d().received(w.now, id, frame(barrier_of_two(), 1)) == taken::waits));
  w.d().advance(w.now);

  for (auto state = taken::waits; state == taken::waits;) {
    w.now += 10ms;
    w.d().begin();
    for (auto const one : all) static_cast<void>(w.d().go_on(w.now, one));
    state = w.d().go_on(w.now, id);
    w.d().advance(w.now);
  }

  BOOST_TEST(w.next(other).what.outcome.ok());
}

BOOST_AUTO_TEST_CASE(a_version_1_client_gets_a_readable_refusal) {
  world w;
  auto const client = w.open();

  // Hello{protocol_version: 1, label: "old:1"}
  w.d().received(w.now, client, std::string{"\0\0\0\x0b\x22\x09\x08\x01\x2a\x05old:1", 15});
  std::vector<connection_id> dirty;
  w.d().deliver(dirty);

  // Goodbye{code: FAILED_PRECONDITION, reason: ...}
  std::string const reason =
      "the client speaks protocol version 1, this coordinator version 2: run the same version of "
      "Coxswain on both sides";
  auto const with_length = [](std::string const& text) {
    return static_cast<char>(text.size()) + text;
  };
  std::string const goodbye = "\x08\x09\x12" + with_length(reason);
  BOOST_TEST(next_bytes(w.d().out(client)) ==
             std::string(3, '\0') + with_length("\x6a" + with_length(goodbye)));
}

BOOST_FIXTURE_TEST_CASE(queued_input_is_dropped_with_its_connection, busy_world) {
  auto const within = busy(3 * quantum);
  auto const beyond = busy(3 * quantum);
  iteration({beyond});

  d().lost(now, within, core::loss::closed);
  d().lost(now, beyond, core::loss::closed);

  BOOST_TEST(iteration({within, beyond}) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::server
