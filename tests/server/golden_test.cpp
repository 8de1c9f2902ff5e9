// Golden recordings: the inputs and the outputs of earlier programs with the same behaviour number.

#include "coxswain/base/error.hpp"
#include "coxswain/core/behaviour.hpp"
#include "coxswain/server/recording/replay.hpp"

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace coxswain::server {
namespace {

std::filesystem::path golden() {
  return std::filesystem::path{COXSWAIN_GOLDEN} / ("behaviour-" + std::to_string(core::behaviour));
}

std::string const what_to_do =
    "If the core is to decide differently, raise coxswain::core::behaviour "
    "(src/coxswain/core/behaviour.hpp), rename " +
    golden().string() +
    " accordingly, and record anew: for each job-N.recording in it, "
    "simulation --seeds=1 --first=N --record=DIRECTORY";

// The first difference from the recorded output; empty if there is none.
std::string difference(std::filesystem::path const& recording) {
  std::ifstream from{recording, std::ios::binary};
  std::string const bytes{std::istreambuf_iterator<char>{from}, {}};
  try {
    replay again{bytes};
    while (again.step()) {
      if (!again.difference().empty()) return again.difference();
    }
    if (again.compared().not_compared != 0) return "there are more messages";
  } catch (error const& problem) {
    return problem.what();
  }
  return {};
}

BOOST_AUTO_TEST_SUITE(golden_test)

BOOST_AUTO_TEST_CASE(the_behaviour_is_that_of_the_golden_recordings) {
  BOOST_TEST_REQUIRE(
      std::filesystem::is_directory(golden()),
      "there are no recordings of behaviour " << core::behaviour << ". " << what_to_do);
  std::set<std::filesystem::path> all;
  for (auto const& one : std::filesystem::directory_iterator{golden()}) all.insert(one.path());
  BOOST_TEST(all.size() >= 8u);
  for (auto const& one : all) {
    std::string const found = difference(one);
    BOOST_TEST(found.empty(), one.filename() << ": " << found << ". " << what_to_do);
  }
}

// A reload must not change what a recording says.
BOOST_AUTO_TEST_CASE(a_replay_goes_on_the_same_after_a_reload) {
  std::ifstream from{std::filesystem::directory_iterator{golden()} -> path(), std::ios::binary};
  std::string const bytes{std::istreambuf_iterator<char>{from}, {}};
  replay whole{bytes};
  replay again{bytes};
  while (whole.step()) {
    again.step();
    again.reload();
    BOOST_TEST_REQUIRE(again.difference() == "");
    BOOST_TEST_REQUIRE(again.digest() == whole.digest());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::server
