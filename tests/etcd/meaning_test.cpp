#include "coxswain/etcd/meaning.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::etcd {
namespace {

meaning of(errc code, std::string text, bool is_unseen = false) {
  return meaning_of({{code, std::move(text)}, is_unseen});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(meaning_test)

BOOST_AUTO_TEST_CASE(a_call_that_no_member_took_had_no_effect) {
  auto const refused = of(errc::unavailable, "connection refused", true);
  BOOST_TEST((refused.had == effect::none));
  BOOST_TEST((refused.next == reaction::go_elsewhere));
}

BOOST_AUTO_TEST_CASE(a_lost_connection_says_nothing_about_the_effect) {
  auto const lost = of(errc::unavailable, "the connection was lost");
  BOOST_TEST((lost.had == effect::unknown));
  BOOST_TEST((lost.next == reaction::go_elsewhere));
}

BOOST_AUTO_TEST_CASE(texts_come_before_codes) {
  // 3.4 and 3.6 use different codes.
  for (auto const code : {errc::unavailable, errc::failed_precondition}) {
    BOOST_TEST((of(code, "etcdserver: not capable").next == reaction::retry));
  }
  BOOST_TEST((of(errc::unknown, "context deadline exceeded").next == reaction::go_elsewhere));
  BOOST_TEST((of(errc::invalid_argument, "etcdserver: user name is empty").next ==
              reaction::authenticate));
}

BOOST_AUTO_TEST_CASE(a_full_database_may_have_taken_the_write) {
  auto const full = of(errc::resource_exhausted, "etcdserver: mvcc: database space exceeded");
  BOOST_TEST((full.had == effect::unknown));
  BOOST_TEST((full.next == reaction::retry));
}

BOOST_AUTO_TEST_CASE(what_fails_always_is_given_up) {
  BOOST_TEST(
      (of(errc::permission_denied, "etcdserver: permission denied").next == reaction::give_up));
  BOOST_TEST((of(errc::unimplemented, "unknown service").next == reaction::give_up));
  BOOST_TEST((of(errc::data_loss, "etcdserver: corrupt cluster").next == reaction::give_up));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::etcd
