// Plays every scenario of this folder and compares it with what is written there. With
// `-- --update` it writes what came out instead, to be read as a diff.

#include "tests/scenarios/transcript.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

namespace coxswain::scenarios {
namespace {

std::string content(std::filesystem::path const& file) {
  std::ifstream in{file};
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

bool is_update() {
  auto const& suite = boost::unit_test::framework::master_test_suite();
  return std::any_of(suite.argv, suite.argv + suite.argc,
                     [](char const* argument) { return std::string_view{argument} == "--update"; });
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_scenario_plays_as_written) {
  std::vector<std::filesystem::path> files;
  for (auto const& entry : std::filesystem::directory_iterator{COXSWAIN_SCENARIOS}) {
    if (entry.path().extension() == ".txt" && entry.path().stem() != "CMakeLists") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  BOOST_TEST(files.size() >= 8U);
  for (auto const& file : files) {
    BOOST_TEST_CONTEXT(file.filename().string()) {
      std::string const written = content(file);
      std::string const played = transcript{}.play(written);
      BOOST_TEST(played.find("  ") != std::string::npos);
      if (is_update()) {
        std::ofstream{file} << played;
      } else {
        BOOST_TEST(played == written);
      }
    }
  }
}

}  // namespace coxswain::scenarios
