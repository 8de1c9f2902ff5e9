// Access control of the status page.

#include "coxswain/status/authenticator.hpp"

#include <boost/test/unit_test.hpp>

#include <optional>
#include <string>
#include <vector>

namespace coxswain::status_page {
namespace {

std::vector<core::credential> tokens() {
  return {{core::role::reader, "look"}, {core::role::operator_, "steer"}};
}

// On loopback, without TLS.
authenticator::access at(std::uint16_t port) { return {true, false, false, port}; }

http_request with_host(std::optional<std::string> host) {
  http_request asked;
  asked.host = std::move(host);
  return asked;
}

BOOST_AUTO_TEST_SUITE(authenticator_test)

BOOST_AUTO_TEST_CASE(without_a_token_only_loopback_host_names_are_accepted) {
  authenticator const gate{{}, at(80)};
  for (auto const* const host : {"localhost", "localhost:9000", "LOCALHOST:1", "127.0.0.1",
                                 "127.1.2.3:80", "[::1]", "[::1]:80"}) {
    BOOST_TEST(gate.checked_host(with_host(host)).ok(), host);
  }
  for (auto const* const host : {"", "evil.example", "127.0.0.1.evil.example", "localhost.evil",
                                 "10.0.0.1:80", "[::2]", "[::1", "localhost@evil"}) {
    BOOST_TEST((gate.checked_host(with_host(host)).code() == errc::permission_denied), host);
  }
  BOOST_TEST(gate.checked_host(with_host(std::nullopt)).ok());  // no Host: not a browser
}

BOOST_AUTO_TEST_CASE(with_a_token_or_a_public_address_any_host_name_is_accepted) {
  authenticator const with_tokens{tokens(), at(80)};
  authenticator const for_all{{}, {false, false, false, 80}};
  BOOST_TEST(with_tokens.checked_host(with_host("job.example")).ok());
  BOOST_TEST(for_all.checked_host(with_host("10.0.0.1:80")).ok());
}

BOOST_AUTO_TEST_CASE(a_page_can_use_only_its_own_origin) {
  auto asked = with_host("localhost:80");
  BOOST_TEST(authenticator::checked_origin(asked).ok());
  for (auto const* const origin : {"http://localhost:80", "https://LOCALHOST:80"}) {
    asked.origin = origin;
    BOOST_TEST(authenticator::checked_origin(asked).ok(), origin);
  }
  for (auto const* const origin : {"null", "", "http://localhost", "http://evil", "localhost:80",
                                   "http://", "http://localhost:80.evil"}) {
    asked.origin = origin;
    BOOST_TEST((authenticator::checked_origin(asked).code() == errc::permission_denied), origin);
  }
}

BOOST_AUTO_TEST_CASE(a_token_grants_its_role) {
  authenticator const gate{tokens(), at(80)};
  http_request asked;
  BOOST_TEST((gate.role_of(asked).error().code() == errc::unauthenticated));
  asked.authorization = "Bearer look";
  BOOST_TEST((gate.role_of(asked).value() == core::role::reader));
  asked.authorization = "bearer  steer ";
  BOOST_TEST((gate.role_of(asked).value() == core::role::operator_));
  for (auto const* const wrong : {"Bearer", "Bearer ", "Bearer loo", "Basic look", "look"}) {
    asked.authorization = wrong;
    BOOST_TEST(gate.role_of(asked).has_error(), wrong);
  }
}

BOOST_AUTO_TEST_CASE(without_tokens_every_client_is_a_worker) {
  authenticator const gate{{}, at(80)};
  BOOST_TEST((gate.role_of({}).value() == core::role::worker));
}

BOOST_AUTO_TEST_CASE(with_anonymous_reading_a_token_is_needed_to_act) {
  authenticator gate{tokens(), {true, false, false, 80, true}};
  http_request asked;

  BOOST_TEST((gate.role_of(asked).value() == core::role::reader));
  BOOST_TEST(gate.checked_host(with_host("localhost:80")).ok());
  BOOST_TEST((gate.checked_host(with_host("evil.example")).code() == errc::permission_denied));

  asked.authorization = "Bearer steer";
  BOOST_TEST((gate.role_of(asked).value() == core::role::operator_));
  asked.authorization = "Bearer wrong";
  BOOST_TEST((gate.role_of(asked).error().code() == errc::unauthenticated));
  asked.authorization.clear();
  asked.cookie = gate.log_in("steer", {1}).value();
  BOOST_TEST((gate.role_of(asked).value() == core::role::operator_));
}

BOOST_AUTO_TEST_CASE(replacing_tokens_invalidates_their_cookies) {
  authenticator gate{tokens(), at(80)};
  http_request stays;
  http_request goes;
  stays.cookie = gate.log_in("look", {1}).value();
  goes.cookie = gate.log_in("steer", {2}).value();

  gate.replace_credentials({{core::role::reader, "look"}, {core::role::reader, "steer"}});

  BOOST_TEST((gate.role_of(stays).value() == core::role::reader));
  BOOST_TEST((gate.role_of(goes).error().code() == errc::unauthenticated));
  BOOST_TEST(gate.log_in("steer", {3}).has_value());
}

BOOST_AUTO_TEST_CASE(a_cookie_represents_its_token_without_revealing_it) {
  authenticator gate{tokens(), at(8477)};
  BOOST_TEST((gate.log_in("wrong", {}).error().code() == errc::unauthenticated));

  auto const cookie = gate.log_in("look", {1, 2, 255}).value();

  BOOST_TEST(cookie ==
             "coxswain_8477=0102ff00000000000000000000000000; Path=/; HttpOnly; SameSite=Strict");
  http_request asked;
  asked.cookie = "a=b; coxswain_8477=0102ff00000000000000000000000000;c=d";
  BOOST_TEST((gate.role_of(asked).value() == core::role::reader));
  for (auto const* const wrong : {"coxswain_8477=", "coxswain_8477", ";;", "coxswain_847=0102",
                                  "coxswain_80=0102ff00000000000000000000000000"}) {
    asked.cookie = wrong;
    BOOST_TEST(gate.role_of(asked).has_error(), wrong);
  }
}

BOOST_AUTO_TEST_CASE(the_oldest_login_is_dropped_first) {
  authenticator gate{tokens(), at(1)};
  http_request asked;
  asked.cookie = gate.log_in("look", {1}).value().substr(0, 43);
  BOOST_TEST(gate.role_of(asked).has_value());
  for (int i = 0; i < 256; ++i) BOOST_TEST_REQUIRE(gate.log_in("look", {2}).has_value());
  BOOST_TEST(gate.role_of(asked).has_error());
}

BOOST_AUTO_TEST_CASE(without_tokens_a_required_certificate_admits) {
  authenticator const gate{{}, {false, true, true, 443}};
  http_request asked;
  BOOST_TEST((gate.role_of(asked).error().code() == errc::unauthenticated));

  asked.is_certified = true;

  BOOST_TEST((gate.role_of(asked).value() == core::role::worker));
}

BOOST_AUTO_TEST_CASE(a_certificate_does_not_replace_a_token) {
  authenticator const gate{tokens(), {false, true, true, 443}};
  http_request asked;
  asked.is_certified = true;

  BOOST_TEST((gate.role_of(asked).error().code() == errc::unauthenticated));
}

BOOST_AUTO_TEST_CASE(a_cookie_set_over_https_is_secure) {
  authenticator gate{tokens(), {false, true, false, 443}};

  BOOST_TEST(gate.log_in("look", {}).value().ends_with("; Secure"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::status_page
