// What released programs send is understood: `releases/VERSION.requests` and `.answers` hold the
// frames of their sample messages. With `-- --record=VERSION` those of this program are written.

#include "coxswain/v1/coxswain.pb.h"
#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/frame.hpp"
#include "tests/wire/samples.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace coxswain::wire {
namespace {

using test::payload_of;

constexpr std::string_view record = "--record=";

std::optional<std::string> recorded_version() {
  auto const& arguments = boost::unit_test::framework::master_test_suite();
  for (int i = 1; i < arguments.argc; ++i) {
    std::string_view const argument = arguments.argv[i];
    if (argument.starts_with(record)) return std::string{argument.substr(record.size())};
  }
  return std::nullopt;
}

template <class Messages>
void write(std::string const& file, Messages const& messages) {
  std::string frames;
  for (auto const& message : messages) {
    std::string const payload = payload_of(message);
    append_length(frames, payload.size());
    frames += payload;
  }
  std::ofstream{std::filesystem::path{COXSWAIN_RELEASES} / file, std::ios::binary} << frames;
}

int kind_of(v1::ClientMessage const& message) { return message.request_case(); }
int kind_of(v1::ServerMessage const& message) { return message.body_case(); }

// Each frame is decoded by `decode`; encoded again it says the same, so nothing of it was lost.
// Returns the kinds of its messages.
template <class Proto>
std::set<int> understood(std::filesystem::path const& file, auto decode) {
  std::ifstream in{file, std::ios::binary};
  std::string const frames{std::istreambuf_iterator<char>{in}, {}};
  frame_decoder decoder{frames.size()};
  decoder.feed(frames);
  std::set<int> kinds;
  while (auto const payload = decoder.next().value()) {
    Proto sent;
    BOOST_TEST_REQUIRE(sent.ParseFromArray(payload->data(), static_cast<int>(payload->size())));
    kinds.insert(kind_of(sent));
    BOOST_TEST_CONTEXT(sent.ShortDebugString()) {
      auto const read = decode(*payload);
      BOOST_TEST_REQUIRE(static_cast<bool>(read));
      Proto again;
      BOOST_TEST(again.ParseFromString(payload_of(read.value())));
      BOOST_TEST(again.SerializeAsString() == sent.SerializeAsString());
    }
  }
  return kinds;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(compatibility_test)

BOOST_AUTO_TEST_CASE(what_released_programs_send_is_understood) {
  if (auto const version = recorded_version()) {
    write(*version + ".requests", test::sample_requests());
    write(*version + ".answers", test::sample_answers());
  }
  std::size_t num_files = 0;
  for (auto const& file : std::filesystem::directory_iterator{COXSWAIN_RELEASES}) {
    BOOST_TEST_CONTEXT(file.path().filename().string()) {
      auto const kinds =
          file.path().extension() == ".requests"
              ? understood<v1::ClientMessage>(file, [](auto bytes) { return decode_client(bytes); })
              : understood<v1::ServerMessage>(file,
                                              [](auto bytes) { return decode_server(bytes); });
      BOOST_TEST(kinds.size() > 20U);
      ++num_files;
    }
  }
  BOOST_TEST(num_files >= 2U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::wire
