#include "coxswain/core/rendezvous/count_barriers.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace coxswain::core {
namespace {

constexpr time_point start{1h};

constexpr std::size_t idle_max = 2;

ticket who(std::uint64_t n) { return {session_id{1}, request_id{n}}; }

BOOST_AUTO_TEST_SUITE(count_barriers_test)

BOOST_AUTO_TEST_CASE(the_nth_arrival_releases_all_in_the_order_in_which_they_came) {
  count_barriers c{idle_max};
  BOOST_TEST(c.arrive(start, "a", 3, who(5)).has_value());
  BOOST_TEST(c.arrive(start, "a", 3, who(3)).has_value());
  BOOST_TEST(c.take_complete("a").tickets.empty());
  BOOST_TEST(c.arrive(start, "a", 3, who(4)).has_value());

  auto const released = c.take_complete("a");

  BOOST_TEST((released.tickets == std::vector<ticket>{who(5), who(3), who(4)}));
  BOOST_TEST(c.all().empty());
}

BOOST_AUTO_TEST_CASE(a_count_of_one_is_complete_at_once_and_a_count_of_zero_is_invalid) {
  count_barriers c{idle_max};
  BOOST_TEST(c.arrive(start, "a", 0, who(1)).error().code() == errc::invalid_argument);
  BOOST_TEST(c.all().empty());

  BOOST_TEST(c.arrive(start, "a", 1, who(1)).has_value());

  BOOST_TEST(c.take_complete("a").tickets.size() == 1u);
}

BOOST_AUTO_TEST_CASE(another_count_is_invalid_and_the_others_wait_on) {
  count_barriers c{idle_max};
  BOOST_TEST(c.arrive(start, "a", 2, who(1)).has_value());

  auto const refused = c.arrive(start, "a", 3, who(2));

  BOOST_TEST(refused.error().code() == errc::invalid_argument);
  BOOST_TEST(refused.error().message().find("count 2, not 3") != std::string::npos);
  BOOST_TEST(c.all().at("a").arrived.size() == 1u);
}

BOOST_AUTO_TEST_CASE(when_all_have_cancelled_the_next_arrival_fixes_the_count_anew) {
  count_barriers c{idle_max};
  auto const first = c.arrive(start, "a", 2, who(1));
  c.cancel("a", *first);
  c.cancel("a", *first);
  c.cancel("unknown", *first);

  BOOST_TEST(c.arrive(start, "a", 3, who(2)).has_value());
  BOOST_TEST(c.all().at("a").count == 3u);
}

BOOST_AUTO_TEST_CASE(a_cancellation_takes_back_that_arrival_only) {
  count_barriers c{idle_max};
  BOOST_TEST(c.arrive(start, "a", 3, who(1)).has_value());
  auto const second = c.arrive(start, "a", 3, who(1));
  BOOST_TEST(second.has_value());

  c.cancel("a", *second);

  BOOST_TEST(c.all().at("a").arrived.size() == 1u);
}

std::uint64_t pass(count_barriers& c, std::string const& name) {
  BOOST_TEST(c.arrive(start, name, 1, who(1)).has_value());
  return c.take_complete(name).number.value;
}

BOOST_AUTO_TEST_CASE(the_rounds_of_each_name_are_numbered_from_one) {
  count_barriers c{idle_max};

  BOOST_TEST(pass(c, "a") == 1u);
  BOOST_TEST(pass(c, "a") == 2u);
  BOOST_TEST(pass(c, "b") == 1u);
  BOOST_TEST(pass(c, "a") == 3u);
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

BOOST_AUTO_TEST_CASE(names_are_apart_and_each_use_is_a_round_of_its_own) {
  count_barriers c{idle_max};
  BOOST_TEST(c.arrive(start, "a", 1, who(1)).has_value());
  auto const one = c.take_complete("a").number;
  BOOST_TEST(c.arrive(start, "b", 2, who(2)).has_value());
  BOOST_TEST(c.take_complete("a").tickets.empty());
  BOOST_TEST(c.arrive(start, "a", 1, who(3)).has_value());
  auto const two = c.take_complete("a").number;

  BOOST_TEST(one < two);
  BOOST_TEST(c.all().size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::core
