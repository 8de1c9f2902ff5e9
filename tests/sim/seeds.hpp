#pragma once
// The seeds of a simulation test: `-- --seed=N` selects one, COXSWAIN_SIM_SEEDS their number
// (default 500).

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::sim {

[[nodiscard]] inline std::vector<std::uint64_t> seeds() {
  auto const& suite = boost::unit_test::framework::master_test_suite();
  for (int i = 1; i < suite.argc; ++i) {
    std::string_view const argument = suite.argv[i];
    constexpr std::string_view option = "--seed=";
    if (argument.starts_with(option)) {
      return {std::stoull(std::string{argument.substr(option.size())})};
    }
  }
  char const* const count = std::getenv("COXSWAIN_SIM_SEEDS");
  std::vector<std::uint64_t> all;
  for (std::uint64_t seed = 1; seed <= (count ? std::stoull(count) : 500); ++seed) {
    all.push_back(seed);
  }
  return all;
}

}  // namespace coxswain::sim
