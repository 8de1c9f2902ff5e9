// Tries a target with the files that are named, or lie in the directories that are named. Which one
// it was that broke it is found by naming them one by one.

#include "tests/fuzz/targets/target.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace {

std::size_t try_file(std::filesystem::path const& path) {
  std::ifstream file{path, std::ios::binary};
  std::string const input{std::istreambuf_iterator<char>{file}, {}};
  if (!file) {
    std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
    return 0;
  }
  coxswain::test::try_input(input);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t tried = 0;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) {
      tried += try_file(argv[i]);
      continue;
    }
    for (auto const& entry : std::filesystem::directory_iterator{argv[i]}) {
      tried += try_file(entry.path());
    }
  }
  std::fprintf(stderr, "%zu inputs passed\n", tried);
  return tried > 0 ? 0 : 1;
}
