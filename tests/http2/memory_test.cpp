// Memory of sessions: it is counted and does not grow, and running out of it ends only the session.

#include "coxswain/http2/client_session.hpp"
#include "coxswain/http2/server_session.hpp"
#include "tests/http2/conversation.hpp"
#include "tests/http2/frames.hpp"
#include "tests/memory/scarce_memory.hpp"
#include "tests/wire/live_bytes.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <new>
#include <string>
#include <vector>

namespace coxswain::http2 {
namespace {

call_start to_method() {
  call_start how;
  how.path = "/p.Service/Method";
  return how;
}

void make_calls(test::pair& both, int calls) {
  for (int i = 0; i < calls; ++i) {
    auto const asked = both.ask(to_method(), "question");
    switch (i % 3) {
      case 0: both.server.reply(asked.stream, "answer"); break;
      case 1: both.server.fail(asked.stream, errc::not_found, std::to_string(i)); break;
      default: both.client.cancel(asked.stream);
    }
    both.exchange(test::t0 + i * 1ms);
    both.client_events.clear();
    both.server_events.clear();
  }
}

// Everything that a server does, and which part of it failed.
class script {
 public:
  // True if an allocation failed at some point; nothing continues after that.
  bool play() {
    try {
      memory_meter meter{1'000'000'000};
      frame_buffer buffer{};
      server_session server{limits{}, &meter, &buffer};
      try {
        play(server);
        return false;
      } catch (std::bad_alloc const&) {
        coxswain::test::aside const ours;
        BOOST_TEST(!server.wants_read());
        BOOST_TEST(!server.wants_write());
        BOOST_TEST(server.error() == "out of memory");
        return true;
      }
    } catch (std::bad_alloc const&) {
      return true;  // there is no session
    }
  }

 private:
  void play(server_session& server) {
    std::vector<server_event> events;
    server.receive(test::t0, input_, events);
    server.reply(stream_id{1}, "answer");
    server.fail(stream_id{3}, errc::not_found, "no such key, in a text that is not short", "d");
    server.ping(7);
    server.go_away(stream_id{101}, error_code::no_error, "bye");
    std::string out;
    while (server.wants_write()) server.append_output(out, 1'000);
    server.receive(test::t0, test::frame(test::frame_type::reset, 0, 5, "0000"), events);
  }

  std::string const input_ = test::preface() + test::whole_call(1, "/p.Service/Method", "a") +
                             test::whole_call(3, "/p.Service/Method", std::string(5'000, 'x')) +
                             test::whole_call(5, "/p.Service/Method", "c") +
                             test::frame(test::frame_type::ping, 0, 0, "12345678");
};

}  // namespace

BOOST_AUTO_TEST_SUITE(memory_test)

BOOST_AUTO_TEST_CASE(nothing_grows_over_a_hundred_thousand_calls) {
  test::pair both;
  make_calls(both, 1'000);
  auto const of_server = both.server.memory_bytes();
  auto const of_client = both.client.memory_bytes();
  make_calls(both, 99'000);

  BOOST_TEST(both.server.memory_bytes() <= of_server + 1'000);
  BOOST_TEST(both.client.memory_bytes() <= of_client + 1'000);
  BOOST_TEST(both.server.streams() == 0u);
  BOOST_TEST(both.client.streams() == 0u);
}

BOOST_AUTO_TEST_CASE(memory_of_a_session_is_counted_and_released) {
  memory_meter meter{1'000'000'000};
  {
    server_session server{limits{}, &meter};
    BOOST_TEST(meter.transit() == server.memory_bytes());
    auto const before = server.memory_bytes();
    std::vector<server_event> events;
    auto const call = test::whole_call(1, "/p.Service/Method", std::string(10'000, 'x'));
    server.receive(test::t0, test::preface() + call.substr(0, call.size() - 1'000), events);
    BOOST_TEST(server.memory_bytes() > before + 9'000);
    BOOST_TEST(meter.transit() == server.memory_bytes());
    server.receive(test::t0, call.substr(call.size() - 1'000), events);
    BOOST_TEST(server.memory_bytes() < before + 5'000);

    BOOST_TEST(server.reply(stream_id{1}, std::string(20'000, 'y')));
    BOOST_TEST(meter.transit() == server.memory_bytes());
    BOOST_TEST(server.memory_bytes() > before + 20'000);
  }
  BOOST_TEST(meter.transit() == 0u);
}

BOOST_AUTO_TEST_CASE(a_failed_allocation_ends_the_session_without_a_leak) {
  script scenario;
  scenario.play();
  for (std::size_t n = 1;; ++n) {
    auto const before = coxswain::test::live_bytes();
    coxswain::test::fail_once_at(n);
    auto const failed = scenario.play();
    auto const allocations = coxswain::test::return_memory();
    BOOST_TEST(coxswain::test::live_bytes() == before, "allocation " << n);
    BOOST_TEST(failed == (n <= allocations), "allocation " << n);
    if (n > allocations) break;
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::http2
