#include "coxswain/xla/strict_barriers.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::xla {

BOOST_AUTO_TEST_SUITE(strict_barriers_test)

BOOST_AUTO_TEST_CASE(only_recent_names_and_open_rounds_are_kept) {
  using verdict = strict_barriers::verdict;
  strict_barriers all;
  BOOST_TEST((all.call("open", 0) == verdict::arrive));
  BOOST_TEST((all.call("old", 0) == verdict::arrive));
  all.end("old", 0, {});
  for (std::size_t i = 0; i < 2 * strict_barriers::names_max; ++i) {
    auto const name = std::to_string(i);
    BOOST_TEST_REQUIRE((all.call(name, 0) == verdict::arrive));
    all.end(name, 0, {});
  }

  BOOST_TEST(!all.find("old"));
  BOOST_TEST((all.call("open", 1) == verdict::mismatch));
  BOOST_TEST((all.call(std::to_string(strict_barriers::names_max), 0) == verdict::mismatch));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::xla
