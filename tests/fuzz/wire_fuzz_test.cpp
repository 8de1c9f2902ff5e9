// Random bytes and mutated messages for the decoders of the wire layer.

#include "coxswain/core/model/records.hpp"
#include "coxswain/wire/field_walk.hpp"
#include "coxswain/wire/frame.hpp"
#include "coxswain/wire/routed.hpp"
#include "tests/fuzz/random_source.hpp"
#include "tests/fuzz/wire_checks.hpp"
#include "tests/wire/quiet_protobuf.hpp"
#include "tests/wire/samples.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::wire {
namespace {

using test::random_source;
using test::seed;
using test::times;

// Changes the message in one place, preferably to bytes with a meaning in Protobuf: the ends
// of varints, small field numbers and lengths.
void mutate(random_source& rng, std::string& message, std::vector<std::string> const& others) {
  static constexpr std::string_view extremes{"\x00\x01\x02\x08\x0a\x10\x12\x7f\x80\xff", 10};
  auto const at = rng.upto(message.size());
  auto const rest = message.size() - at;
  switch (rng.upto(6)) {
    case 0: message.resize(at); break;
    case 1: message.insert(at, 1, rng.one_of(extremes)); break;
    case 2: message.insert(at, rng.bytes(rng.size(20))); break;
    case 3: message.erase(at, rng.size(rest)); break;
    case 4: message.insert(at, message.substr(at, rng.size(rest))); break;
    case 5: message.insert(at, rng.one_of(others)); break;
    default:
      if (rest > 0) message[at] = static_cast<char>(message[at] ^ (1 << rng.upto(7)));
  }
}

std::vector<std::string> sample_payloads() {
  std::vector<std::string> payloads;
  for (auto const& message : test::sample_requests()) payloads.push_back(test::payload_of(message));
  for (auto const& message : test::sample_answers()) payloads.push_back(test::payload_of(message));
  return payloads;
}

// A varint with redundant continuation bytes.
std::string varint(std::uint64_t value, std::size_t padding = 0) {
  std::string made;
  for (; value >= 0x80; value >>= 7) made += static_cast<char>(value | 0x80);
  made += static_cast<char>(value);
  for (; padding > 0; --padding) {
    made.back() = static_cast<char>(made.back() | 0x80);
    made += '\0';
  }
  return made;
}

// Often a field that messages have, in one of the encodings that Protobuf allows.
std::string any_field(random_source& rng) {
  static constexpr std::array<std::uint64_t, 8> extremes{
      0, 1, 9, 10, 127, 0xffff'ffff, 0x1'0000'0000, ~std::uint64_t{}};
  auto const padding = [&] { return rng.one_in(8) ? rng.size(9) : 0; };
  auto const number = rng.one_in(8) ? rng.size(100) : 1 + rng.upto(9);
  auto const type = rng.one_in(8) ? rng.upto(7) : 2 * rng.upto(1);
  auto made = varint(number << 3 | type, padding());
  auto const value = rng.one_of(extremes);
  switch (type) {
    case 0: return made + varint(value, padding());
    case 1: return made + rng.bytes(8);
    case 2: {
      auto const content = rng.one_in(2) ? rng.bytes(rng.size(5)) : varint(value);
      return made + varint(content.size(), padding()) + content;
    }
    case 5: return made + rng.bytes(4);
    default: return made;
  }
}

std::vector<std::string> fields_of(std::string_view message) {
  std::vector<std::string> fields;
  for (auto rest = message; take_field(rest); message = rest) {
    fields.emplace_back(message.substr(0, message.size() - rest.size()));
  }
  return fields;
}

// The fields in another order, some of them twice or not at all, with others between them.
std::string rearranged(random_source& rng, std::vector<std::string> fields) {
  for (auto changes = rng.upto(3); changes > 0; --changes) {
    auto const at = [&] { return rng.upto(fields.size() - 1); };
    auto const place = [&] { return fields.begin() + static_cast<std::ptrdiff_t>(at()); };
    switch (fields.empty() ? 3 : rng.upto(3)) {
      case 0: std::swap(fields[at()], fields[at()]); break;
      case 1: fields.push_back(fields[at()]); break;
      case 2: fields.erase(place()); break;
      default: fields.insert(fields.empty() ? fields.begin() : place(), any_field(rng));
    }
  }
  std::string made;
  for (auto const& field : fields) made += field;
  return made;
}

// The same inside the request.
std::string rearranged_request(random_source& rng, std::string_view payload) {
  auto fields = fields_of(payload);
  for (auto& field : fields) {
    std::string_view rest{field};
    auto const parts = take_field(rest);
    if (parts->number < core::record_of<core::hello_args>.number) continue;
    auto const content = rearranged(rng, fields_of(parts->content));
    field = varint(parts->number << 3 | 2) + varint(content.size()) + content;
  }
  return rearranged(rng, std::move(fields));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(wire_fuzz_test, *boost::unit_test::fixture<test::quiet_protobuf>())

BOOST_AUTO_TEST_CASE(random_bytes_are_refused_or_survive_a_round_trip) {
  BOOST_TEST_CONTEXT("COXSWAIN_SEED=" << seed()) {
    random_source rng{seed()};
    std::size_t decoded = 0;
    for (auto left = times(600'000); left > 0; --left) {
      decoded += survives_in_some_direction(rng.bytes(rng.size(100)));
    }
    BOOST_TEST(decoded > 0u);
  }
}

BOOST_AUTO_TEST_CASE(mutated_messages_are_refused_or_survive_a_round_trip) {
  BOOST_TEST_CONTEXT("COXSWAIN_SEED=" << seed()) {
    random_source rng{seed()};
    auto const samples = sample_payloads();
    std::size_t decoded = 0;
    for (auto left = times(600'000); left > 0; --left) {
      auto message = rng.one_of(samples);
      for (auto changes = 1 + rng.upto(4); changes > 0; --changes) {
        mutate(rng, message, samples);
      }
      decoded += survives_in_some_direction(message);
    }
    BOOST_TEST(decoded > 10'000u);
  }
}

BOOST_AUTO_TEST_CASE(mutated_messages_about_routes_are_refused_or_survive_a_round_trip) {
  std::vector<std::string> samples(7);
  append_opened(samples[0], 3, core::session_secret{7}, "pid 3391");
  append_closed(samples[1], 300);
  append_closed(samples[2], 1, true);
  append_room(samples[3], 2, 40'000);
  append_content_head(samples[4], 70'000, 5);
  samples[4] += "bytes";
  append_living(samples[5], std::vector<std::uint32_t>{1, 2, 70'000});
  std::string to;
  append_receiver(to, {1, request_id{7}});
  append_receiver(to, {300, request_id{}});
  append_shared(samples[6], "the rest", to);
  for (auto& sample : samples) {
    sample.erase(0, length_bytes);
    BOOST_TEST(survives_as_routed(sample));
  }
  BOOST_TEST_CONTEXT("COXSWAIN_SEED=" << seed()) {
    random_source rng{seed()};
    std::size_t decoded = 0;
    for (auto left = times(600'000); left > 0; --left) {
      auto message = rng.one_of(samples);
      for (auto changes = 1 + rng.upto(4); changes > 0; --changes) mutate(rng, message, samples);
      decoded += survives_as_routed(message);
    }
    BOOST_TEST(decoded > 0u);
  }
}

BOOST_AUTO_TEST_CASE(field_order_does_not_change_how_a_request_is_read) {
  BOOST_TEST_CONTEXT("COXSWAIN_SEED=" << seed()) {
    random_source rng{seed()};
    std::vector<std::string> samples;
    for (auto const& one : test::sample_requests()) samples.push_back(test::payload_of(one));
    std::size_t decoded = 0;
    auto const tries = times(600'000);
    for (auto left = tries; left > 0; --left) {
      decoded += survives_in_some_direction(rearranged_request(rng, rng.one_of(samples)));
    }
    BOOST_TEST(decoded > tries / 5);
  }
}

BOOST_AUTO_TEST_CASE(a_stream_does_not_depend_on_its_fragmentation) {
  BOOST_TEST_CONTEXT("COXSWAIN_SEED=" << seed()) {
    random_source rng{seed()};
    constexpr std::size_t limit = 20'000;
    for (auto left = times(15'000); left > 0; --left) {
      std::string stream;
      for (auto frames = rng.upto(8); frames > 0; --frames) {
        auto const size = rng.size(limit + 10);
        append_length(stream, size);
        stream.append(size, static_cast<char>('a' + frames));
      }
      if (rng.upto(3) == 0) mutate(rng, stream, {"\x01\x02\x03"});

      check_pieces(rng, stream, limit);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::wire
