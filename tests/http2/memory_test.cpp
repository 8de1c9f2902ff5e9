// What sessions hold: it is counted, does not grow, and its lack ends the session alone.

#include "coxswain/http2/client_session.hpp"
#include "coxswain/http2/server_session.hpp"
#include "tests/http2/conversation.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <string>

namespace coxswain::http2 {
namespace {

call_start to_method() {
  call_start how;
  how.path = "/p.Service/Method";
  return how;
}

void talk_much(test::pair& both, int calls) {
  for (int i = 0; i < calls; ++i) {
    auto const asked = both.ask(to_method(), "question");
    switch (i % 3) {
      case 0: both.server.reply(asked.stream, "answer"); break;
      case 1: both.server.fail(asked.stream, errc::not_found, std::to_string(i)); break;
      default: both.client.cancel(asked.stream);
    }
    both.talk(test::t0 + i * 1ms);
    both.heard.clear();
    both.asked.clear();
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(memory_test)

BOOST_AUTO_TEST_CASE(nothing_grows_over_a_hundred_thousand_calls) {
  test::pair both;
  talk_much(both, 1'000);
  auto const of_server = both.server.memory_bytes();
  auto const of_client = both.client.memory_bytes();
  talk_much(both, 99'000);

  BOOST_TEST(both.server.memory_bytes() <= of_server + 1'000);
  BOOST_TEST(both.client.memory_bytes() <= of_client + 1'000);
  BOOST_TEST(both.server.streams() == 0u);
  BOOST_TEST(both.client.streams() == 0u);
}

BOOST_AUTO_TEST_CASE(what_a_session_holds_is_counted_and_given_back) {
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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::http2
