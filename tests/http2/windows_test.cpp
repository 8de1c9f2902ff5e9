// Large messages: windows, permission, and calls that do not wait for either.

#include "coxswain/http2/client_session.hpp"
#include "coxswain/http2/server_session.hpp"
#include "tests/http2/conversation.hpp"
#include "tests/http2/frames.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::http2 {
namespace {

using test::t0;
using test::take;

constexpr std::size_t huge_bytes = 100'000'000;

limits for_huge() {
  limits l;
  l.message_bytes_max = huge_bytes;
  return l;
}

call_start to(std::string_view path) {
  call_start how;
  how.path = path;
  return how;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(windows_test)

BOOST_AUTO_TEST_CASE(a_large_request_waits_for_permission_and_small_ones_do_not) {
  test::pair both{for_huge()};
  auto const large = both.client.start(to("/p.S/Large"), std::string(1'000'000, 'x'));
  both.exchange();
  BOOST_TEST(both.server.asks_for() == 1'000'000u);
  BOOST_TEST(both.bytes_to_server < 70'000u);
  BOOST_TEST(both.ask(to("/p.S/Small"), std::string(60'000, 'y')).path == "/p.S/Small");

  both.server.allow();
  BOOST_TEST(both.server.asks_for() == 0u);
  both.exchange();
  auto const asked = take<call>(both.server_events);
  BOOST_TEST(asked.stream == *large);
  BOOST_TEST(asked.message.size() == 1'000'000u);
}

BOOST_AUTO_TEST_CASE(large_requests_get_permission_in_order) {
  test::pair both{for_huge()};
  for (std::size_t i = 1; i <= 3; ++i) {
    BOOST_REQUIRE(both.client.start(to("/p.S/Large"), std::string(i * 100'000, 'x')).has_value());
  }
  both.exchange();
  for (std::size_t i = 1; i <= 3; ++i) {
    BOOST_TEST(both.server.asks_for() == i * 100'000);
    both.server.allow();
  }
  both.exchange();
  BOOST_TEST(both.server_events.size() == 3u);
}

BOOST_AUTO_TEST_CASE(a_cancelled_large_request_gives_up_its_reservation) {
  test::pair both{for_huge()};
  auto const large = both.client.start(to("/p.S/Large"), std::string(1'000'000, 'x'));
  both.exchange();
  both.client.cancel(*large);
  both.exchange();

  BOOST_TEST(both.server.asks_for() == 0u);
  BOOST_TEST(both.server.streams() == 0u);
  BOOST_TEST(both.client.unsent_bytes() == 0u);
}

BOOST_AUTO_TEST_CASE(a_request_that_has_not_arrived_can_be_refused) {
  test::pair both{for_huge()};
  auto const before = both.server.memory_bytes();
  auto const first = both.client.start(to("/p.S/Large"), std::string(1'000'000, 'x'));
  auto const second = both.client.start(to("/p.S/Large"), std::string(2'000'000, 'x'));
  both.exchange();
  BOOST_TEST((both.server.asking() == first));
  both.server.allow();
  BOOST_TEST((both.server.asking() == second));
  BOOST_TEST(both.server.arriving_bytes(*first) == 1'000'000u);
  BOOST_TEST(both.server.arriving_bytes(*second) == 2'000'000u);

  for (auto const which : {*first, *second}) {
    BOOST_TEST(both.server.refuse(which, {errc::resource_exhausted, "too slow"}));
    BOOST_TEST(!both.server.refuse(which, {errc::resource_exhausted, "again"}));
    BOOST_TEST(both.server.arriving_bytes(which) == 0u);
  }
  BOOST_TEST(!both.server.asking());
  both.exchange();

  for (int n = 0; n < 2; ++n) {
    auto const end = take<call_ended>(both.client_events);
    BOOST_TEST(end.outcome.code() == errc::resource_exhausted);
    BOOST_TEST(end.outcome.message() == "too slow");
  }
  BOOST_TEST(both.server_events.empty());
  BOOST_TEST(both.server.streams() == 0u);
  BOOST_TEST(both.server.memory_bytes() < before + 50'000);
  BOOST_TEST(both.ask(to("/p.S/Small"), std::string(60'000, 'y')).path == "/p.S/Small");
}

BOOST_AUTO_TEST_CASE(a_hundred_megabytes_are_received_while_small_calls_are_answered) {
  test::pair both{for_huge()};
  std::string const huge(huge_bytes, 'x');
  BOOST_REQUIRE(both.client.start(to("/p.S/Huge"), huge).has_value());
  both.exchange();
  both.server.allow();
  std::size_t small = 0;
  std::vector<server_event> events;
  while (both.server.streams() > 0) {
    BOOST_REQUIRE(both.client.start(to("/p.S/Small"), "").has_value());
    std::string written;
    both.client.append_output(written, 256 * 1024);
    std::string_view rest{written};
    while (!rest.empty()) {
      events.clear();
      rest.remove_prefix(both.server.receive(t0, rest, events));
      for (auto const& event : events) {
        auto const& asked = std::get<call>(event);
        if (asked.path == "/p.S/Huge") BOOST_TEST((asked.message == huge));
        small += asked.path == "/p.S/Small";
        BOOST_TEST(both.server.reply(asked.stream, ""));
      }
    }
    written.clear();
    both.server.append_output(written, 256 * 1024);
    both.client.receive(t0, written, both.client_events);
    if (both.client_events.size() > 1'000) both.client_events.clear();
  }
  BOOST_TEST(small > 300u);
}

BOOST_AUTO_TEST_CASE(a_hundred_megabytes_are_sent_while_small_calls_are_answered) {
  test::pair both{limits{}, for_huge()};
  auto const huge = both.ask(to("/p.S/Huge"), "");
  auto const in_between = both.ask(to("/p.S/Small"), "");
  auto const last = both.ask(to("/p.S/Small"), "");
  auto const before = both.server.memory_bytes();
  BOOST_TEST(both.server.reply(huge.stream, "", bytes{std::string(huge_bytes, 'x')}));
  std::string written;
  both.server.append_output(written, 20'000);
  both.client.receive(t0, written, both.client_events);
  BOOST_TEST(both.server.reply(in_between.stream, "answer"));
  BOOST_TEST(both.server.fail(last.stream, errc::not_found, ""));
  written.clear();
  both.server.append_output(written, 20'000);
  both.client.receive(t0, written, both.client_events);

  // At most one frame of the large one is sent before them.
  BOOST_TEST(both.client_events.size() == 3u);
  BOOST_TEST(both.server.memory_bytes() < before + 100'000);
  both.client_events.clear();
  both.exchange();
  BOOST_TEST(take<reply_message>(both.client_events).message.size() == huge_bytes);
  BOOST_TEST(take<call_ended>(both.client_events).outcome.ok());
}

BOOST_AUTO_TEST_CASE(output_is_bounded_regardless_of_the_backlog) {
  test::pair both{limits{}, for_huge()};
  auto const huge = both.ask(to("/p.S/Huge"), "");
  BOOST_TEST(both.server.reply(huge.stream, std::string(60'000, 'x')));
  std::string written;
  both.server.append_output(written, 10'000);

  BOOST_TEST(written.size() >= 10'000u);
  BOOST_TEST(written.size() < 10'000u + 16'384 + 100);
  BOOST_TEST(both.server.wants_write());
}

BOOST_AUTO_TEST_CASE(requests_being_received_have_a_common_limit) {
  limits l = for_huge();
  l.arriving_bytes_max = 200'000;
  test::pair both{l};
  for (int i = 0; i < 4; ++i) {
    BOOST_REQUIRE(both.client.start(to("/p.S/Large"), std::string(1'000'000, 'x')).has_value());
  }
  both.exchange();

  BOOST_TEST(take<call_ended>(both.client_events).outcome.code() == errc::resource_exhausted);
  BOOST_TEST(both.client_events.empty());
  BOOST_TEST(both.server.streams() == 3u);
  for (int i = 0; i < 3; ++i) both.server.allow();
  both.exchange();
  BOOST_TEST(both.server_events.size() == 3u);
}

BOOST_AUTO_TEST_CASE(a_client_cannot_exceed_the_window_of_a_stream) {
  test::server_harness h{for_huge()};
  h.feed(test::preface() + test::frame(test::frame_type::headers, test::end_headers, 1,
                                       test::header_block(test::call_fields("/p.S/Large"))));
  auto const much = test::frame(test::frame_type::data, 0, 1,
                                test::message(std::string(1'000'000, 'x')).substr(0, 16'384));
  for (int i = 0; i < 3; ++i) h.feed(much);
  h.output();
  BOOST_TEST(h.server.streams() == 1u);
  h.feed(much);

  auto const frames = h.output();
  BOOST_REQUIRE(frames.size() == 1u);
  BOOST_TEST((frames[0].type == test::frame_type::reset));
  BOOST_TEST(frames[0].payload == test::number(3, 4));
  BOOST_TEST(h.server.streams() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::http2
