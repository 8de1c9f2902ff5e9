#include "tests/http2/conversation.hpp"

namespace coxswain::http2::test {
namespace {

constexpr std::size_t write_bytes = 64 * 1024;

}  // namespace

void server_harness::feed(std::string_view bytes, time_point now) {
  while (!bytes.empty()) {
    // A test that wants to see the limit calls `receive` itself.
    std::vector<server_event> found;
    bytes.remove_prefix(server.receive(now, bytes, found));
    events.insert(events.end(), found.begin(), found.end());
  }
}

std::vector<read_frame> server_harness::output() {
  std::string out;
  while (server.wants_write()) server.append_output(out, write_bytes);
  auto frames = read_frames(out);
  std::erase_if(frames, [](read_frame const& one) {
    return one.type == frame_type::settings ||
           (one.type == frame_type::window_update && one.stream == 0);
  });
  for (auto& frame : frames) {
    if (frame.type == frame_type::headers) frame.payload = headers.read(frame.payload);
  }
  return frames;
}

void pair::exchange(time_point now) {
  while (client.wants_write() || server.wants_write() || server.has_events()) {
    std::string to_server;
    client.append_output(to_server, write_bytes);
    bytes_to_server += to_server.size();
    std::string_view rest{to_server};
    do {
      std::vector<server_event> found;
      rest.remove_prefix(server.receive(now, rest, found));
      server_events.insert(server_events.end(), found.begin(), found.end());
    } while (!rest.empty());

    std::string to_client;
    server.append_output(to_client, write_bytes);
    bytes_to_client += to_client.size();
    client.receive(now, to_client, client_events);
  }
}

call pair::ask(call_start const& how, std::string_view message) {
  BOOST_REQUIRE(client.start(how, message).has_value());
  exchange();
  return take<call>(server_events);
}

call_ended pair::end() {
  exchange();
  BOOST_TEST(client_events.size() == 1u);
  return take<call_ended>(client_events);
}

}  // namespace coxswain::http2::test
