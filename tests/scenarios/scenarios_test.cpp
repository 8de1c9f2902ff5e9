// Plays every scenario of this folder and compares it with what is written there. With
// `-- --update` it writes what came out instead, to be read as a diff.

#include "tests/scenarios/transcript.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
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

std::vector<std::filesystem::path> scenarios() {
  std::vector<std::filesystem::path> files;
  for (auto const& entry : std::filesystem::directory_iterator{COXSWAIN_SCENARIOS}) {
    if (entry.path().extension() == ".txt" && entry.path().stem() != "CMakeLists") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The paragraphs of ARCHITECTURE.md whose behaviour the core alone shows.
std::set<std::string> paragraphs() {
  std::set<std::string> const others{"Two pure cores, two thin shells",
                                     "Layers",
                                     "Who does what",
                                     "A turn",
                                     "A loss, for a runtime",
                                     "A call from Python",
                                     "The simulation of everything",
                                     "Without memory",
                                     "Who is let in",
                                     "Where the time goes",
                                     "The status page",
                                     "Invariants",
                                     "Attacks",
                                     "Recordings",
                                     "Where the next things go"};
  std::set<std::string> found;
  std::istringstream in{
      content(std::filesystem::path{COXSWAIN_SCENARIOS} / "../../src/coxswain/ARCHITECTURE.md")};
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("## ") && !others.contains(line.substr(3))) found.insert(line.substr(3));
  }
  return found;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_paragraph_of_the_architecture_has_a_scenario_that_begins_with_it) {
  std::set<std::string> const all = paragraphs();
  std::set<std::string> left = all;
  for (auto const& file : scenarios()) {
    std::string const text = content(file);
    std::string const paragraph = text.substr(0, text.find('.'));
    BOOST_TEST(all.contains(paragraph), file.filename() << " begins with no paragraph's name");
    left.erase(paragraph);
  }
  for (auto const& paragraph : left) BOOST_ERROR("no scenario plays '" << paragraph << "'");
  BOOST_TEST(all.size() >= 8U);
}

BOOST_AUTO_TEST_CASE(every_scenario_plays_as_written) {
  for (auto const& file : scenarios()) {
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
