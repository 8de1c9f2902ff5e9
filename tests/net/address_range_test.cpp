#include "coxswain/net/address_range.hpp"

#include "coxswain/base/error.hpp"

#include <boost/test/unit_test.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <string>
#include <string_view>
#include <vector>

namespace coxswain::net {
namespace {

using namespace std::string_view_literals;

// What accept reports for such a peer: of an IPv4 socket, or of an IPv6 one.
socket_address peer(std::string const& number) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(1234);
  if (::inet_pton(AF_INET, number.c_str(), &v4.sin_addr) == 1) {
    return {reinterpret_cast<sockaddr const*>(&v4), sizeof(v4)};
  }
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(1234);
  BOOST_TEST_REQUIRE(::inet_pton(AF_INET6, number.c_str(), &v6.sin6_addr) == 1);
  return {reinterpret_cast<sockaddr const*>(&v6), sizeof(v6)};
}

bool contains(std::string_view range, std::string const& number) {
  return address_range::parse(range).value().contains(peer(number));
}

BOOST_AUTO_TEST_SUITE(address_range_test)

BOOST_AUTO_TEST_CASE(v4_ranges_end_at_their_boundary) {
  BOOST_TEST(contains("10.0.0.0/8", "10.0.0.0"));
  BOOST_TEST(contains("10.0.0.0/8", "10.255.255.255"));
  BOOST_TEST(!contains("10.0.0.0/8", "9.255.255.255"));
  BOOST_TEST(!contains("10.0.0.0/8", "11.0.0.0"));
}

BOOST_AUTO_TEST_CASE(ranges_may_end_within_a_byte) {
  BOOST_TEST(contains("172.16.0.0/12", "172.16.0.0"));
  BOOST_TEST(contains("172.16.0.0/12", "172.31.255.255"));
  BOOST_TEST(!contains("172.16.0.0/12", "172.15.255.255"));
  BOOST_TEST(!contains("172.16.0.0/12", "172.32.0.0"));
  BOOST_TEST(contains("192.0.2.4/31", "192.0.2.5"));
  BOOST_TEST(!contains("192.0.2.4/31", "192.0.2.6"));
  BOOST_TEST(contains("fe80::/10", "febf::1"));
  BOOST_TEST(!contains("fe80::/10", "fec0::1"));
}

BOOST_AUTO_TEST_CASE(a_single_address_is_a_range) {
  for (auto const range : {"192.0.2.1", "192.0.2.1/32"}) {
    BOOST_TEST(contains(range, "192.0.2.1"));
    BOOST_TEST(!contains(range, "192.0.2.0"));
    BOOST_TEST(!contains(range, "192.0.2.2"));
  }
  for (auto const range : {"fd00::1", "fd00::1/128"}) {
    BOOST_TEST(contains(range, "fd00::1"));
    BOOST_TEST(!contains(range, "fd00::"));
    BOOST_TEST(!contains(range, "fd00::2"));
  }
}

BOOST_AUTO_TEST_CASE(bits_of_the_host_do_not_matter) {
  BOOST_TEST(contains("10.1.2.3/8", "10.200.0.1"));
  BOOST_TEST(contains("fd00::dead:beef/8", "fdff::1"));
}

BOOST_AUTO_TEST_CASE(v6_ranges) {
  BOOST_TEST(contains("fd00::/8", "fd12:3456::1"));
  BOOST_TEST(contains("2001:db8:1::/48", "2001:db8:1:ffff::1"));
  BOOST_TEST(!contains("2001:db8:1::/48", "2001:db8:2::1"));
  BOOST_TEST(!contains("fd00::/8", "10.0.0.1"));
}

BOOST_AUTO_TEST_CASE(no_bits_are_all_addresses_of_the_family) {
  BOOST_TEST(contains("0.0.0.0/0", "255.255.255.255"));
  BOOST_TEST(!contains("0.0.0.0/0", "::1"));
  BOOST_TEST(contains("::/0", "ffff::1"));
  BOOST_TEST(!contains("::/0", "10.0.0.1"));
}

BOOST_AUTO_TEST_CASE(v4_peers_of_a_v6_socket_are_v4) {
  BOOST_TEST(contains("10.0.0.0/8", "::ffff:10.1.2.3"));
  BOOST_TEST(!contains("10.0.0.0/8", "::ffff:11.1.2.3"));
  BOOST_TEST(!contains("10.0.0.0/8", "::10.1.2.3"));
  for (auto const range : {"::/0", "::/80", "::ffff:0:0/95"}) {
    BOOST_TEST(!contains(range, "::ffff:10.1.2.3"), range);
  }
}

BOOST_AUTO_TEST_CASE(mapped_ranges_are_v4) {
  BOOST_TEST(contains("::ffff:10.0.0.0/104", "10.1.2.3"));
  BOOST_TEST(!contains("::ffff:10.0.0.0/104", "11.1.2.3"));
  BOOST_TEST(contains("::ffff:0:0/96", "192.0.2.1"));
}

BOOST_AUTO_TEST_CASE(unix_sockets_are_in_no_range) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  socket_address const unix_peer{reinterpret_cast<sockaddr const*>(&name), sizeof(sa_family_t)};

  for (auto const range : {"0.0.0.0/0", "::/0"}) {
    BOOST_TEST(!address_range::parse(range).value().contains(unix_peer));
  }
}

BOOST_AUTO_TEST_CASE(anything_else_is_refused_with_what_is_expected) {
  std::vector<std::string_view> const wrong{""sv,
                                            "/"sv,
                                            "/8"sv,
                                            "host"sv,
                                            "10.0.0"sv,
                                            "10.0.0.256"sv,
                                            "10.0.0.0/"sv,
                                            "10.0.0.0/33"sv,
                                            "10.0.0.0/-1"sv,
                                            "10.0.0.0/+8"sv,
                                            "10.0.0.0/ 8"sv,
                                            "10.0.0.0/8 "sv,
                                            " 10.0.0.0/8"sv,
                                            "10.0.0.0/8/8"sv,
                                            "10.0.0.0/0x8"sv,
                                            "10.0.0.0/4294967304"sv,
                                            "10.0.0.0/99999999999999999999"sv,
                                            "10.0.0.1:80"sv,
                                            "fd00::/129"sv,
                                            "fd00:::/8"sv,
                                            "[fd00::]/8"sv,
                                            "fe80::1%eth0"sv,
                                            "fd00::"
                                            "\0"sv,
                                            "10.0.0.1\0.2"sv,
                                            "10.0.0.0/8\0"sv};
  for (auto const text : wrong) {
    auto const parsed = address_range::parse(text);
    BOOST_TEST(!parsed, "accepted: " << text);
    if (parsed) continue;
    BOOST_TEST(parsed.error().code() == errc::invalid_argument);
    BOOST_TEST(parsed.error().message().find("expected one such as 10.0.0.0/8") !=
               std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(a_long_text_is_quoted_in_part) {
  auto const parsed = address_range::parse(std::string(1'000'000, '1'));

  BOOST_TEST(parsed.error().message().size() < 400u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::net
