#include "coxswain/client/process_environment.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace coxswain {
namespace {

std::optional<std::string> variable_of_process(std::string const& name) {
  char const* const value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

std::optional<std::string> content_of(std::string const& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) return std::nullopt;
  return std::string{std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace

launch::environment process_environment() { return {variable_of_process, content_of}; }

}  // namespace coxswain
