// Routes in dispatch: connections that a relay carries (§18.3).

#include "coxswain/server/dispatch.hpp"
#include "tests/http2/frames.hpp"
#include "tests/server/messages.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::server {
namespace {

constexpr core::session_secret secret{7};

// One trunk, whose relay writes all it gets to its clients at once.
struct world {
  explicit world(std::uint32_t tasks = 2) {
    o.core.num_tasks = tasks;
    o.core.heartbeat_timeout = 10s;
    o.core.reconnect_grace = 0s;
    o.log = [this](core::event const& e) { log.push_back(e.text); };
  }

  dispatch& d() {
    if (!made) made.emplace(o, incarnation{77}, now);
    return *made;
  }
  void begin(std::string token = "") {
    trunk = d().open(now, "10.0.0.1:5", core::session_secret{});
    core::hello_args hello{.token = std::move(token), .label = "b12:1"};
    hello.relay = true;
    send(frame(std::move(hello)));
  }

  void send(std::string const& bytes) {
    static_cast<void>(d().received(now, trunk, bytes));
    settle();
  }
  static std::string opened(std::uint32_t route) {
    std::string bytes;
    wire::append_opened(bytes, route, secret, "pid 3391");
    return bytes;
  }
  static std::string content(std::uint32_t route, std::string_view what) {
    std::string bytes;
    for (; !what.empty(); what.remove_prefix(std::min(what.size(), wire::route_content_max))) {
      auto const some = what.substr(0, wire::route_content_max);
      wire::append_content_head(bytes, route, some.size());
      bytes += some;
    }
    return bytes;
  }
  static std::string closed(std::uint32_t route, bool has_exited = false) {
    std::string bytes;
    wire::append_closed(bytes, route, has_exited);
    return bytes;
  }
  static std::string living(std::vector<std::uint32_t> const& silent) {
    std::string bytes;
    wire::append_living(bytes, silent);
    return bytes;
  }
  void open(std::uint32_t route) { send(opened(route) + content(route, hello_frame())); }
  void join(std::uint32_t route, std::uint32_t task) {
    open(route);
    send(content(route, join_frame(1, task)));
  }

  void settle() {
    std::vector<connection_id> dirty;
    while (d().deliver(dirty)) {
      for (auto const id : dirty) write(id);
    }
    d().check_invariants();
  }
  void write(connection_id id) {
    auto& out = d().out(id);
    while (!out.empty()) {
      auto const text = next_bytes(out);
      if (id == trunk) take(text);
      d().wrote(now, id, text.size());
    }
  }
  void take(std::string_view bytes) {
    decoder.feed(bytes);
    while (auto const payload = decoder.next().value()) {
      if (!wire::is_routed(*payload)) {
        own.push_back(wire::decode_server(*payload).value());
        continue;
      }
      auto what = wire::decode_routed(*payload).value();
      using kind = wire::routed::kind;
      if (what.what == kind::shared) {
        ++shared;
        while (auto const one = wire::take_receiver(what.to)) {
          std::string frame;
          wire::append_server_head(frame, one->id, what.content.size());
          frame += what.content;
          received[one->route] += frame.size();
          readers[one->route].feed(frame);
        }
      }
      if (what.what == kind::content) {
        received[what.route] += what.content.size();
        if (!is_http2.contains(what.route)) readers[what.route].feed(what.content);
      }
      if (what.what == kind::closed) ++ends[what.route];
      if (what.what == kind::room) room[what.route] += what.room;
    }
  }
  // In iterations that are not late.
  void pass(duration some) {
    for (auto const end = now + some; now < end;) {
      now = std::min(end, now + 50ms);
      d().begin();
      d().advance(now);
      settle();
    }
  }
  core::answer next(std::uint32_t route) { return readers[route].take().what; }
  void read_room(std::uint32_t route) {
    std::string bytes;
    wire::append_room(bytes, route, static_cast<std::uint32_t>(std::exchange(received[route], 0)));
    send(bytes);
  }
  bool is_alive() { return !d().out(trunk).ends(); }
  core::snapshot::task task(std::size_t which) { return d().look(now).tasks.at(which); }

  options o;
  time_point now{1000s};
  std::vector<std::string> log;
  std::optional<dispatch> made;
  connection_id trunk;
  wire::frame_decoder decoder{wire::message_bytes_max};
  std::vector<wire::server_message> own;
  std::map<std::uint32_t, message_reader> readers;
  std::set<std::uint32_t> is_http2;  // what these receive is only counted
  std::map<std::uint32_t, std::size_t> received;
  std::map<std::uint32_t, std::size_t> room;
  std::map<std::uint32_t, int> ends;
  int shared{};  // frames for several routes
};

struct relayed : world {
  relayed() { begin(); }
};

BOOST_AUTO_TEST_SUITE(routes_test)

BOOST_FIXTURE_TEST_CASE(each_route_has_a_session_of_its_own, relayed) {
  join(1, 0);
  join(2, 1);

  auto const first = *std::get<boxed<core::hello_answer>>(next(1).value);
  auto const second = *std::get<boxed<core::hello_answer>>(next(2).value);
  BOOST_TEST((first.session != second.session));
  BOOST_TEST((first.secret == secret));
  BOOST_TEST(next(1).outcome.ok());
  BOOST_TEST(next(2).outcome.ok());
  send(content(1, barrier_frame(2, 0, "b")) + content(2, barrier_frame(2, 1, "b")));
  BOOST_TEST(std::get<core::barrier_answer>(next(1).value).round.value == 1u);
  BOOST_TEST(std::get<core::barrier_answer>(next(2).value).round.value == 1u);
  BOOST_TEST(d().routes() == 2u);
  BOOST_TEST(task(0).peer == "10.0.0.1:5 via relay, pid 3391");
}

BOOST_FIXTURE_TEST_CASE(a_release_is_one_frame_for_all_routes_of_a_trunk, world) {
  o.core.num_tasks = 100;
  begin();
  std::string arrivals;
  for (std::uint32_t i = 0; i < 100; ++i) join(i + 1, i);
  for (std::uint32_t i = 0; i < 100; ++i) {
    arrivals += content(i + 1, barrier_frame(2, i, "b"));
    static_cast<void>(next(i + 1));
    static_cast<void>(next(i + 1));
  }
  shared = 0;

  send(arrivals);

  BOOST_TEST(shared == 1);
  for (std::uint32_t i = 1; i <= 100; ++i) {
    BOOST_TEST(std::get<core::barrier_answer>(next(i).value).round.value == 1u);
    BOOST_TEST(readers[i].empty());
  }
}

BOOST_FIXTURE_TEST_CASE(the_error_of_a_death_is_one_frame_for_all_routes_of_a_trunk, world) {
  o.core.num_tasks = 100;
  begin();
  for (std::uint32_t i = 0; i < 100; ++i) join(i + 1, i);
  std::string waits;
  for (std::uint32_t i = 0; i < 99; ++i) {
    waits += content(i + 1, barrier_frame(2, i, "b"));
    for (int n = 0; n < 2; ++n) static_cast<void>(next(i + 1));
  }
  send(waits);
  shared = 0;

  send(closed(100, true));
  pass(1ms);

  BOOST_TEST(shared == 2);
  for (std::uint32_t i = 1; i < 100; ++i) {
    BOOST_TEST((next(i).outcome.code() == errc::internal));
    BOOST_TEST((std::get<job_error>(next(i).value).cause.task == task_id{99}));
    BOOST_TEST(readers[i].empty());
  }
}

BOOST_FIXTURE_TEST_CASE(a_value_for_many_routes_is_sent_once_to_their_trunk, relayed) {
  std::string const value(30'000, 'v');
  std::string waits;
  for (std::uint32_t i = 1; i <= 8; ++i) {
    open(i);
    static_cast<void>(next(i));
    waits += content(i, frame(core::get_args{"k"}, 1));
  }
  send(waits);
  open(9);
  shared = 0;

  send(content(9, put_frame(1, "k", value)));

  BOOST_TEST(shared == 2);  // with the reply to the put
  for (std::uint32_t i = 1; i <= 8; ++i) {
    BOOST_TEST((std::get<core::value_answer>(next(i).value).value.view() == value));
  }
}

BOOST_FIXTURE_TEST_CASE(a_shared_reply_keeps_its_place, relayed) {
  open(1);
  send(content(1, put_frame(1, "large", std::string(40'000, 'v'))));
  send(content(1, put_frame(2, "k", "v") + try_get_frame(3, "large") + put_frame(4, "k2", "v") +
                      try_get_frame(5, "k")));

  static_cast<void>(next(1));
  for (int i = 0; i < 2; ++i) {
    BOOST_TEST(std::holds_alternative<core::stored_answer>(next(1).value));
  }
  BOOST_TEST(std::get<core::value_answer>(next(1).value).value.size() == 40'000u);
  BOOST_TEST(std::holds_alternative<core::stored_answer>(next(1).value));
  BOOST_TEST(std::get<core::value_answer>(next(1).value).value.view() == "v");
}

BOOST_FIXTURE_TEST_CASE(a_route_may_be_cut_anywhere, relayed) {
  auto const bytes = hello_frame() + join_frame(1, 0);
  send(opened(1));
  for (char const one : bytes) send(content(1, {&one, 1}));
  join(2, 1);

  BOOST_TEST(std::holds_alternative<boxed<core::hello_answer>>(next(1).value));
  BOOST_TEST(std::holds_alternative<core::join_answer>(next(1).value));
}

BOOST_FIXTURE_TEST_CASE(the_end_of_a_route_is_that_of_a_connection, relayed) {
  join(1, 0);
  join(2, 1);

  send(closed(1));
  pass(1ms);

  BOOST_TEST(d().routes() == 1u);
  BOOST_TEST((task(0).state == task_state::failed));
  BOOST_TEST((task(1).state == task_state::connected));
  BOOST_TEST(is_alive());
}

BOOST_FIXTURE_TEST_CASE(input_before_the_end_of_a_route_counts, relayed) {
  open(1);

  send(content(1, put_frame(1, "k", "v")) + closed(1));
  pass(1ms);

  BOOST_TEST(d().look(now).keys == 1u);
  BOOST_TEST(d().routes() == 0u);
}

// The token of the relay does not vouch for it.
BOOST_FIXTURE_TEST_CASE(a_tcp_store_client_on_a_route_is_refused_where_tokens_are_required, world) {
  std::string const sets_k{"\0\xCE\xF7\x85\x3C\1\2\0\0\0\0\0\0\0/k\1\0\0\0\0\0\0\0v", 25};
  o.core.credentials = {{core::role::worker, "worker"}, {core::role::relay, "relay"}};
  begin("relay");

  send(opened(1) + content(1, sets_k));
  pass(1ms);

  BOOST_TEST(d().look(now).keys == 0u);
  BOOST_TEST(ends[1] == 1);
  BOOST_TEST(std::any_of(log.begin(), log.end(), [](std::string const& one) {
    return contains(one, "requires a token, which torch's TCPStore cannot send");
  }));
  BOOST_TEST(is_alive());

  world without_tokens;
  without_tokens.begin();
  without_tokens.send(opened(1) + content(1, sets_k));
  BOOST_TEST(without_tokens.d().look(without_tokens.now).keys == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_client_whose_process_has_ended_has_no_grace, world) {
  o.core.reconnect_grace = 2s;
  begin();
  join(1, 0);
  join(2, 1);

  send(content(1, put_frame(2, "k", "v")) + closed(1, true) + closed(2));
  pass(1ms);

  BOOST_TEST((task(0).state == task_state::failed));
  BOOST_TEST(std::any_of(log.begin(), log.end(), [](std::string const& one) {
    return contains(one, "the process of task 0 (test:1) ended without leaving");
  }));
  BOOST_TEST((task(1).state == task_state::connected));
  BOOST_TEST(d().look(now).keys == 1u);
}

BOOST_FIXTURE_TEST_CASE(the_end_of_a_process_is_certain_though_its_trunk_ends_with_it, world) {
  o.core.reconnect_grace = 2s;
  begin();
  join(1, 0);
  join(2, 1);

  send(closed(1, true));
  d().lost(now, trunk, core::loss::closed);
  settle();

  BOOST_TEST((task(0).state == task_state::failed));
  BOOST_TEST((task(1).state == task_state::connected));
}

BOOST_FIXTURE_TEST_CASE(an_owner_that_reports_ends_says_how_a_process_ended, world) {
  o.core.reconnect_grace = 2s;
  o.core.reports_ends = true;
  begin();
  join(1, 0);
  join(2, 1);

  send(closed(1, true));
  pass(1s);
  BOOST_TEST((task(0).state == task_state::connected));
  static_cast<void>(d().put_in(now, core::process_ended{task_id{0}, {}}));
  BOOST_TEST((task(0).state == task_state::left));
}

BOOST_FIXTURE_TEST_CASE(a_relay_stands_for_its_clients_but_the_silent_ones, relayed) {
  join(1, 0);
  join(2, 1);

  for (int i = 0; i < 4; ++i) {
    pass(3s);
    send(frame(std::monostate{}) + living({2}));
  }

  BOOST_TEST((task(0).state == task_state::connected));
  BOOST_TEST((task(1).state == task_state::failed));
}

BOOST_FIXTURE_TEST_CASE(that_a_relay_stands_for_a_client_answers_no_probe, relayed) {
  join(1, 0);
  join(2, 1);
  open(3);
  core::join_args other;
  other.self = incarnation{99};
  send(content(3, frame(other, 1, task_id{0})));

  for (int i = 0; i < 10; ++i) {
    send(living({}));
    pass(200ms);
  }

  static_cast<void>(next(3));
  BOOST_TEST(!next(3).outcome.ok());
  BOOST_TEST((task(0).state == task_state::failed));
}

BOOST_FIXTURE_TEST_CASE(a_lost_trunk_is_no_death_and_its_sessions_resume, relayed) {
  join(1, 0);
  join(2, 1);
  auto const hello = *std::get<boxed<core::hello_answer>>(next(1).value);

  d().lost(now, trunk, core::loss::closed);
  pass(4s);
  BOOST_TEST((task(0).state == task_state::connected));
  BOOST_TEST(d().routes() == 0u);

  begin();
  core::resume_args again{hello.session, hello.secret, hello.coordinator, {}};
  send(opened(9) + content(9, frame(again, 0, {}, 1)));
  BOOST_TEST(std::holds_alternative<core::resume_answer>(next(9).value));
  pass(2s);
  BOOST_TEST((task(0).state == task_state::connected));
  BOOST_TEST((task(1).state == task_state::failed));
}

BOOST_FIXTURE_TEST_CASE(a_route_whose_client_does_not_read_delays_no_other, relayed) {
  open(1);
  open(2);
  send(content(1, put_frame(1, "k", std::string(30'000, 'v'))));
  std::string many;
  for (std::uint64_t i = 2; i < 10; ++i) many += try_get_frame(i, "k");
  received.clear();

  send(content(1, many) + content(2, try_get_frame(1, "absent")));
  BOOST_TEST(received[1] <= wire::route_room_max);
  BOOST_TEST(std::holds_alternative<boxed<core::hello_answer>>(next(2).value));
  BOOST_TEST((next(2).outcome.code() == errc::not_found));

  while (received[1] != 0) read_room(1);
  static_cast<void>(next(1));
  for (std::uint64_t i = 1; i < 10; ++i) BOOST_TEST(next(1).outcome.ok());
}

BOOST_FIXTURE_TEST_CASE(a_client_that_reads_nothing_is_disconnected_alone, relayed) {
  open(1);
  open(2);
  send(content(1, put_frame(1, "k", std::string(60'000, 'v'))));
  send(content(1, try_get_frame(2, "k") + try_get_frame(3, "k")));

  for (int i = 0; i < 32; ++i) {
    pass(1s);
    send(frame(std::monostate{}) + content(2, frame(std::monostate{})));
  }

  BOOST_TEST(is_alive());
  BOOST_TEST(d().look(now).sessions == 2u);
}

BOOST_FIXTURE_TEST_CASE(a_flood_waits_and_is_taken_in_its_turn, relayed) {
  open(1);
  open(2);
  std::string flood;
  for (std::uint64_t i = 1; i <= 1'000; ++i) flood += try_get_frame(i, "k");

  send(content(1, flood) + content(2, put_frame(1, "k", "v")));
  BOOST_TEST(d().look(now).keys == 1u);
  BOOST_TEST((d().next_deadline() <= now));
  for (int i = 0; i < 10; ++i) pass(1ms);

  static_cast<void>(next(1));
  for (std::uint64_t i = 1; i <= 1'000; ++i) static_cast<void>(next(1));
  BOOST_TEST(readers[1].empty());
}

// Routes, each with a quantum of steps to use, of which an iteration has six.
struct many_routes : relayed {
  static constexpr std::uint32_t routes = 20;
  static constexpr auto quantum = static_cast<std::uint64_t>(step_scheduler::quantum);

  many_routes() {
    for (std::uint32_t i = 1; i <= routes; ++i) open(i);
    d().begin();
    for (std::uint32_t i = 1; i <= routes; ++i) send(content(i, try_gets(1, quantum)));
  }
  static std::string try_gets(std::uint64_t first, std::uint64_t count) {
    std::string all;
    for (auto i = first; i < first + count; ++i) all += try_get_frame(i, "k");
    return all;
  }
  // An iteration without input. Returns the number of processed messages.
  std::uint64_t iteration() {
    auto const before = d().frames_received();
    d().begin();
    d().advance(now);
    settle();
    return d().frames_received() - before;
  }
  std::size_t replies(std::uint32_t route) {
    std::size_t count = 0;
    for (; !readers[route].empty(); ++count) readers[route].take();
    return count;
  }
};

BOOST_FIXTURE_TEST_CASE(many_routes_continue_in_their_order, many_routes) {
  for (std::uint32_t first = 7; first <= routes; first += 6) {
    BOOST_TEST(replies(first) == 1u);  // to its Hello
    BOOST_TEST(iteration() == std::min<std::uint64_t>(routes - first + 1, 6) * quantum);
    BOOST_TEST(replies(first) == quantum);
  }
  BOOST_TEST(iteration() == 0u);
  BOOST_TEST(d().steps().steps_max() == step_scheduler::iteration_steps);
}

BOOST_FIXTURE_TEST_CASE(routes_that_wait_have_half_of_the_steps_and_no_other_overtakes,
                        many_routes) {
  struct client {
    connection_id id;
    std::uint64_t sent{};
    dispatch::taken state{dispatch::taken::all};
  };
  std::vector<client> others(6);
  d().begin();
  for (auto& one : others) {
    one.id = d().open(now, "10.0.0.2:5", secret);
    one.state = d().received(now, one.id, hello_frame());
  }

  for (std::uint32_t first = 7; first <= routes; first += 3) {
    BOOST_TEST(replies(first) == 1u);
    d().begin();
    send(opened(routes + first) + content(routes + first, hello_frame()));
    for (auto& one : others) {
      if (one.state == dispatch::taken::waits) {
        one.state = d().go_on(now, one.id);
      } else {
        one.state = d().received(now, one.id, try_gets(one.sent + 1, quantum));
        one.sent += quantum;
      }
    }
    d().advance(now);
    settle();
    BOOST_TEST(replies(first) == quantum);
    if (first + 3 <= routes) BOOST_TEST(replies(routes + first) == 0u);
  }
}

BOOST_FIXTURE_TEST_CASE(a_route_with_two_quanta_continues_and_beyond_them_with_all_others,
                        many_routes) {
  send(content(routes, try_gets(quantum + 1, 2 * quantum)));

  for (int i = 0; i < 3; ++i) iteration();
  BOOST_TEST(replies(routes) == 1 + quantum);
  iteration();
  BOOST_TEST(replies(routes) == quantum);
  iteration();
  BOOST_TEST(replies(routes) == quantum);
}

BOOST_FIXTURE_TEST_CASE(a_route_that_waits_for_others_can_end, many_routes) {
  send(closed(routes) + closed(routes - 1, true));
  BOOST_TEST(d().routes() == routes);

  for (int i = 0; i < 3; ++i) iteration();

  BOOST_TEST(d().routes() == routes - 2);
  BOOST_TEST(replies(routes) == 1u);  // it cannot be written to
  d().lost(now, trunk, core::loss::closed);
  BOOST_TEST(iteration() == 0u);
}

BOOST_FIXTURE_TEST_CASE(input_of_a_route_that_waits_for_others_meets_its_deadline, relayed) {
  core::count_barrier_args const two{.name = "two", .count = 2, .timeout = 1s};
  open(1);
  open(2);
  send(content(1, frame(two, 1)));
  now += 1s - 1ns;
  d().begin();
  std::string flood;
  for (std::uint64_t i = 1; i <= 200; ++i) flood += try_get_frame(i, "k");
  for (std::uint32_t i = 3; i <= 40; ++i) {
    open(i);
    send(content(i, flood));
  }
  send(content(2, frame(two, 1)));
  d().advance(now);
  settle();

  for (int i = 0; i < 10; ++i) pass(10ms);

  static_cast<void>(next(1));
  BOOST_TEST(next(1).outcome.ok());
}

BOOST_FIXTURE_TEST_CASE(room_is_reported_for_what_was_taken, relayed) {
  open(1);
  std::size_t sent = 0;
  for (std::uint64_t i = 1; i <= 100; ++i) {
    auto const bytes = put_frame(i, "k", std::string(2'000, 'v'));
    sent += bytes.size();
    send(content(1, bytes));
  }

  BOOST_TEST(room[1] <= sent + hello_frame().size());
  BOOST_TEST(room[1] + wire::route_room_max >= sent);
}

BOOST_FIXTURE_TEST_CASE(a_protocol_error_of_a_route_ends_it_alone, relayed) {
  open(1);
  open(2);

  send(content(1, std::string("\0\0\0\2\xff\xff", 6)));

  static_cast<void>(next(1));
  BOOST_TEST(std::holds_alternative<core::goodbye>(next(1).value));
  BOOST_TEST(ends[1] == 1);
  BOOST_TEST(is_alive());
  send(content(1, "late") + closed(1));
  BOOST_TEST(is_alive());
  BOOST_TEST(d().routes() == 1u);
}

BOOST_AUTO_TEST_CASE(violations_close_the_trunk) {
  std::string too_much_room;
  wire::append_room(too_much_room, 1, wire::route_room_max);
  std::pair<std::string, std::string> const all[] = {
      {world::opened(1), "route 1 does not rise"},
      {world::closed(2), "route 2 was not opened"},
      {too_much_room, "has too much room"},
      {world::living({2, 1}), "the list of silent routes is malformed"},
      {std::string("\0\0\0\2\xaa\1", 6), "is not its only field"},
      {std::string("\0\0\0\3\xaa\1\0", 7), "does not begin with its number"},
      {std::string("\0\0\0\7\xaa\1\4\x08\3\x12\0", 11), "opens it in no valid way"},
  };
  for (auto const& [bytes, why] : all) {
    relayed w;
    w.open(1);
    w.send(bytes);
    BOOST_TEST_REQUIRE(!w.is_alive());
    auto const last = std::get<core::goodbye>(w.own.back().what.value);
    BOOST_TEST(contains(last.why.message(), why), last.why.message());
  }
}

// Also nonsense: the trunk may end, and then there is another one.
BOOST_AUTO_TEST_CASE(no_message_of_a_relay_breaks_a_rule) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      std::mt19937 random{seed};
      auto const upto = [&](std::uint32_t most) {
        return std::uniform_int_distribution<std::uint32_t>{0, most}(random);
      };
      relayed w;
      std::uint32_t last = 0;
      std::uint64_t id = 0;
      for (int step = 0; step < 500; ++step) {
        auto const route = 1 + upto(last);
        std::string bytes;
        switch (upto(8)) {
          case 0:
            ++last;
            bytes = w.opened(last) + w.content(last, hello_frame());
            break;
          case 1: bytes = w.closed(route, upto(1) == 0); break;
          case 2: wire::append_room(bytes, route, upto(1'000)); break;
          case 3: bytes = w.living({route}); break;
          case 4: bytes = w.content(route, std::string(upto(100), '\0')); break;
          case 5: bytes = w.content(route, join_frame(++id, upto(1))); break;
          default: bytes = w.content(route, put_frame(++id, "k", std::string(upto(20'000), 'v')));
        }
        if (upto(100) == 0) bytes[upto(static_cast<std::uint32_t>(bytes.size() - 1))] ^= 1;
        w.send(bytes);
        if (upto(10) == 0) w.pass(1ms);
        if (w.is_alive()) continue;
        w.d().lost(w.now, w.trunk, core::loss::closed);
        BOOST_TEST(w.d().routes() == 0u);
        w.decoder = wire::frame_decoder{wire::message_bytes_max};
        w.readers.clear();
        w.received.clear();
        w.begin();
        last = 0;
      }
    }
  }
}

BOOST_FIXTURE_TEST_CASE(routes_are_limited, relayed) {
  for (std::uint32_t i = 1; i <= 4'096; ++i) send(opened(i));
  send(opened(4'097));

  auto const refusal = std::get<core::goodbye>(next(4'097).value);
  BOOST_TEST(contains(refusal.why.message(), "4096"));
  BOOST_TEST(refusal.may_resume);
  BOOST_TEST(ends[4'097] == 1);
  BOOST_TEST(d().routes() == 4'096u);
  BOOST_TEST(is_alive());
}

BOOST_FIXTURE_TEST_CASE(a_stop_reaches_every_route, relayed) {
  open(1);
  open(2);

  static_cast<void>(d().put_in(now, core::stopped{"the end"}));
  settle();

  for (std::uint32_t const one : {1U, 2U}) {
    static_cast<void>(next(one));
    BOOST_TEST(contains(std::get<core::goodbye>(next(one).value).why.message(), "the end"));
    BOOST_TEST(ends[one] == 1);
  }
  BOOST_TEST(std::holds_alternative<core::goodbye>(own.back().what.value));
}

BOOST_AUTO_TEST_CASE(wrong_tokens_are_refused_at_the_pace_of_connections) {
  world w;
  w.o.core.credentials = {{core::role::worker, "w"}};
  w.begin("w");
  for (std::uint32_t i = 1; i <= 20; ++i) {
    w.send(world::opened(i) + world::content(i, hello_frame("guess")));
  }
  auto const refused = [&] { return w.ends.size(); };

  BOOST_TEST(refused() < 3u);
  w.pass(500ms);
  BOOST_TEST(refused() < 8u);
  w.pass(2s);
  BOOST_TEST(refused() == 20u);
  w.send(world::opened(21) + world::content(21, hello_frame("w")));
  BOOST_TEST(std::holds_alternative<boxed<core::hello_answer>>(w.next(21).value));
}

BOOST_FIXTURE_TEST_CASE(a_jax_process_that_reads_nothing_holds_up_no_other_route, relayed) {
  is_http2.insert(1);
  send(opened(1) + content(1, http2::test::preface()));
  room[1] += wire::route_room_max - http2::test::preface().size();
  std::uint32_t stream = 1;
  auto const some_calls = [&] {
    std::string calls;
    for (int i = 0; i < 75; ++i, stream += 2) calls += http2::test::whole_call(stream, "/N", "");
    return calls;
  };
  // The first half of what comes at once fills its answers at some time, the other is left.
  for (;;) {
    auto const first = some_calls();
    auto const second = some_calls();
    if (room[1] < first.size() + second.size()) break;
    room[1] -= first.size() + second.size();
    send(content(1, first) + content(1, second));
    pass(50ms);
  }
  BOOST_TEST(received[1] == wire::route_room_max);

  open(2);
  pass(1s);
  BOOST_TEST(std::holds_alternative<boxed<core::hello_answer>>(next(2).value));
  BOOST_TEST((d().next_deadline().value_or(time_point::max()) > now));

  read_room(1);
  pass(1s);
  BOOST_TEST(received[1] != 0u);
}

BOOST_AUTO_TEST_CASE(tokens_decide_who_is_a_relay) {
  std::pair<char const*, errc> const all[] = {{"w", errc::ok},
                                              {"r", errc::ok},
                                              {"o", errc::permission_denied},
                                              {"", errc::unauthenticated}};
  for (auto const& [token, code] : all) {
    world w;
    w.o.core.credentials = {
        {core::role::worker, "w"}, {core::role::relay, "r"}, {core::role::operator_, "o"}};
    w.begin(token);
    auto const& reply = w.own.at(0).what.value;
    if (code == errc::ok) {
      BOOST_TEST((std::get<boxed<core::hello_answer>>(reply)->given == core::role::relay));
      w.send(world::opened(1) + world::content(1, hello_frame("r")));
      auto const refused = std::get<core::goodbye>(w.next(1).value);
      BOOST_TEST((refused.why.code() == errc::permission_denied));
    } else {
      BOOST_TEST((std::get<core::goodbye>(reply).why.code() == code));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::server
