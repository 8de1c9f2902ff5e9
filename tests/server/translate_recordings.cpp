// Makes recordings of protocol version 1 comparable:
//
//   translate_recordings TO FROM...
//
// writes each of them into the directory TO, for `coxswain replay --compare`.

#include "tests/server/version_1.hpp"

#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

int main(int count, char const* const* arguments) {
  if (count < 3) {
    std::cerr << "usage: translate_recordings TO FROM...\n";
    return 2;
  }
  try {
    for (int i = 2; i < count; ++i) {
      std::filesystem::path const path = arguments[i];
      std::ifstream from{path, std::ios::binary};
      std::string const recording{std::istreambuf_iterator<char>{from}, {}};
      std::ofstream to{arguments[1] / path.filename(), std::ios::binary};
      to << coxswain::test::from_version_1(recording);
      if (!to.flush()) throw std::runtime_error{"cannot write " + path.filename().string()};
    }
  } catch (std::exception const& problem) {
    std::cerr << "translate_recordings: " << problem.what() << '\n';
    return 1;
  }
}
