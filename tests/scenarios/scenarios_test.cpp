// Plays every scenario of this directory and compares the outcome with the file. With `-- --update`
// it rewrites the files, for review as a diff; with `-- --record=DIR` it keeps recordings there.

#include "coxswain/server/recording/replay.hpp"
#include "tests/scenarios/transcript.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

namespace coxswain::scenarios {
namespace {

std::string content(std::filesystem::path const& file) {
  std::ifstream in{file};
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

// The text after `name` in an argument, if any.
std::optional<std::string> argument(std::string_view name) {
  auto const& suite = boost::unit_test::framework::master_test_suite();
  for (int i = 1; i < suite.argc; ++i) {
    std::string_view const one = suite.argv[i];
    if (one.starts_with(name)) return std::string{one.substr(name.size())};
  }
  return std::nullopt;
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

// The chapters of SEMANTICS.md on behavior of the core alone.
std::set<std::string> chapters() {
  std::set<std::string> const others{"Roles and tokens",
                                     "JAX processes",
                                     "TCPStore clients",
                                     "Recordings",
                                     "Restarts",
                                     "Launchers",
                                     "Appendix: limits, roles and options",
                                     "Old numbers"};
  std::set<std::string> found;
  std::ifstream in{std::filesystem::path{COXSWAIN_SCENARIOS} / "../../src/coxswain/SEMANTICS.md"};
  std::regex const heading{R"(## (?:[0-9A-Z]+\. )?(.*))"};
  std::smatch chapter;
  for (std::string line; std::getline(in, line);) {
    if (!std::regex_match(line, chapter, heading) || others.contains(chapter[1])) continue;
    found.insert(chapter[1]);
  }
  return found;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_chapter_about_the_core_has_a_scenario_that_begins_with_its_name) {
  std::set<std::string> const all = chapters();
  std::set<std::string> left = all;
  for (auto const& file : scenarios()) {
    std::string const text = content(file);
    std::string const chapter = text.substr(0, text.find('.'));
    BOOST_TEST(all.contains(chapter), file.filename() << " begins with no chapter's name");
    left.erase(chapter);
  }
  for (auto const& chapter : left) BOOST_ERROR("no scenario plays '" << chapter << "'");
  BOOST_TEST(all.size() >= 8U);
}

BOOST_AUTO_TEST_CASE(every_scenario_plays_as_written) {
  for (auto const& file : scenarios()) {
    BOOST_TEST_CONTEXT(file.filename().string()) {
      std::string const written = content(file);
      std::string const played = transcript{}.play(written);
      BOOST_TEST(played.find("  ") != std::string::npos);
      if (argument("--update")) {
        std::ofstream{file} << played;
      } else {
        BOOST_TEST(played == written);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(every_scenario_is_the_same_when_it_is_replayed) {
  auto const directory = argument("--record=");
  for (auto const& file : scenarios()) {
    BOOST_TEST_CONTEXT(file.filename().string()) {
      transcript played;
      static_cast<void>(played.play(content(file)));
      auto const recording = played.recording();
      server::replay again{recording};
      while (again.step()) continue;
      BOOST_TEST(again.difference() == "");
      BOOST_TEST(again.compared().messages > 0u);
      BOOST_TEST(again.compared().not_compared == 0u);
      if (!directory) continue;
      auto const name = file.stem().string() + ".recording";
      std::ofstream{std::filesystem::path{*directory} / name, std::ios::binary} << recording;
    }
  }
}

}  // namespace coxswain::scenarios
