#include "coxswain/net/endpoint.hpp"

#include "coxswain/base/error.hpp"
#include "tests/main/contains.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/un.h>

#include <string>

namespace coxswain::net {
namespace {

using test::contains;

std::string refused(std::string_view text) {
  auto const parsed = endpoint::parse(text);
  if (parsed) return "accepted as " + parsed->text();
  BOOST_TEST(parsed.error().code() == errc::invalid_argument);
  return parsed.error().message();
}

BOOST_AUTO_TEST_SUITE(endpoint_test)

BOOST_AUTO_TEST_CASE(an_address_has_a_host_and_a_port) {
  auto const parsed = endpoint::parse("coordinator-0.svc:8476").value();

  BOOST_TEST(parsed.host() == "coordinator-0.svc");
  BOOST_TEST(parsed.port() == 8476);
  BOOST_TEST(!parsed.is_unix());
  BOOST_TEST(parsed.text() == "coordinator-0.svc:8476");
}

BOOST_AUTO_TEST_CASE(an_ipv6_address_is_in_brackets) {
  auto const parsed = endpoint::parse("[fe80::1%eth0]:0").value();

  BOOST_TEST(parsed.host() == "fe80::1%eth0");
  BOOST_TEST(parsed.port() == 0);
  BOOST_TEST(parsed.text() == "[fe80::1%eth0]:0");
}

BOOST_AUTO_TEST_CASE(an_empty_host_means_all_addresses) {
  auto const parsed = endpoint::parse(":65535").value();

  BOOST_TEST(parsed.host() == "");
  BOOST_TEST(parsed.text() == ":65535");
  auto const addresses = parsed.resolve(endpoint::purpose::listen).value();
  BOOST_TEST_REQUIRE(addresses.size() == 2u);
  BOOST_TEST(addresses[0].text() == "[::]:65535");
  BOOST_TEST(addresses[1].text() == "0.0.0.0:65535");
}

BOOST_AUTO_TEST_CASE(a_unix_address_has_a_path) {
  auto const parsed = endpoint::parse("unix:/run/job:7.sock").value();

  BOOST_TEST(parsed.is_unix());
  BOOST_TEST(parsed.path() == "/run/job:7.sock");
  BOOST_TEST(parsed.text() == "unix:/run/job:7.sock");
  auto const addresses = parsed.resolve(endpoint::purpose::connect).value();
  BOOST_TEST_REQUIRE(addresses.size() == 1u);
  BOOST_TEST(addresses[0].family() == AF_UNIX);
  BOOST_TEST(addresses[0].text() == "unix:/run/job:7.sock");
}

BOOST_AUTO_TEST_CASE(a_unix_path_of_107_bytes_is_the_longest) {
  std::string const longest = "/" + std::string(106, 'x');

  BOOST_TEST(endpoint::parse("unix:" + longest)->resolve(endpoint::purpose::listen)->at(0).text() ==
             "unix:" + longest);
  BOOST_TEST(contains(refused("unix:" + longest + "x"), "a path of 108 bytes"));
}

BOOST_AUTO_TEST_CASE(errors_of_malformed_addresses_state_the_problem_and_the_allowed_forms) {
  BOOST_TEST(refused("localhost") ==
             "The address 'localhost' has no port. Expected host:port, [v6]:port, :port (all "
             "addresses) or unix:/path.");
  BOOST_TEST(contains(refused(""), "has no port"));
  BOOST_TEST(contains(refused("[::1]"), "has no port"));
  BOOST_TEST(contains(refused("host:"), "has no port between 0 and 65535"));
  BOOST_TEST(contains(refused("host:65536"), "has no port between 0 and 65535"));
  BOOST_TEST(contains(refused("host:-1"), "has no port between 0 and 65535"));
  BOOST_TEST(contains(refused("host:80 "), "has no port between 0 and 65535"));
  BOOST_TEST(contains(refused("http://host:80/x"), "is a URL; write 'host:80' without 'http://'"));
  BOOST_TEST(contains(refused("::1:80"), "IPv6 address without brackets"));
  BOOST_TEST(contains(refused("[]:80"), "no IPv6 address in its brackets"));
  BOOST_TEST(contains(refused("[host]:80"), "no IPv6 address in its brackets"));
  BOOST_TEST(contains(refused("[::1:80"), "no IPv6 address in its brackets"));
  BOOST_TEST(contains(refused("a b:80"), "a character in its host"));
  BOOST_TEST(contains(refused("//host:80"), "a character in its host"));
  BOOST_TEST(contains(refused("unix:"), "has no absolute path"));
  BOOST_TEST(contains(refused("unix:relative"), "has no absolute path"));
}

BOOST_AUTO_TEST_CASE(a_list_has_each_address_once_in_order) {
  auto const text_of = [](std::string_view list) {
    std::string text;
    for (auto const& one : endpoint::parse_list(list).value()) text += one.text() + ' ';
    return text;
  };
  BOOST_TEST(text_of("b12:8476") == "b12:8476 ");
  BOOST_TEST(text_of("b12:8476,[::1]:1,unix:/tmp/c,b12:8476,:80") ==
             "b12:8476 [::1]:1 unix:/tmp/c :80 ");
}

BOOST_AUTO_TEST_CASE(an_error_in_a_list_is_that_of_its_address) {
  for (std::string_view const wrong : {"", "a:1,", ",a:1", "a:1,,b:1", "a:1,b", "a:1, b:1"}) {
    auto const parsed = endpoint::parse_list(wrong);
    BOOST_TEST(!parsed.has_value(), wrong);
  }
  BOOST_TEST(endpoint::parse_list("a:1,b").error().message() ==
             endpoint::parse("b").error().message());
}

BOOST_AUTO_TEST_CASE(loopback_and_unix_are_private) {
  for (auto const* text : {"127.0.0.1:1", "127.3.2.1:1", "[::1]:1", "[::ffff:127.0.0.1]:1",
                           "localhost:1", "unix:/x"}) {
    BOOST_TEST(endpoint::parse(text)->is_private(), text);
  }
  for (auto const* text : {":1", "0.0.0.0:1", "[::]:1", "10.0.0.1:1", "[2001:db8::1]:1",
                           "example.test:1", "[::ffff:10.0.0.1]:1"}) {
    BOOST_TEST(!endpoint::parse(text)->is_private(), text);
  }
}

BOOST_AUTO_TEST_CASE(numeric_addresses_are_resolved_without_a_name_service) {
  auto const v4 = endpoint::parse("10.1.2.3:4")->resolve(endpoint::purpose::connect).value();
  auto const longest = endpoint::parse("255.255.255.255:65535")->resolve(endpoint::purpose::listen);
  auto const v6 = endpoint::parse("[2001:db8::1]:4")->resolve(endpoint::purpose::listen).value();

  BOOST_TEST(longest->at(0).text() == "255.255.255.255:65535");
  BOOST_TEST(v4.size() == 1u);
  BOOST_TEST(v4[0].text() == "10.1.2.3:4");
  BOOST_TEST(!v4[0].is_private());
  BOOST_TEST(v6.size() == 1u);
  BOOST_TEST(v6[0].text() == "[2001:db8::1]:4");
}

BOOST_AUTO_TEST_CASE(an_empty_host_connects_to_this_host) {
  auto const addresses = endpoint::parse(":80")->resolve(endpoint::purpose::connect).value();

  BOOST_TEST(!addresses.empty());
  for (auto const& address : addresses) BOOST_TEST(address.is_private(), address.text());
}

BOOST_AUTO_TEST_CASE(an_unknown_host_name_is_unavailable) {
  auto const found =
      endpoint::parse("no-such-host.invalid:80")->resolve(endpoint::purpose::connect);

  BOOST_TEST_REQUIRE(!found);
  BOOST_TEST(found.error().code() == errc::unavailable);
  BOOST_TEST(contains(found.error().message(),
                      "The host name 'no-such-host.invalid' of 'no-such-host.invalid:80' cannot"));
}

BOOST_AUTO_TEST_CASE(a_mapped_v4_peer_is_shown_as_v4) {
  auto const mapped = endpoint::parse("[::ffff:10.0.0.1]:80")->resolve(endpoint::purpose::connect);

  BOOST_TEST(mapped->at(0).text() == "10.0.0.1:80");
}

BOOST_AUTO_TEST_CASE(a_unix_socket_without_a_name) {
  sockaddr_un nameless{};
  nameless.sun_family = AF_UNIX;

  socket_address const address{reinterpret_cast<sockaddr const*>(&nameless), sizeof(sa_family_t)};

  BOOST_TEST(address.text() == "unix:");
  BOOST_TEST(address.is_private());
}

BOOST_AUTO_TEST_CASE(a_descriptor_that_is_not_a_socket_has_no_address) {
  BOOST_TEST(socket_address::local(-1).error().code() == errc::unavailable);
  BOOST_TEST(socket_address::peer(-1).error().code() == errc::unavailable);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::net
