#pragma once
// A server fed with bytes, and a client and a server connected to each other. Time does not pass
// unless a test advances it.

#include "coxswain/http2/client_session.hpp"
#include "coxswain/http2/server_session.hpp"
#include "tests/http2/frames.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::http2::test {

inline constexpr time_point t0{1h};

// The oldest event, which must be of this kind.
template <class Event, class Any>
Event take(std::vector<Any>& events) {
  BOOST_REQUIRE(!events.empty());
  BOOST_REQUIRE(std::holds_alternative<Event>(events.front()));
  auto found = std::get<Event>(std::move(events.front()));
  events.erase(events.begin());
  return found;
}

// A server, and the events and output that its input caused.
struct server_harness {
  explicit server_harness(limits const& l = limits{}) : server{l, nullptr, &buffer} {}

  void feed(std::string_view bytes, time_point now = t0);

  // What it writes, without SETTINGS and the window of the connection; headers are text.
  std::vector<read_frame> output();

  template <class Event>
  Event take() {
    return test::take<Event>(events);
  }

  frame_buffer buffer{};
  server_session server;
  std::vector<server_event> events;
  header_reader headers;
};

// Both sides of one connection.
struct pair {
  explicit pair(limits const& of_server = limits{}, limits const& of_client = limits{})
      : client{of_client}, server{of_server} {}

  // Passes the output of each to the other until both have none.
  void exchange(time_point now = t0);

  // A call whose request has arrived.
  call ask(call_start const& how, std::string_view message);

  // How the call ended; it must have had no other events.
  call_ended end();

  client_session client;
  server_session server;
  std::vector<client_event> client_events;  // events of the client
  std::vector<server_event> server_events;  // events of the server
  std::size_t bytes_to_server{};
  std::size_t bytes_to_client{};
};

}  // namespace coxswain::http2::test
