#pragma once
// Appends every user-visible text of a test to the file named by COXSWAIN_TEXTS, if set;
// texts_test.py makes the catalogue from it.

#include "coxswain/base/status.hpp"

#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <string>

namespace coxswain::test {

// `kind` is the code of an error or the severity of a log line.
inline void note_text(std::string const& kind, std::string const& text) {
  static std::unique_ptr<std::ofstream> const to = [] {
    char const* const name = std::getenv("COXSWAIN_TEXTS");
    return name ? std::make_unique<std::ofstream>(name) : nullptr;
  }();
  static std::set<std::string> noted;
  if (!to || text.empty()) return;
  std::string line = kind + '\t' + text;
  for (char& c : line) {
    if (c == '\n') c = ' ';
  }
  if (noted.insert(line).second) *to << line << '\n';
}

inline void note_text(status const& why) {
  if (!why.ok()) note_text(std::string{name(why.code())}, why.message());
}

}  // namespace coxswain::test
