// Allocations of the server for a call over HTTP/2: its own and those of nghttp2.

#include "coxswain/http2/client_session.hpp"
#include "coxswain/http2/server_session.hpp"
#include "tests/wire/live_bytes.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::cost {
namespace {

constexpr int warm_up_calls = 1'000;
constexpr int calls = 1'000;
constexpr std::size_t write_bytes = 64 * 1024;
constexpr time_point now{1h};

// A server whose buffers have grown, and a client with one call that stays open beside short ones.
class connection {
 public:
  connection() {
    ask();
    receive();
    for (int i = 0; i < warm_up_calls; ++i) reply();
    for (int i = 0; i < warm_up_calls; ++i) fail();
  }

  // Allocations of the server for a call that is answered at once.
  std::size_t reply() {
    ask();
    auto const before = test::allocations();
    auto const which = receive();
    server_.reply(which, "reply");
    write();
    auto const taken = test::allocations() - before;
    hear();
    return taken;
  }

  std::size_t fail() {
    ask();
    auto const before = test::allocations();
    auto const which = receive();
    server_.fail(which, errc::not_found, "Config key a/b not found.", "details");
    write();
    auto const taken = test::allocations() - before;
    hear();
    return taken;
  }

  // The memory of the server per waiting call.
  std::size_t bytes_per_waiting_call(std::size_t number) {
    auto const before = server_.memory_bytes();
    for (std::size_t i = 0; i < number; ++i) {
      ask();
      receive();
    }
    return (server_.memory_bytes() - before) / number;
  }

  [[nodiscard]] std::size_t memory_bytes() const { return server_.memory_bytes(); }

 private:
  void ask() {
    http2::call_start how;
    how.path = "/xla.coordination.CoordinationService/GetKeyValue";
    static_cast<void>(client_.start(how, "request"));
    to_server_.clear();
    client_.append_output(to_server_, write_bytes);
  }

  http2::stream_id receive() {
    asked_.clear();
    server_.receive(now, to_server_, asked_);
    return std::get<http2::call>(asked_.back()).stream;
  }

  void write() {
    to_client_.clear();
    server_.append_output(to_client_, write_bytes);
  }

  void hear() {
    heard_.clear();
    client_.receive(now, to_client_, heard_);
  }

  http2::frame_buffer buffer_{};
  http2::client_session client_;
  http2::server_session server_{{}, nullptr, &buffer_};
  std::vector<http2::server_event> asked_;
  std::vector<http2::client_event> heard_;
  std::string to_server_;
  std::string to_client_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(http2_cost_test)

BOOST_AUTO_TEST_CASE(allocations_of_a_call_are_counted) {
  connection one;
  std::size_t replies = 0;
  for (int i = 0; i < calls; ++i) replies += one.reply();
  BOOST_TEST(replies == calls * 8u);
  std::size_t failures = 0;
  for (int i = 0; i < calls; ++i) failures += one.fail();
  BOOST_TEST(failures == calls * 6u);
}

BOOST_AUTO_TEST_CASE(an_idle_connection_and_a_waiting_call_use_little_memory) {
  connection one;
  BOOST_TEST(one.memory_bytes() < 12'000u);
  BOOST_TEST(one.bytes_per_waiting_call(1'000) < 550u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::cost
