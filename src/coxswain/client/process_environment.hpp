#pragma once
// The environment of this process, for launch::detect.

#include "coxswain/launch/environment.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

namespace coxswain {

// Reads the environment and files on demand. Not while another thread changes the environment.
[[nodiscard]] inline launch::environment process_environment() {
  auto const variable = [](std::string const& name) {
    char const* const value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>{value};
  };
  auto const content = [](std::string const& path) {
    std::ifstream file{path, std::ios::binary};
    return file ? std::optional{std::string{std::istreambuf_iterator<char>{file}, {}}}
                : std::nullopt;
  };
  return {variable, content};
}

}  // namespace coxswain
