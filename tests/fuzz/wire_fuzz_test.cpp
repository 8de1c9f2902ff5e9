// Random bytes and mutated messages for the decoders of the wire layer.

#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/frame.hpp"
#include "tests/fuzz/chance.hpp"
#include "tests/wire/live_bytes.hpp"
#include "tests/wire/samples.hpp"

#include <google/protobuf/stubs/logging.h>
#include <boost/test/unit_test.hpp>

#include <algorithm>
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

// What decoding a payload may take: a list of numbers has several times its bytes while it grows,
// and a list of empty entries has more.
std::size_t memory_bytes_max(std::string_view payload) { return 64 * 1024 + 200 * payload.size(); }

// Messages in the messages of a coordinator, which a client trusts: Protobuf may believe 50 MB.
constexpr std::size_t believed_bytes_max = 50'010'000;

// Decodes; if that succeeds, what was decoded must survive the way back. True if it succeeded.
template <class Decode>
bool survives(Decode decode, std::string const& payload, std::size_t taken_max) {
  auto const before = test::live_bytes();
  test::watch_peak();
  auto const message = decode(payload);
  auto const taken = test::peak_bytes() - before;
  if (taken > taken_max) {
    BOOST_ERROR("a payload of " << payload.size() << " bytes took " << taken << " bytes");
  }
  if (!message) return false;
  auto const again = decode(test::payload_of(*message));
  if (!again || *again != *message) BOOST_ERROR("a message changed on its way");
  return true;
}

bool survives_in_some_direction(std::string const& payload) {
  auto const taken_max = memory_bytes_max(payload);
  auto const client = survives(decode_client, payload, taken_max);
  auto const server = survives(decode_server, payload, taken_max + believed_bytes_max);
  return client || server;
}

std::vector<std::string> sample_payloads() {
  std::vector<std::string> payloads;
  for (auto const& message : test::sample_requests()) payloads.push_back(test::payload_of(message));
  for (auto const& message : test::sample_answers()) payloads.push_back(test::payload_of(message));
  return payloads;
}

// Feeds the stream in random pieces to a decoder, and returns what it hands out before the stream
// ends or fails. No buffer may be larger than what was fed justifies.
std::vector<std::string> read_in_pieces(dice& chance, std::string_view stream, std::size_t limit) {
  std::vector<std::string> payloads;
  frame_decoder decoder{limit};
  auto const piece_bytes_max = 1 + chance.size(stream.size());
  std::size_t fed = 0;
  while (fed < stream.size()) {
    auto const piece = stream.substr(fed, chance.upto(piece_bytes_max));
    fed += piece.size();
    decoder.feed(piece);
    for (;;) {
      auto const payload = decoder.next();
      if (decoder.buffer_bytes() > std::min(limit, 2 * fed)) BOOST_ERROR("too large a buffer");
      if (!payload) return payloads;
      if (!*payload) break;
      if ((*payload)->size() > limit) BOOST_ERROR("a payload beyond the limit");
      payloads.emplace_back(**payload);
    }
  }
  return payloads;
}

// The same, the simple way: the whole stream is there.
std::vector<std::string> read_at_once(std::string_view stream, std::size_t limit) {
  std::vector<std::string> payloads;
  while (stream.size() >= length_bytes) {
    std::size_t length = 0;
    for (char const byte : stream.substr(0, length_bytes)) {
      length = length * 256 + static_cast<unsigned char>(byte);
    }
    if (length > limit || length > stream.size() - length_bytes) break;
    payloads.emplace_back(stream.substr(length_bytes, length));
    stream.remove_prefix(length_bytes + length);
  }
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

      if (read_in_pieces(chance, stream, limit) != read_at_once(stream, limit)) {
        BOOST_ERROR("the pieces matter");
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::wire
