#include "coxswain/core/keyspace/name_index.hpp"

#include <boost/test/unit_test.hpp>

#include <map>
#include <random>
#include <string>

namespace coxswain::core {
namespace {

using numbers = std::map<std::string, int, std::less<>>;

BOOST_AUTO_TEST_SUITE(name_index_test)

BOOST_AUTO_TEST_CASE(lookups_match_the_map) {
  std::mt19937 random{5};
  numbers map;
  name_index<numbers> index;
  for (int step = 0; step < 20'000; ++step) {
    std::string const name = "k" + std::to_string(random() % 500);
    auto const* const found = index.find(name);
    BOOST_TEST_REQUIRE((found != nullptr) == map.contains(name));
    if (!found) {
      index.add(map.emplace(name, step).first);
    } else if (random() % 2 == 0) {
      auto const at = *found;
      BOOST_TEST_REQUIRE(at->first == name);
      index.remove(at);
      map.erase(at);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::core
