#include "tests/fuzz/random_source.hpp"

#include <cstdlib>
#include <iostream>
#include <optional>

namespace coxswain::test {
namespace {

std::optional<std::uint64_t> setting(char const* variable) {
  auto const* const given = std::getenv(variable);
  if (!given) return std::nullopt;
  return std::strtoull(given, nullptr, 0);
}

}  // namespace

std::uint64_t seed() {
  static std::uint64_t const chosen = [] {
    auto const given = setting("COXSWAIN_SEED");
    std::uint64_t const made = given ? *given : std::random_device{}();
    std::cerr << "COXSWAIN_SEED=" << made << std::endl;
    return made;
  }();
  return chosen;
}

std::uint64_t times(std::uint64_t iterations) {
  return iterations * setting("COXSWAIN_FUZZ_ITERATIONS").value_or(1);
}

std::uint64_t random_source::spend(std::uint64_t last) {
  std::uint64_t number = 0;
  for (; last > 0 && !bytes_.empty(); last >>= 8) {
    number = number << 8 | static_cast<unsigned char>(bytes_.front());
    bytes_.remove_prefix(1);
  }
  return number;
}

std::string random_source::bytes(std::size_t size) {
  std::string made(size, '\0');
  for (auto& byte : made) byte = static_cast<char>(upto(255));
  return made;
}

}  // namespace coxswain::test
