// Clients and recordings of protocol version 1 are refused by name; a translated recording replays
// identically.

#include "tests/server/version_1.hpp"
#include "coxswain/base/error.hpp"
#include "coxswain/server/dispatch.hpp"
#include "coxswain/server/recording/replay.hpp"
#include "tests/server/messages.hpp"

#include <boost/test/unit_test.hpp>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace coxswain::server {
namespace {

using namespace std::string_literals;

// The keys scenario, which removes a directory.
std::string recorded() {
  std::ifstream from{COXSWAIN_VERSION_1, std::ios::binary};
  return {std::istreambuf_iterator<char>{from}, {}};
}

BOOST_AUTO_TEST_SUITE(version_1_test)

BOOST_AUTO_TEST_CASE(a_version_1_client_gets_a_readable_refusal) {
  constexpr time_point t0{1000s};
  dispatch d{{}, incarnation{77}, t0};
  auto const client = d.open(t0, "10.0.0.1:5", core::session_secret{});

  // Hello{protocol_version: 1, label: "old:1"}
  d.received(t0, client, "\0\0\0\x0b\x22\x09\x08\x01\x2a\x05old:1"s);
  d.begin();
  d.advance(t0);
  std::vector<connection_id> dirty;
  d.deliver(dirty);

  // Goodbye{code: FAILED_PRECONDITION, reason: ...}
  std::string const reason =
      "the client speaks protocol version 1, this coordinator version 2: run the same version of "
      "Coxswain on both sides";
  auto const size = static_cast<char>(reason.size());
  std::string const goodbye = "\x08\x09\x12"s + size + reason;
  std::string const message = "\x6a"s + static_cast<char>(goodbye.size()) + goodbye;
  BOOST_TEST(next_bytes(d.out(client)) == "\0\0\0"s + static_cast<char>(message.size()) + message);
}

BOOST_AUTO_TEST_CASE(a_version_1_recording_is_refused_naming_both_formats) {
  std::string why;
  try {
    replay r{recorded()};
  } catch (error const& problem) {
    why = problem.what();
  }

  BOOST_TEST(why ==
             "INVALID_ARGUMENT: Not a readable recording: its version is 2, and this "
             "program knows version 3.");
}

BOOST_AUTO_TEST_CASE(a_translated_version_1_recording_replays_identically) {
  auto const recording = test::from_version_1(recorded());
  replay r{recording};
  while (r.step()) continue;

  BOOST_TEST(r.difference() == "");
  BOOST_TEST(r.is_whole());
  BOOST_TEST(r.compared().messages > 10u);
  BOOST_TEST(r.compared().not_compared == 0u);
  BOOST_CHECK_THROW(test::from_version_1(recording), error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::server
