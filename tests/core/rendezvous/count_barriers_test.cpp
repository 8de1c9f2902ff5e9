#include "coxswain/core/rendezvous/count_barriers.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace coxswain::core {
namespace {

constexpr time_point start{1h};

constexpr std::size_t idle_max = 2;

ticket who(std::uint64_t n) { return {session_id{1}, request_id{n}}; }

BOOST_AUTO_TEST_SUITE(count_barriers_test)

std::uint64_t pass(count_barriers& c, std::string const& name) {
  BOOST_TEST(c.arrive(start, name, 1, who(1)).has_value());
  return c.take_complete(name).number.value;
}

BOOST_AUTO_TEST_CASE(a_round_that_all_have_cancelled_leaves_its_number_to_the_next) {
  count_barriers c{idle_max};
  BOOST_TEST(pass(c, "a") == 1u);
  c.cancel("a", *c.arrive(start, "a", 2, who(1)));

  BOOST_TEST(pass(c, "a") == 2u);
}

BOOST_AUTO_TEST_CASE(only_the_names_that_were_used_last_are_remembered) {
  count_barriers c{idle_max};
  pass(c, "a");
  pass(c, "b");
  pass(c, "a");
  pass(c, "c");

  BOOST_TEST(pass(c, "a") == 3u);
  BOOST_TEST(pass(c, "b") == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::core
