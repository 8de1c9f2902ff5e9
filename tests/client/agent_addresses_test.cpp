// Several addresses of the coordinator: their order, and which of them serves.

#include "tests/client/agent_lab.hpp"
#include "tests/main/contains.hpp"

#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>
#include <boost/test/unit_test.hpp>

#include <set>
#include <string>

namespace coxswain::test {
namespace {

agent_options with(std::string const& addresses, std::uint64_t seed = 1) {
  auto options = agent_lab::default_options();
  options.addresses.clear();
  boost::algorithm::split(options.addresses, addresses, boost::is_any_of(","));
  options.seed = seed;
  return options;
}

core::answer standby(std::string address = {}) {
  return {{}, core::goodbye{{errc::unavailable, "no leader yet"}, true, false, std::move(address)}};
}

// The address of the one that was opened last in "open a:1 | ...".
std::size_t opened_in(std::string const& out) {
  return static_cast<std::size_t>(out.at(out.rfind("open ") + 5) - 'a');
}

// A session at the first address that is tried, whose number is `at`, at t0.
struct session {
  explicit session(std::string const& addresses, core::hello_answer hello = hello_answer())
      : lab{with(addresses)} {
    lab.a.start(t0);
    at = opened_in(lab.out());
    lab.connected(t0, at).say(t0, {{}, std::move(hello)});
    BOOST_TEST(lab.out() == "hello | opened");
  }

  agent_lab& refuse(time_point now, std::size_t address) {
    lab.a.connect_failed(now, address, connection_refused, true);
    return lab;
  }

  agent_lab lab;
  std::size_t at{};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(agent_addresses)

BOOST_AUTO_TEST_CASE(each_client_begins_at_a_random_address) {
  std::set<std::string> first;
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    agent_lab lab{with("a:1,b:1,c:1", seed)};
    lab.a.start(t0);
    first.insert(lab.out());
  }
  BOOST_TEST((first == std::set<std::string>{"open a:1", "open b:1", "open c:1"}));
}

BOOST_AUTO_TEST_CASE(another_address_is_tried_after_100_ms_beside_those_without_an_answer) {
  agent_lab lab{with("a:1,b:1")};
  lab.a.start(t0);
  std::size_t const first = opened_in(lab.out());

  BOOST_TEST((lab.a.next_deadline() == t0 + 100ms));
  BOOST_TEST(lab.advance(t0 + 100ms - 1ns) == "");
  BOOST_TEST(lab.advance(t0 + 100ms) == (first == 0 ? "open b:1" : "open a:1"));
  BOOST_TEST(lab.advance(t0 + 10s - 1ns) == "");
  BOOST_TEST(lab.connected(t0 + 10s - 1ns, 1 - first).out() ==
             (first == 0 ? "hello | close a:1" : "hello | close b:1"));
}

BOOST_AUTO_TEST_CASE(a_refusal_is_followed_by_the_next_address_at_once_and_the_last_by_backoff) {
  agent_lab lab{with("a:1,b:1,c:1")};
  lab.a.start(t0);
  std::set<std::size_t> tried{opened_in(lab.out())};
  std::size_t last = *tried.begin();
  for (int i = 0; i < 2; ++i) {
    lab.a.connect_failed(t0, last, connection_refused, true);
    tried.insert(last = opened_in(lab.out()));
  }
  BOOST_TEST(tried.size() == 3u);

  lab.a.connect_failed(t0, last, connection_refused, true);
  BOOST_TEST(lab.out() == "");
  auto const next = lab.a.next_deadline().value();
  BOOST_TEST((next > t0 && next <= t0 + 10ms));
}

BOOST_AUTO_TEST_CASE(rounds_go_on_beside_an_address_without_an_answer) {
  agent_lab lab{with("a:1,b:1")};
  lab.a.start(t0);
  std::size_t const silent = opened_in(lab.out());
  (void)lab.advance(t0 + 100ms);

  int tries = 1;
  time_point now = t0 + 100ms;
  while (now < t0 + 5s) {
    lab.a.connect_failed(now, 1 - silent, connection_refused, true);
    now = lab.a.next_deadline().value();
    tries += lab.advance(now).starts_with("open ") ? 1 : 0;
  }
  BOOST_TEST(tries > 5);
}

BOOST_AUTO_TEST_CASE(a_lost_session_is_resumed_where_it_was_first) {
  session s{"a:1,b:1,c:1"};
  for (auto const now : {t0 + 1s, t0 + 20s, t0 + 40s}) {
    s.lab.lose(now);
    BOOST_TEST(opened_in(s.lab.out()) == s.at);
    std::size_t const next = opened_in(s.refuse(now, s.at).out());
    s.lab.connected(now, next).say(now, unknown({}));
    s.at = next;
    (void)s.lab.out();
  }
}

BOOST_AUTO_TEST_CASE(a_standby_is_left_for_the_address_that_it_names) {
  session s{"a:1,b:1,c:1,d:1"};
  s.lab.lose(t0 + 1s);
  std::size_t const second = opened_in(s.refuse(t0 + 1s, s.at).out());
  (void)s.lab.connected(t0 + 1s, second).out();
  // One that is neither here nor there.
  std::size_t named = 0;
  while (named == s.at || named == second) ++named;
  std::string const name = std::string{static_cast<char>('a' + named)} + ":1";

  std::string const out = s.lab.say(t0 + 1s, standby(name)).out();
  BOOST_TEST(out.ends_with("open " + name));
  BOOST_TEST(s.lab.connected(t0 + 1s, named).say(t0 + 1s, unknown({})).out() ==
             "resume | reconnected after 0 ms");
}

BOOST_AUTO_TEST_CASE(the_successor_that_a_coordinator_names_is_tried_first) {
  session s{"a:1,b:1,c:1"};
  std::size_t const other = s.at == 2 ? 0 : 2;
  std::string const name = std::string{static_cast<char>('a' + other)} + ":1";
  BOOST_TEST(s.lab.say(t0 + 1s, standby(name)).out().find("open " + name) != std::string::npos);
}

BOOST_AUTO_TEST_CASE(only_where_certificates_are_checked_an_unlisted_address_is_followed) {
  for (bool const follows : {false, true}) {
    auto options = with("a:1,b:1");
    options.follows_others = follows;
    agent_lab lab{options};
    lab.a.start(t0);
    std::size_t const first = opened_in(lab.out());
    lab.connected(t0, first).say(t0, standby("c:1"));
    std::string const out = lab.out();
    BOOST_TEST(out.ends_with("open c:1") == follows);
    if (!follows) continue;
    // It does not come back once it is known to be wrong.
    lab.a.connect_failed(t0, 2, connection_refused, true);
    BOOST_TEST(opened_in(lab.out()) == 1 - first);
    lab.a.connect_failed(t0, 1 - first, connection_refused, true);
    auto const next = lab.advance(lab.a.next_deadline().value());
    BOOST_TEST(next != "open c:1");
  }
}

BOOST_AUTO_TEST_CASE(an_unlisted_address_may_fail_while_all_listed_ones_are_tried) {
  auto options = with("a:1,b:1");
  options.follows_others = true;
  agent_lab lab{options};
  lab.a.start(t0);
  std::size_t const first = opened_in(lab.out());
  lab.connected(t0, first).say(t0, standby("c:1"));
  BOOST_TEST(opened_in(lab.out()) == 2u);
  BOOST_TEST(opened_in(lab.advance(t0 + 100ms)) == 1 - first);
  lab.a.connect_failed(t0 + 100ms, 1 - first, connection_refused, true);
  std::set<std::size_t> tried;
  for (int i = 0; i < 2; ++i) {
    tried.insert(opened_in(lab.advance(lab.a.next_deadline().value())));
  }
  BOOST_TEST((tried == std::set<std::size_t>{0, 1}));

  time_point const now = t0 + 1s;
  lab.a.connect_failed(now, 2, connection_refused, true);
  BOOST_TEST(lab.out() == "");
  BOOST_TEST(lab.advance(now + 500ms) == "");
  lab.a.connect_failed(now + 500ms, 0, connection_refused, true);
  BOOST_TEST(lab.advance(lab.a.next_deadline().value()) == "open a:1");
}

BOOST_AUTO_TEST_CASE(a_unix_socket_is_no_hint) {
  for (auto const* const wrong : {"unix:/c", ""}) {
    auto options = with("a:1,b:1");
    options.follows_others = true;
    agent_lab lab{options};
    lab.a.start(t0);
    std::size_t const first = opened_in(lab.out());
    std::string const out = lab.connected(t0, first).say(t0, standby(wrong)).out();
    BOOST_TEST(opened_in(out) == 1 - first);
  }
}

// A relay, and the coordinator behind it.
BOOST_AUTO_TEST_CASE(unix_sockets_are_tried_first_in_the_order_of_the_list) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    agent_lab lab{with("a:1,unix:/b,unix:/c", seed)};
    lab.a.start(t0);
    BOOST_TEST(lab.out() == "open unix:/b");
    lab.a.connect_failed(t0, 1, connection_refused, true);
    BOOST_TEST(lab.out() == "open unix:/c");
    lab.a.connect_failed(t0, 2, connection_refused, true);
    BOOST_TEST(lab.out() == "open a:1");
  }
}

BOOST_AUTO_TEST_CASE(a_silent_relay_gives_way_to_the_next_address_after_a_third_of_the_timeout) {
  for (bool const has_other : {true, false}) {
    agent_lab lab{with(has_other ? "unix:/a,b:1" : "unix:/a")};
    lab.a.start(t0);
    lab.connected(t0, 0).say(t0, {{}, hello_answer()});
    static_cast<void>(lab.out());
    auto const third = hello_answer().heartbeat_timeout / 3;

    BOOST_TEST((lab.advance(t0 + third / 2) == "heartbeat") == has_other);
    auto const out = lab.advance(t0 + third);
    BOOST_TEST((out.find("close unix:/a") != std::string::npos) == has_other, out);
    BOOST_TEST((out.find("open b:1") != std::string::npos) == has_other, out);
  }
}

// As to one that follows a reply.
BOOST_AUTO_TEST_CASE(a_relay_is_kept_if_only_the_second_heartbeat_is_replied_to) {
  agent_lab lab{with("unix:/a,b:1")};
  lab.a.start(t0);
  lab.connected(t0, 0).say(t0, {{}, hello_answer()});
  static_cast<void>(lab.out());
  auto const third = hello_answer().heartbeat_timeout / 3;

  BOOST_TEST(lab.advance(t0 + third / 2) == "heartbeat");
  auto const second = t0 + third / 2 + third / 4;
  BOOST_TEST(lab.advance(second) == "heartbeat");
  static_cast<void>(lab.say(second + 1ms, {}).out());
  BOOST_TEST(lab.advance(t0 + third) == "");
}

// One that was stopped accepts connections and says nothing.
BOOST_AUTO_TEST_CASE(a_handshake_without_an_answer_gives_way_after_a_second_then_two) {
  agent_lab lab{with("a:1,b:1")};
  lab.a.start(t0);
  std::size_t const silent = opened_in(lab.out());
  (void)lab.connected(t0, silent).out();

  BOOST_TEST(lab.advance(t0 + 1s - 1ns) == "");
  BOOST_TEST(opened_in(lab.advance(t0 + 1s)) == 1 - silent);
  lab.a.connect_failed(t0 + 1s, 1 - silent, connection_refused, true);
  time_point now = lab.a.next_deadline().value();
  std::size_t which = opened_in(lab.advance(now));
  if (which != silent) {
    lab.a.connect_failed(now, which, connection_refused, true);
    which = opened_in(lab.out());
  }
  (void)lab.connected(now, silent).out();
  BOOST_TEST(lab.advance(now + 2s - 1ns) == "");
  BOOST_TEST(lab.advance(now + 2s).starts_with("close "));
}

BOOST_AUTO_TEST_CASE(the_coordinator_is_gone_only_when_all_its_addresses_refuse) {
  auto hello = hello_answer();
  hello.coordinator_return = 5s;
  session s{"a:1,b:1", hello};
  auto const refuse_all = [&](time_point now, std::string out) {
    for (; out.find("open ") != std::string::npos; out = s.lab.out()) {
      s.refuse(now, opened_in(out));
    }
  };
  refuse_all(t0 + 1s, s.lab.lose(t0 + 1s).out());
  for (time_point now = t0 + 1s; now < t0 + 6s; now = s.lab.a.next_deadline().value()) {
    refuse_all(now, s.lab.advance(now));
    BOOST_TEST_REQUIRE(!s.lab.a.over());
  }
  BOOST_TEST(s.lab.advance(t0 + 6s) == "ended UNAVAILABLE");
  BOOST_TEST(contains(s.lab.a.end().message(),
                      "the coordinator at a:1,b:1 is gone: its addresses have refused"));
}

BOOST_AUTO_TEST_CASE(a_standby_keeps_a_session_that_silence_would_end) {
  for (bool const answers : {true, false}) {
    auto hello = hello_answer();
    hello.coordinator_return = 5s;
    session s{"a:1,b:1", hello};
    std::size_t const there = 1 - s.at;
    s.lab.lose(t0 + 1s);
    std::string out = s.lab.out();
    time_point now = t0 + 1s;
    while (now < t0 + 120s && !s.lab.a.over()) {
      if (out.find("open ") != std::string::npos) {
        std::size_t const which = opened_in(out);
        if (which != there) {
          s.refuse(now, which);
        } else if (answers) {
          s.lab.connected(now, there).say(now, standby());
        }
      }
      out = s.lab.out();
      if (!out.empty()) continue;
      now = s.lab.a.next_deadline().value();
      out = s.lab.advance(now);
    }
    BOOST_TEST(s.lab.a.over() == !answers);
    if (!answers) BOOST_TEST((now == t0 + 30s));
  }
}

// A Goodbye that is not of a standby is none.
BOOST_AUTO_TEST_CASE(a_replaced_coordinator_is_left_for_the_next_address) {
  session s{"a:1,b:1"};
  s.lab.lose(t0 + 1s);
  (void)s.lab.out();
  std::size_t const next = opened_in(s.refuse(t0 + 1s, s.at).out());
  s.lab.connected(t0 + 1s, next).say(t0 + 1s, {{}, core::resume_answer{{}, 3}});
  (void)s.lab.out();

  s.lab.lose(t0 + 10s);
  (void)s.lab.out();
  (void)s.refuse(t0 + 10s, next).out();
  s.lab.connected(t0 + 10s, s.at);
  std::string const out = s.lab.say(t0 + 10s, {{}, core::resume_answer{{}, 2}}).out();
  BOOST_TEST(out.find("reconnected") == std::string::npos);
  BOOST_TEST(!s.lab.a.up());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
