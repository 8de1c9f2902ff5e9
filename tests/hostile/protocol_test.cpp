// Clients of the XLA service that violate HTTP/2, and the limits that they announce: which bytes
// end a connection, which end a call, and which are accepted. These rules are ours, whichever
// checks the library makes.

#include "coxswain/net/endpoint.hpp"
#include "coxswain/net/socket.hpp"
#include "tests/hostile/coordinator_process.hpp"
#include "tests/http2/frames.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::hostile {
namespace {

namespace h2 = http2::test;
using h2::frame;
using h2::frame_type;
using h2::number;

constexpr std::string_view unknown = "/N";  // a method, to which the reply is an error
constexpr std::string_view get = "/tensorflow.CoordinationService/GetKeyValue";
constexpr std::string_view insert = "/tensorflow.CoordinationService/InsertKeyValue";
constexpr std::uint8_t padded = 0x8;
constexpr std::uint8_t with_priority = 0x20;

constexpr std::uint64_t protocol_error = 1;
constexpr std::uint64_t flow_control_error = 3;
constexpr std::uint64_t stream_closed = 5;
constexpr std::uint64_t frame_size_error = 6;
constexpr std::uint64_t compression_error = 9;
constexpr std::uint64_t enhance_your_calm = 11;

// A client that says what it likes.
class raw_client {
 public:
  explicit raw_client(std::string const& address) {
    auto const where = net::endpoint::parse(address).value();
    auto const at = where.resolve(net::endpoint::purpose::connect).value().front();
    socket_ = net::socket{::socket(at.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)};
    timeval const receive_timeout{30, 0};
    ::setsockopt(socket_.value(), SOL_SOCKET, SO_RCVTIMEO, &receive_timeout,
                 sizeof(receive_timeout));
    BOOST_TEST_REQUIRE(::connect(socket_.value(), at.data(), at.size()) == 0);
  }

  void say(std::string_view bytes) {
    while (!bytes.empty()) {
      auto const some = ::send(socket_.value(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (some < 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(some));
    }
  }

  // The next frame except SETTINGS and windows; a GOAWAY of code 255 is the end of the connection.
  h2::read_frame next() {
    for (;;) {
      if (auto const one = frame_of_input()) {
        if (one->type == frame_type::settings || one->type == frame_type::window_update) continue;
        return *one;
      }
      std::array<char, 16 * 1024> some{};
      auto const count = ::recv(socket_.value(), some.data(), some.size(), 0);
      if (count <= 0) return {frame_type::go_away, 0, 0, std::string(8, '\xff')};
      input_.append(some.data(), static_cast<std::size_t>(count));
    }
  }

  // The first frame of this stream.
  h2::read_frame next_of(std::uint32_t stream) {
    for (;;) {
      auto const one = next();
      if (one.stream == stream || one.type == frame_type::go_away) return one;
    }
  }

 private:
  std::optional<h2::read_frame> frame_of_input() {
    constexpr std::size_t head_bytes = 9;
    if (input_.size() < head_bytes) return std::nullopt;
    auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(input_[i]); };
    auto const size = head_bytes + (byte(0) << 16 | byte(1) << 8 | byte(2));
    if (input_.size() < size) return std::nullopt;
    auto const made = h2::read_frames(std::string_view{input_}.substr(0, size)).front();
    input_.erase(0, size);
    return made;
  }

  net::socket socket_;
  std::string input_;
};

coordinator_process const& target() {
  static coordinator_process const one{
      2, {"--no-join-barrier", "--xla-listen", "127.0.0.1:0", "--xla-insecure"}};
  return one;
}

std::string headers(std::uint32_t stream, h2::fields const& fields, std::uint8_t flags = 0) {
  return frame(frame_type::headers, h2::end_headers | flags, stream, h2::header_block(fields));
}

std::string data(std::uint32_t stream, std::string_view content, std::uint8_t flags = 0) {
  return frame(frame_type::data, flags, stream, content);
}

std::string last_message(std::uint32_t stream) {
  return data(stream, h2::message(""), h2::end_stream);
}

std::string setting(std::uint64_t which, std::uint64_t value) {
  return frame(frame_type::settings, 0, 0, number(which, 2) + number(value, 4));
}

std::string window(std::uint32_t stream, std::uint64_t more) {
  return frame(frame_type::window_update, 0, stream, number(more, 4));
}

h2::fields call() { return h2::call_fields(unknown); }

h2::fields with(std::string_view name, std::string_view value) {
  auto fields = call();
  fields.emplace_back(name, value);
  return fields;
}

h2::fields without(std::string_view name) {
  auto fields = call();
  std::erase_if(fields, [&](auto const& one) { return one.first == name; });
  return fields;
}

// Bytes, and the code with which the connection, or stream 3, ends.
struct violation {
  std::string_view name;
  std::string input;
  std::uint64_t code{};
  friend std::ostream& operator<<(std::ostream& to, violation const& one) { return to << one.name; }
};

// Stream 1 is a call that waits.
std::vector<violation> of_connections() {
  auto const block = h2::header_block(call());
  auto const begun = frame(frame_type::headers, 0, 3, block);
  auto const begun_call = headers(3, call());
  std::string const large = "\x40\x01x\x7f\xb9\x16" + std::string(3000, 'v');
  std::string continuations = begun;
  for (int i = 0; i < 20; ++i) continuations += frame(frame_type::continuation, 0, 3);
  std::string pings;
  for (int i = 0; i < 10'000; ++i) pings += frame(frame_type::ping, 0, 0, "12345678");
  std::string settings;
  for (int i = 0; i < 1'010; ++i) settings += frame(frame_type::settings, 0, 0);
  std::string entries;
  for (int i = 0; i < 33; ++i) entries += number(0xfe04, 2) + number(1, 4);
  return {
      {"DATA of no stream", data(0, "x"), protocol_error},
      {"DATA of a stream not begun", data(3, "x"), protocol_error},
      {"RST_STREAM of a stream not begun", frame(frame_type::reset, 0, 3, number(8, 4)),
       protocol_error},
      {"WINDOW_UPDATE of a stream not begun", window(3, 1), protocol_error},
      {"WINDOW_UPDATE of a server's stream", window(2, 1), protocol_error},
      {"HEADERS of a server's stream", headers(2, call()), protocol_error},
      {"HEADERS of no stream", headers(0, call()), protocol_error},
      {"SETTINGS of a stream", frame(frame_type::settings, 0, 1), protocol_error},
      {"PING of a stream", frame(frame_type::ping, 0, 1, "12345678"), protocol_error},
      {"GOAWAY of a stream", frame(frame_type::go_away, 0, 1, "12345678"), protocol_error},
      {"PUSH_PROMISE", frame(frame_type{5}, 0, 1, "promise"), protocol_error},
      {"CONTINUATION of nothing", frame(frame_type::continuation, h2::end_headers, 1, block),
       protocol_error},
      {"CONTINUATION of another stream",
       begun + frame(frame_type::continuation, h2::end_headers, 5, block), protocol_error},
      {"PING amid headers", begun + frame(frame_type::ping, 0, 0, "12345678"), protocol_error},
      {"a short RST_STREAM", frame(frame_type::reset, 0, 1, "123"), frame_size_error},
      {"SETTINGS cut off", frame(frame_type::settings, 0, 0, "12345"), frame_size_error},
      {"an acknowledgement with settings", frame(frame_type::settings, h2::ack, 0, "123456"),
       frame_size_error},
      {"a short PING", frame(frame_type::ping, 0, 0, "1234567"), frame_size_error},
      {"a short GOAWAY", frame(frame_type::go_away, 0, 0, "1234567"), frame_size_error},
      {"a short WINDOW_UPDATE", frame(frame_type::window_update, 0, 0, "123"), frame_size_error},
      {"a frame beyond 16 KiB", number(16'385, 3) + std::string(6, '\0'), frame_size_error},
      {"padding of more than the frame", begun_call + data(3, "\3ab", padded), protocol_error},
      {"padding without its length", begun_call + data(3, "", padded), protocol_error},
      {"a short priority", frame(frame_type::headers, h2::end_headers | with_priority, 3, "1234"),
       frame_size_error},
      {"an impossible ENABLE_PUSH", setting(2, 2), protocol_error},
      {"an impossible window", setting(4, 0x8000'0000), flow_control_error},
      {"frames below the minimum", setting(5, 16'383), protocol_error},
      {"frames beyond the maximum", setting(5, 0x100'0000), protocol_error},
      {"no more window", window(0, 0), protocol_error},
      {"too much window", window(0, 0x7fff'ffff), flow_control_error},
      {"DATA after the end of a request", data(1, "more"), stream_closed},
      {"trailers after the end of a request", headers(1, {{"x-trailer", "1"}}, h2::end_stream),
       stream_closed},
      {"damaged headers", frame(frame_type::headers, h2::end_headers, 3, "\xff\xff\xff\xff\xff"),
       compression_error},
      {"one byte each for many large fields",
       frame(frame_type::headers, h2::end_headers, 3,
             h2::header_block({{":method", "POST"}}) + large + std::string(100, '\xbe')),
       enhance_your_calm},
      {"endless CONTINUATION", continuations, enhance_your_calm},
      {"a flood of PING", pings, enhance_your_calm},
      {"a flood of SETTINGS", settings, enhance_your_calm},
      {"SETTINGS of many entries", frame(frame_type::settings, 0, 0, entries), enhance_your_calm},
  };
}

std::vector<violation> of_streams() {
  auto const begun = headers(3, call());
  std::vector<violation> made{
      {"two sets of headers", begun + headers(3, {{"x-trailer", "1"}}), protocol_error},
      {"a path in trailers", begun + headers(3, {{":path", "/again"}}, h2::end_stream),
       protocol_error},
      {"less than the announced length", headers(3, with("content-length", "7")) + last_message(3),
       protocol_error},
      {"only a status", headers(3, {{":status", "200"}}), protocol_error},
  };
  for (auto const* const name : {":method", ":scheme", ":path", ":authority"}) {
    made.push_back({name, headers(3, without(name)), protocol_error});
  }
  for (auto const& [name, value] : h2::fields{{"Upper", "x"},
                                              {"x-any", "a\nb"},
                                              {"x-any", " a"},
                                              {"", "x"},
                                              {"x-any", "long enough\x7f for words"},
                                              {"connection", "close"},
                                              {"te", "gzip"},
                                              {"content-length", "x"},
                                              {":path", "/late"}}) {
    made.push_back({name, headers(3, with(name, value)), protocol_error});
  }
  // Of a call whose message arrives: of `unknown`, the reply could come first.
  auto const arriving = headers(3, h2::call_fields(insert));
  made.push_back(
      {"too much window of a stream", arriving + window(3, 0x7fff'ffff), flow_control_error});
  made.push_back({"a setting that exceeds a stream's window",
                  arriving + window(3, 0x7fff'0000) + setting(4, 0x7fff'ffff), flow_control_error});
  return made;
}

// Calls that are fine.
std::vector<violation> of_nothing() {
  auto const block = h2::header_block(call());
  auto with_host = without(":authority");
  with_host.emplace_back("host", "localhost");
  with_host.emplace_back("x-any", "a tab\tis no control character");
  return {
      {"all settings", setting(2, 1) + setting(4, 0x7fff'ffff) + setting(5, 0xff'ffff) +
                           setting(99, 1) + headers(3, call()) + last_message(3)},
      {"a host instead of an authority", headers(3, with_host) + last_message(3)},
      {"the announced length", headers(3, with("content-length", "5")) + last_message(3)},
      {"padding, priorities and unknown frames",
       frame(frame_type::priority, 0, 3, "12345") + frame(frame_type{77}, 0xff, 9, "unknown") +
           frame(frame_type::headers, h2::end_headers | padded | with_priority, 3,
                 "\2" + std::string(5, '\0') + block + "pp") +
           data(3, "\3" + h2::message("") + "ppp", h2::end_stream | padded)},
      {"headers in several frames",
       frame(frame_type::headers, 0, 3, block.substr(0, 20)) +
           frame(frame_type::continuation, 0, 3, block.substr(20, 30)) +
           frame(frame_type::continuation, h2::end_headers, 3, block.substr(50)) + last_message(3)},
      {"trailers", headers(3, call()) + data(3, h2::message("")) +
                       headers(3, {{"x-trailer", "1"}}, h2::end_stream)},
      {"an empty last frame",
       headers(3, call()) + data(3, h2::message("")) + data(3, "", h2::end_stream)},
  };
}

std::string waiting_call() { return h2::whole_call(1, get, "\x0a\x02no"); }

// A field of a Protobuf message.
std::string text_field(char number, std::string const& content) {
  BOOST_TEST_REQUIRE(content.size() < 128u);
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(content.size())} +
         content;
}

std::string get_call(std::uint32_t stream, std::string const& key) {
  return h2::whole_call(stream, get, text_field(1, key));
}

// Stores a value of 100 bytes, whose reply has `reply_bytes`.
void store(raw_client& by, std::uint32_t stream, std::string const& key) {
  auto const entry = text_field(1, key) + text_field(2, std::string(100, 'v'));
  by.say(h2::whole_call(stream, insert, text_field(1, entry)));
  while ((by.next_of(stream).flags & h2::end_stream) == 0) continue;
}

// The bytes of messages until the end of a stream, or until as many have come.
std::size_t message_bytes(raw_client& to, std::uint32_t stream, std::size_t wanted = SIZE_MAX) {
  std::size_t sum = 0;
  while (sum < wanted) {
    auto const one = to.next_of(stream);
    if (one.type == frame_type::data) sum += one.payload.size();
    if (one.type == frame_type::go_away || (one.flags & h2::end_stream) != 0) break;
  }
  return sum;
}

constexpr std::size_t reply_bytes = 5 + 2 + (2 + 1) + (2 + 100);

}  // namespace

BOOST_AUTO_TEST_SUITE(protocol)

BOOST_DATA_TEST_CASE(a_connection_that_breaks_http2_ends_with_a_code,
                     boost::unit_test::data::make(of_connections()), by) {
  raw_client client{target().jax_address()};
  client.say(h2::preface() + waiting_call() + by.input);
  auto one = client.next();
  while (one.type != frame_type::go_away) one = client.next();
  BOOST_TEST(one.payload.substr(4, 4) == number(by.code, 4));
  BOOST_TEST(client.next().payload == std::string(8, '\xff'));
}

BOOST_DATA_TEST_CASE(a_call_that_breaks_http2_is_reset_and_others_are_answered,
                     boost::unit_test::data::make(of_streams()), by) {
  raw_client client{target().jax_address()};
  client.say(h2::preface() + by.input);
  auto const one = client.next_of(3);
  BOOST_TEST((one.type == frame_type::reset));
  BOOST_TEST(one.payload == number(by.code, 4));
  client.say(h2::whole_call(5, unknown, ""));
  BOOST_TEST((client.next_of(5).type == frame_type::headers));
}

BOOST_DATA_TEST_CASE(a_call_within_http2_is_answered, boost::unit_test::data::make(of_nothing()),
                     by) {
  raw_client client{target().jax_address()};
  client.say(h2::preface() + by.input);
  auto const one = client.next_of(3);
  BOOST_TEST((one.type == frame_type::headers));
  BOOST_TEST(int{one.flags} == (h2::end_headers | h2::end_stream));
}

BOOST_AUTO_TEST_CASE(the_first_frame_is_settings) {
  for (auto const& first :
       {frame(frame_type::ping, 0, 0, "12345678"), frame(frame_type::settings, h2::ack, 0)}) {
    raw_client client{target().jax_address()};
    client.say("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + first);
    auto const one = client.next();
    BOOST_TEST((one.type == frame_type::go_away));
    BOOST_TEST(one.payload.substr(4, 4) == number(protocol_error, 4));
  }
}

BOOST_AUTO_TEST_CASE(a_reply_fits_the_windows_of_its_stream) {
  raw_client client{target().jax_address()};
  client.say(h2::preface() + setting(4, 10));
  client.say(window(0, 10'000) + h2::whole_call(1, unknown, ""));
  store(client, 3, "a");
  client.say(get_call(5, "a"));
  BOOST_TEST(message_bytes(client, 5, 10) == 10u);

  // It shrinks below zero, and what is not held back by it is not delayed.
  client.say(setting(4, 0) + window(5, 10) + h2::whole_call(7, unknown, ""));
  BOOST_TEST((client.next().stream == 7u));
  client.say(window(5, 1'000));
  BOOST_TEST(message_bytes(client, 5) == reply_bytes - 10);
}

BOOST_AUTO_TEST_CASE(replies_fit_the_window_of_the_connection) {
  raw_client client{target().jax_address()};
  client.say(h2::preface());
  store(client, 1, "b");
  std::size_t sum = 5;  // of the reply to the insertion
  std::uint32_t stream = 3;
  constexpr std::size_t window_bytes = 65'535;
  for (; sum + reply_bytes <= window_bytes; sum += reply_bytes, stream += 2) {
    client.say(get_call(stream, "b"));
    BOOST_TEST_REQUIRE(message_bytes(client, stream) == reply_bytes);
  }
  client.say(get_call(stream, "b"));
  auto const rest = window_bytes - sum;
  if (rest > 0) BOOST_TEST(message_bytes(client, stream, rest) == rest);
  client.say(h2::whole_call(stream + 2, unknown, ""));
  BOOST_TEST((client.next_of(stream + 2).type == frame_type::headers));
  client.say(window(0, 1'000));
  BOOST_TEST(message_bytes(client, stream) == reply_bytes - rest);
}

BOOST_AUTO_TEST_CASE(headers_of_replies_fit_any_table) {
  for (std::uint32_t const bytes : {0u, 50u, 103u, 104u, 1'000u, 4'096u, 9'999u}) {
    raw_client client{target().jax_address()};
    client.say(h2::preface());
    h2::header_reader reader;
    std::uint32_t stream = 1;
    for (int i = 0; i < 6; ++i, stream += 2) {
      if (i == 1 || i == 4) client.say(setting(1, i == 1 ? bytes : bytes / 2));
      client.say(h2::whole_call(stream, unknown, ""));
      auto const text = reader.read(client.next_of(stream).payload);
      BOOST_TEST(text.starts_with(":status: 200\ncontent-type: application/grpc\n"
                                  "grpc-status: 12\n"),
                 text);
    }
  }
}

BOOST_AUTO_TEST_CASE(calls_beyond_the_limit_of_streams_end_a_client_that_knows_it) {
  raw_client client{target().jax_address()};
  client.say(h2::preface());
  std::string calls;
  constexpr std::uint32_t streams_max = 4'096 + 128;
  for (std::uint32_t i = 0; i <= streams_max; ++i) calls += headers(2 * i + 1, call());
  client.say(calls);
  auto const refused = client.next();
  BOOST_TEST((refused.type == frame_type::reset));
  BOOST_TEST(refused.stream == 2 * streams_max + 1);
  BOOST_TEST(refused.payload == number(7, 4));

  client.say(frame(frame_type::settings, h2::ack, 0) + headers(2 * streams_max + 3, call()));
  auto const end = client.next();
  BOOST_TEST((end.type == frame_type::go_away));
  BOOST_TEST(end.payload.substr(4, 4) == number(protocol_error, 4));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::hostile
