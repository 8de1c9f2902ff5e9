// Plays every scenario of this directory and compares the outcome with the file. With `-- --update`
// it rewrites the files, for review as a diff; with `-- --record=DIR` it keeps recordings there.

#include "coxswain/server/recording/replay.hpp"
#include "tests/scenarios/transcript.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
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

// The paragraphs of ARCHITECTURE.md on behavior of the core alone.
std::set<std::string> paragraphs() {
  std::set<std::string> const others{"Two pure cores, two thin shells",
                                     "Layers",
                                     "Rooms",
                                     "A loop iteration",
                                     "A loss, for a runtime",
                                     "A blocking call",
                                     "A call from Python",
                                     "A call of an unmodified JAX process",
                                     "The simulation of everything",
                                     "Without memory",
                                     "Admission",
                                     "Where the time goes",
                                     "The status page",
                                     "Invariants",
                                     "Attacks",
                                     "Recordings",
                                     "Snapshots",
                                     "A restart",
                                     "A standby",
                                     "Relays",
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
