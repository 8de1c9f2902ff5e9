#include "coxswain/net/tls_context.hpp"

#include "coxswain/base/error.hpp"
#include "tests/net/tls_pair.hpp"

#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <fstream>
#include <string>
#include <string_view>

namespace coxswain::net {
namespace {

using certificates::authority;
using side = tls_context::side;

auto refuses(errc code, std::string_view text) {
  return [code, text](error const& e) {
    BOOST_TEST(e.code() == code);
    BOOST_TEST(std::string_view{e.what()}.find(text) != std::string_view::npos, e.what());
    return true;
  };
}

#define REFUSED(which, options, code, text) \
  BOOST_CHECK_EXCEPTION((tls_context{which, options}), error, refuses(code, text))

void write(std::string const& file, std::string_view text) {
  std::ofstream{file, std::ios::trunc} << text;
}

struct fixture {
  authority trusted;
  tls_options good{trusted.issue({"coordinator"})};
};

BOOST_AUTO_TEST_SUITE(tls_context_test)

BOOST_FIXTURE_TEST_CASE(both_sides_accept_three_files, fixture) {
  tls_context const server{side::server, good};
  tls_context const client{side::client, good};

  BOOST_TEST(server.shown().starts_with("CN = coordinator, valid until "), server.shown());
}

BOOST_FIXTURE_TEST_CASE(a_server_needs_no_authorities_and_a_client_no_certificate, fixture) {
  auto server = good;
  server.ca.clear();
  tls_options client;
  client.ca = trusted.file();

  tls_context const one{side::server, server};
  tls_context const other{side::client, client};

  BOOST_TEST(other.shown() == "no certificate");
}

BOOST_FIXTURE_TEST_CASE(each_side_must_name_the_files_it_needs, fixture) {
  auto no_key = good;
  no_key.key.clear();
  auto no_certificate = good;
  no_certificate.cert.clear();
  auto only_authorities = no_key;
  only_authorities.cert.clear();
  auto no_authorities = good;
  no_authorities.ca.clear();

  for (auto const which : {side::server, side::client}) {
    REFUSED(which, no_key, errc::invalid_argument, "private key");
    REFUSED(which, no_certificate, errc::invalid_argument, "certificate");
  }
  REFUSED(side::server, only_authorities, errc::invalid_argument, "a server needs");
  REFUSED(side::client, no_authorities, errc::invalid_argument, "a client needs");
}

BOOST_FIXTURE_TEST_CASE(a_prefix_ends_with_a_slash_on_both_sides, fixture) {
  good.peer_uri_prefix = "spiffe://cluster/job";

  REFUSED(side::server, good, errc::invalid_argument, "must end with '/'");
  REFUSED(side::client, good, errc::invalid_argument, "must end with '/'");
  good.peer_uri_prefix += "/";
  tls_context const server{side::server, good};
}

BOOST_FIXTURE_TEST_CASE(a_prefix_needs_authorities, fixture) {
  good.ca.clear();
  good.peer_uri_prefix = "spiffe://cluster/job/";

  REFUSED(side::server, good, errc::invalid_argument, "authorities");
}

BOOST_FIXTURE_TEST_CASE(an_unreadable_file_is_named_with_the_system_error, fixture) {
  for (auto const file : {&tls_options::cert, &tls_options::key, &tls_options::ca}) {
    auto missing = good;
    missing.*file = "/no/such.pem";
    auto directory = good;
    directory.*file = "/";

    REFUSED(side::server, missing, errc::not_found, "/no/such.pem");
    REFUSED(side::server, directory, errc::unavailable, "Is a directory");
  }
}

BOOST_FIXTURE_TEST_CASE(a_file_with_wrong_content_is_named, fixture) {
  auto const text = good.cert + ".txt";
  write(text, "no PEM\n");
  auto const empty = text + ".empty";
  write(empty, "");
  for (auto const file : {&tls_options::cert, &tls_options::key, &tls_options::ca}) {
    auto wrong = good;
    wrong.*file = text;
    auto nothing = good;
    nothing.*file = empty;

    REFUSED(side::server, wrong, errc::invalid_argument, text);
    REFUSED(side::server, nothing, errc::invalid_argument, "is empty");
  }
}

BOOST_FIXTURE_TEST_CASE(a_key_must_match_its_certificate, fixture) {
  good.key = trusted.issue({"another"}).key;

  REFUSED(side::server, good, errc::invalid_argument, "does not belong to the certificate");
}

BOOST_FIXTURE_TEST_CASE(new_connections_present_the_reloaded_certificate, fixture) {
  tls_pair before{good, good};
  BOOST_TEST_REQUIRE(before.shake_hands());
  BOOST_TEST(!before.server_context.reload());

  static_cast<void>(trusted.issue({"successor"}, &good));

  BOOST_TEST(before.server_context.reload());
  BOOST_TEST(before.server_context.shown().starts_with("CN = successor"));
  auto ends = unix_pair();
  tls_stream here{plain(std::move(ends.first)), before.server_context};
  tls_stream there{plain(std::move(ends.second)), before.client_context, "localhost"};
  static_cast<void>(there.handshake());
  static_cast<void>(here.handshake());
  BOOST_TEST((there.handshake() == tls_stream::step::done));
}

BOOST_FIXTURE_TEST_CASE(a_failed_reload_changes_nothing, fixture) {
  tls_context server{side::server, good};
  write(good.cert, "half a certif");

  BOOST_CHECK_EXCEPTION(server.reload(), error, refuses(errc::invalid_argument, good.cert));

  BOOST_TEST(server.shown().starts_with("CN = coordinator"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::net
