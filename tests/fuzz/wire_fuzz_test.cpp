// Random bytes and mutated messages for the decoders of the wire layer.

#include "coxswain/wire/frame.hpp"
#include "tests/fuzz/chance.hpp"
#include "tests/fuzz/wire_checks.hpp"
#include "tests/wire/samples.hpp"

#include <google/protobuf/stubs/logging.h>
#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::wire {
namespace {

using test::dice;
using test::seed;
using test::times;

// Changes the message in one place. Bytes that mean something to Protobuf are preferred: the ends
// of varints, small field numbers and lengths.
void mutate(dice& chance, std::string& message, std::vector<std::string> const& others) {
  static constexpr std::string_view telling{"\x00\x01\x02\x08\x0a\x10\x12\x7f\x80\xff", 10};
  auto const at = chance.upto(message.size());
  auto const rest = message.size() - at;
  switch (chance.upto(6)) {
    case 0: message.resize(at); break;
    case 1: message.insert(at, 1, chance.one_of(telling)); break;
    case 2: message.insert(at, chance.bytes(chance.size(20))); break;
    case 3: message.erase(at, chance.size(rest)); break;
    case 4: message.insert(at, message.substr(at, chance.size(rest))); break;
    case 5: message.insert(at, chance.one_of(others)); break;
    default:
      if (rest > 0) message[at] = static_cast<char>(message[at] ^ (1 << chance.upto(7)));
  }
}

std::vector<std::string> sample_payloads() {
  std::vector<std::string> payloads;
  for (auto const& message : test::sample_requests()) payloads.push_back(test::payload_of(message));
  for (auto const& message : test::sample_answers()) payloads.push_back(test::payload_of(message));
  return payloads;
}

// Protobuf reports wrong UTF-8 on stderr, which is of no interest here.
struct quiet {
  google::protobuf::LogHandler* before = google::protobuf::SetLogHandler(nullptr);
  ~quiet() { google::protobuf::SetLogHandler(before); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(wire_fuzz_test, *boost::unit_test::fixture<quiet>())

BOOST_AUTO_TEST_CASE(random_bytes_are_refused_or_survive_the_way_back) {
  BOOST_TEST_CONTEXT("COXSWAIN_SEED=" << seed()) {
    dice chance{seed()};
    std::size_t decoded = 0;
    for (auto left = times(600'000); left > 0; --left) {
      decoded += survives_in_some_direction(chance.bytes(chance.size(100)));
    }
    BOOST_TEST(decoded > 0u);
  }
}

BOOST_AUTO_TEST_CASE(mutated_messages_are_refused_or_survive_the_way_back) {
  BOOST_TEST_CONTEXT("COXSWAIN_SEED=" << seed()) {
    dice chance{seed()};
    auto const samples = sample_payloads();
    std::size_t decoded = 0;
    for (auto left = times(600'000); left > 0; --left) {
      auto message = chance.one_of(samples);
      for (auto changes = 1 + chance.upto(4); changes > 0; --changes) {
        mutate(chance, message, samples);
      }
      decoded += survives_in_some_direction(message);
    }
    BOOST_TEST(decoded > 10'000u);
  }
}

BOOST_AUTO_TEST_CASE(a_stream_says_the_same_in_whatever_pieces_it_comes) {
  BOOST_TEST_CONTEXT("COXSWAIN_SEED=" << seed()) {
    dice chance{seed()};
    constexpr std::size_t limit = 20'000;
    for (auto left = times(15'000); left > 0; --left) {
      std::string stream;
      for (auto frames = chance.upto(8); frames > 0; --frames) {
        auto const size = chance.size(limit + 10);
        append_length(stream, size);
        stream.append(size, static_cast<char>('a' + frames));
      }
      if (chance.upto(3) == 0) mutate(chance, stream, {"\x01\x02\x03"});

      check_pieces(chance, stream, limit);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::wire
