#include "coxswain/wire/frame.hpp"

#include "tests/wire/live_bytes.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace coxswain::wire {
namespace {

constexpr std::size_t limit = 16 * 1024;

std::string frame_of(std::string_view payload) {
  std::string frame;
  append_length(frame, payload.size());
  return frame.append(payload);
}

// Feeds the pieces and returns all payloads.
std::vector<std::string> read(frame_decoder& decoder, std::vector<std::string_view> pieces) {
  std::vector<std::string> payloads;
  for (auto const piece : pieces) {
    decoder.feed(piece);
    while (auto const payload = decoder.next().value()) payloads.emplace_back(*payload);
  }
  return payloads;
}

using payloads = std::vector<std::string>;

}  // namespace

BOOST_AUTO_TEST_SUITE(frame_test)

BOOST_AUTO_TEST_CASE(a_length_is_four_bytes_in_big_endian) {
  std::string out{"before"};

  append_length(out, 0x01020304);

  BOOST_TEST(out == "before\x01\x02\x03\x04");
}

BOOST_AUTO_TEST_CASE(frames_may_be_split_at_every_byte) {
  payloads const sent{"first", "", std::string(300, 'x'), "last"};
  std::string stream;
  for (auto const& payload : sent) stream += frame_of(payload);

  for (std::size_t at = 0; at <= stream.size(); ++at) {
    frame_decoder decoder{limit};
    auto const whole = std::string_view{stream};
    BOOST_TEST(read(decoder, {whole.substr(0, at), whole.substr(at)}) == sent);
  }
}

BOOST_AUTO_TEST_CASE(a_large_payload_waits_for_a_memory_permit) {
  memory_meter meter{100'000};
  frame_decoder decoder{limit, 100, &meter};
  std::string const large(1'000, 'l');
  std::string const all = frame_of(std::string(100, 's')) + frame_of(large) + frame_of("next");

  decoder.feed(std::string_view{all}.substr(0, 600));
  BOOST_TEST(decoder.next().value()->size() == 100u);
  BOOST_TEST(decoder.asks_for() == 0u);
  BOOST_TEST(!decoder.next().value());
  BOOST_TEST(decoder.asks_for() == 1'000u);
  decoder.keep();
  BOOST_TEST(!decoder.next().value());
  BOOST_TEST(decoder.buffer_bytes() < 600u);
  BOOST_TEST(meter.transit() == decoder.buffer_bytes());
  BOOST_TEST(decoder.allow());
  BOOST_TEST(!decoder.next().value());
  BOOST_TEST(decoder.asks_for() == 0u);
  BOOST_TEST(decoder.is_large());
  BOOST_TEST(meter.transit() == decoder.buffer_bytes());

  decoder.feed(std::string_view{all}.substr(600));
  BOOST_TEST((decoder.next().value() == large));
  BOOST_TEST((decoder.next().value() == "next"));
  BOOST_TEST(decoder.buffer_bytes() == 0u);
  BOOST_TEST(meter.transit() == 0u);
}

BOOST_AUTO_TEST_CASE(a_complete_large_payload_needs_no_memory_permit) {
  frame_decoder decoder{limit, 100};
  std::string const large(1'000, 'l');

  std::string const all = frame_of(large);
  decoder.feed(all);

  BOOST_TEST((decoder.next().value() == large));
}

BOOST_AUTO_TEST_CASE(buffered_bytes_count_as_in_transit_until_consumed) {
  memory_meter meter{100'000};
  {
    frame_decoder decoder{limit, 5'000, &meter};
    std::string const all = frame_of(std::string(5'000, 'p'));
    decoder.feed(std::string_view{all}.substr(0, 3'000));
    BOOST_TEST(!decoder.next().value());
    BOOST_TEST(meter.transit() == decoder.buffer_bytes());
    frame_decoder moved{std::move(decoder)};
    BOOST_TEST(meter.transit() == moved.buffer_bytes());
    moved = frame_decoder{limit};
    BOOST_TEST(meter.transit() == 0u);
    moved = frame_decoder{limit, 5'000, &meter};
    moved.feed(std::string_view{all}.substr(0, 3'000));
    BOOST_TEST(!moved.next().value());
    BOOST_TEST(meter.transit() >= 2'900u);
  }

  BOOST_TEST(meter.transit() == 0u);
}

BOOST_AUTO_TEST_CASE(unconsumed_input_can_be_kept_at_every_frame) {
  payloads const sent{"first", "", std::string(300, 'x'), "last"};
  std::string stream;
  for (auto const& payload : sent) stream += frame_of(payload);
  for (std::size_t at = 0; at <= stream.size(); ++at) {
    frame_decoder decoder{limit};
    payloads got;
    for (auto piece : {stream.substr(0, at), stream.substr(at)}) {
      decoder.feed(piece);
      while (auto const payload = decoder.next().value()) {
        got.emplace_back(*payload);
        decoder.keep();
        std::fill(piece.begin(), piece.end(), '\xff');
      }
    }
    BOOST_TEST(got == sent);
    BOOST_TEST(decoder.buffer_bytes() == 0u);
  }
}

BOOST_AUTO_TEST_CASE(a_frame_may_be_split_at_every_two_bytes) {
  auto const stream = frame_of("payload") + frame_of("next");
  auto const whole = std::string_view{stream};

  for (std::size_t a = 0; a <= stream.size(); ++a) {
    for (std::size_t b = a; b <= stream.size(); ++b) {
      frame_decoder decoder{limit};
      auto const read_back =
          read(decoder, {whole.substr(0, a), whole.substr(a, b - a), whole.substr(b)});
      BOOST_TEST(read_back == (payloads{"payload", "next"}));
    }
  }
}

BOOST_AUTO_TEST_CASE(frames_may_arrive_byte_by_byte) {
  std::string const big(100'000, 'b');
  auto const stream = frame_of("a") + frame_of(big) + frame_of("") + frame_of("c");
  std::vector<std::string_view> pieces;
  for (std::size_t i = 0; i < stream.size(); ++i) pieces.emplace_back(&stream[i], 1);

  frame_decoder decoder{big.size()};
  auto const read_back = read(decoder, pieces);

  BOOST_TEST(read_back == (payloads{"a", big, "", "c"}));
}

BOOST_AUTO_TEST_CASE(complete_frames_of_one_feed_are_returned_in_place) {
  auto const stream = frame_of("one") + frame_of("two");
  frame_decoder decoder{limit};

  decoder.feed(stream);

  BOOST_TEST((decoder.next().value()->data() == stream.data() + length_bytes));
  BOOST_TEST((decoder.next().value()->data() == stream.data() + 3 + 2 * length_bytes));
  BOOST_TEST(!decoder.next().value());
  BOOST_TEST(decoder.buffer_bytes() == 0u);
}

BOOST_AUTO_TEST_CASE(a_payload_fed_separately_from_its_length_is_not_copied) {
  std::string const stream = frame_of("payload");
  auto const whole = std::string_view{stream};
  frame_decoder decoder{limit};

  decoder.feed(whole.substr(0, length_bytes));
  BOOST_TEST(!decoder.next().value());
  BOOST_TEST(decoder.buffer_bytes() == 0u);

  decoder.feed(whole.substr(length_bytes));
  BOOST_TEST((decoder.next().value()->data() == stream.data() + length_bytes));
}

BOOST_AUTO_TEST_CASE(a_payload_may_be_empty) {
  frame_decoder decoder{0};

  BOOST_TEST(read(decoder, {frame_of(""), frame_of("") + frame_of("")}) == (payloads{"", "", ""}));
}

BOOST_AUTO_TEST_CASE(an_empty_feed_returns_nothing) {
  frame_decoder decoder{limit};

  BOOST_TEST(read(decoder, {"", ""}) == payloads{});
}

BOOST_AUTO_TEST_CASE(a_frame_may_have_exactly_the_limit) {
  auto const longer = frame_of("123456");
  frame_decoder just{5};
  frame_decoder beyond{5};
  beyond.feed(longer);
  auto const refused = beyond.next();

  BOOST_TEST(read(just, {frame_of("12345")}) == payloads{"12345"});
  BOOST_TEST(refused.error().code() == errc::invalid_argument);
  BOOST_TEST(
      refused.error().message() ==
      "A frame announces 6 bytes, but the limit is 5 bytes. Does the peer speak the Coxswain "
      "protocol?");
}

BOOST_AUTO_TEST_CASE(a_tls_client_hello_is_named) {
  frame_decoder decoder{limit};
  decoder.feed("\x16\x03\x01\x02\x7b\x01");

  BOOST_TEST(decoder.next().error().message() == "The peer speaks TLS; this port does not.");
}

BOOST_AUTO_TEST_CASE(an_http_request_is_named) {
  for (auto const* const bytes : {"GET / HTTP/1.1", "PRI * HTTP/2.0", "HTTP/1.1 400", "POST /"}) {
    frame_decoder decoder{limit};
    BOOST_TEST(!decoder.meets_http());
    decoder.feed(bytes);

    BOOST_TEST(decoder.next().error().message() == "The peer speaks HTTP; this port does not.");
    BOOST_TEST(decoder.meets_http());
  }
  frame_decoder garbage{limit};
  garbage.feed("\xff\xff\xff\xff");
  BOOST_TEST(garbage.next().has_error());
  BOOST_TEST(!garbage.meets_http());
}

BOOST_AUTO_TEST_CASE(a_length_beyond_the_limit_is_refused_before_its_payload_arrives) {
  for (std::size_t at = 0; at < length_bytes; ++at) {
    frame_decoder decoder{limit};
    decoder.feed(std::string_view{"\xff\xff\xff\xff"}.substr(0, at));
    BOOST_TEST(!decoder.next().value());

    decoder.feed(std::string_view{"\xff\xff\xff\xff"}.substr(at));
    BOOST_TEST(decoder.next().has_error());
    BOOST_TEST(decoder.buffer_bytes() == 0u);
  }
}

BOOST_AUTO_TEST_CASE(frames_before_a_too_long_one_are_returned) {
  auto const stream = frame_of("good") + frame_of("too long") + frame_of("lost");
  frame_decoder decoder{4};

  decoder.feed(stream);

  BOOST_TEST(decoder.next().value().value() == "good");
  BOOST_TEST(decoder.next().has_error());
}

BOOST_AUTO_TEST_CASE(a_failed_decoder_stays_failed) {
  auto const too_long = frame_of("too long");
  auto const good = frame_of("good");
  frame_decoder decoder{4};
  decoder.feed(too_long);
  auto const first = decoder.next().error();

  decoder.limit(limit);
  decoder.feed(good);

  BOOST_TEST(decoder.next().error() == first);
  BOOST_TEST(decoder.next().error() == first);
}

BOOST_AUTO_TEST_CASE(a_new_limit_applies_from_the_next_frame_of_the_feed) {
  auto const stream = frame_of("hello") + frame_of(std::string(limit, 'v')) + frame_of("hello");
  frame_decoder decoder{5};
  decoder.feed(stream);

  BOOST_TEST(decoder.next().value().value() == "hello");
  decoder.limit(limit);
  BOOST_TEST(decoder.next().value()->size() == limit);
  decoder.limit(4);
  BOOST_TEST(decoder.next().has_error());
}

BOOST_AUTO_TEST_CASE(memory_does_not_grow_with_a_declared_length) {
  std::size_t const declared = 0xffff'ffff;
  std::string prefix;
  append_length(prefix, declared);
  frame_decoder decoder{declared};
  auto const before = test::live_bytes();

  BOOST_TEST(read(decoder, {prefix, "a few bytes"}) == payloads{});

  BOOST_TEST(test::live_bytes() - before < 100u);
}

BOOST_AUTO_TEST_CASE(memory_is_at_most_twice_the_received_bytes_and_the_frame_size) {
  std::string const payload(1'000'000, 'p');
  auto const stream = frame_of(payload);
  frame_decoder decoder{payload.size()};

  for (std::size_t at = 0; at < stream.size(); at += 4093) {
    decoder.feed(std::string_view{stream}.substr(at, 4093));
    auto const whole = decoder.next().value().has_value();
    BOOST_TEST(whole == (at + 4093 >= stream.size()));
    BOOST_TEST(decoder.buffer_bytes() <= std::min(payload.size(), 2 * (at + 4093)));
  }
}

BOOST_AUTO_TEST_CASE(an_idle_decoder_holds_no_heap_memory_even_after_a_big_frame) {
  auto const stream = frame_of(std::string(1'000'000, 'p'));
  auto const whole = std::string_view{stream};
  auto const before = test::live_bytes();
  frame_decoder decoder{stream.size()};

  decoder.feed(whole.substr(0, 500'000));
  BOOST_TEST(!decoder.next().value());
  decoder.feed(whole.substr(500'000));
  BOOST_TEST(decoder.next().value()->size() == 1'000'000u);
  BOOST_TEST(!decoder.next().value());

  BOOST_TEST(test::live_bytes() == before);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::wire
