#include "coxswain/net/spin.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::net {
namespace {

// Polls every 10 us; returns for how long.
duration polls_for(spin& one, time_point from) {
  auto now = from;
  while (one.again(now)) now += 10us;
  return now - from;
}

constexpr time_point start{1h};

}  // namespace

BOOST_AUTO_TEST_SUITE(spin_test)

BOOST_AUTO_TEST_CASE(it_polls_for_the_given_time_after_each_activity) {
  spin one{50us};
  BOOST_TEST(one.is_on());
  BOOST_TEST(!one.again(start));

  one.restart(start);
  BOOST_TEST((polls_for(one, start) == 50us));
  BOOST_TEST(!one.again(start + 60us));

  one.restart(start + 70us);
  one.restart(start + 90us);
  BOOST_TEST((polls_for(one, start + 90us) == 50us));
}

BOOST_AUTO_TEST_CASE(it_never_polls_without_a_time) {
  spin one{0us};

  one.restart(start);

  BOOST_TEST(!one.is_on());
  BOOST_TEST(!one.again(start));
}

BOOST_AUTO_TEST_CASE(it_polls_for_one_second_at_most) {
  spin one{without_limit};

  one.restart(start);

  BOOST_TEST((polls_for(one, start) == 1s));
}

BOOST_AUTO_TEST_CASE(it_rests_after_the_thread_has_lost_its_core) {
  spin one{1s};
  one.restart(start);
  BOOST_TEST(one.again(start + 499us));
  auto const back = start + 999us;

  BOOST_TEST(!one.again(back));

  one.restart(back + 1us);
  BOOST_TEST(!one.again(back + 2us));
  one.restart(back + 99ms);
  BOOST_TEST(!one.again(back + 99ms));
  one.restart(back + 100ms);
  BOOST_TEST(one.again(back + 100ms));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::net
