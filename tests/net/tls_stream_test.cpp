#include "coxswain/net/tls_stream.hpp"

#include "tests/net/tls_pair.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::net {
namespace {

using certificates::authority;
using certificates::content;
using outcome = transfer::outcome;
using namespace std::string_view_literals;

iovec piece(std::string_view text) { return {const_cast<char*>(text.data()), text.size()}; }

void write(byte_stream& to, std::string_view text) {
  std::array const whole{piece(text)};
  BOOST_TEST(to.write_some(whole).bytes == text.size());
}

std::string read(byte_stream& from, std::size_t room = 1024) {
  std::vector<char> buffer(room);
  auto const got = from.read_some(buffer);
  return {buffer.data(), got.bytes};
}

outcome read_outcome(byte_stream& from) {
  std::array<char, 16> buffer{};
  return from.read_some(buffer).how;
}

bool says(status const& problem, std::string_view text) {
  return problem.message().find(text) != std::string::npos;
}

// Transfers one byte at a time, like a slow network.
class trickle final : public byte_stream {
 public:
  explicit trickle(std::unique_ptr<byte_stream> below) : below_{std::move(below)} {}

  transfer read_some(std::span<char> into) noexcept override {
    return below_->read_some(into.first(1));
  }
  transfer write_some(std::span<iovec const> pieces) noexcept override {
    iovec const first{pieces.front().iov_base, 1};
    return below_->write_some({&first, 1});
  }
  void shut_write() noexcept override { below_->shut_write(); }
  std::size_t unread_by_peer() const noexcept override { return below_->unread_by_peer(); }
  int native_handle() const noexcept override { return below_->native_handle(); }

 private:
  std::unique_ptr<byte_stream> below_;
};

// One authority, and a certificate of it for each side.
struct fixture {
  authority trusted;
  tls_options server{trusted.issue({"coordinator"})};
  tls_options client{trusted.issue({"worker"})};
};

struct connected : fixture {
  connected() { BOOST_TEST_REQUIRE(pair.shake_hands()); }

  tls_pair pair{server, client};
};

BOOST_AUTO_TEST_SUITE(tls_stream_test)

BOOST_FIXTURE_TEST_CASE(data_is_read_in_the_order_written, connected) {
  std::array const three{piece("one "), piece(""), piece("two "), piece("three")};

  BOOST_TEST(pair.there.write_some(three).bytes == 13u);
  write(pair.there, "!");
  write(pair.here, "back");

  BOOST_TEST(read(pair.here) == "one two three!");
  BOOST_TEST(read(pair.there) == "back");
  BOOST_TEST((read_outcome(pair.here) == outcome::would_block));
}

BOOST_FIXTURE_TEST_CASE(nothing_is_readable_on_the_wire, fixture) {
  auto ends = unix_pair();
  auto tap = unix_pair();
  tls_context by{tls_context::side::client, client};
  tls_stream speaker{plain(std::move(ends.first)), by, "localhost"};
  static_cast<void>(speaker.handshake());
  socket_stream line{std::move(ends.second)};

  auto const seen = read(line, 65536);

  BOOST_TEST(seen.substr(0, 2) == "\x16\x03");
  BOOST_TEST(seen.find("localhost") != std::string::npos);  // the requested name is in clear text
  BOOST_TEST(seen.find("worker") == std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(a_full_buffer_can_leave_unread_data, connected) {
  write(pair.there, "12345");

  BOOST_TEST(read(pair.here, 3) == "123");
  BOOST_TEST(read(pair.here, 3) == "45");
  BOOST_TEST((read_outcome(pair.here) == outcome::would_block));
}

BOOST_FIXTURE_TEST_CASE(a_full_socket_blocks_and_everything_arrives, connected) {
  std::string block(3 << 20, '\0');
  for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<char>(i * 7919 >> 8);
  std::vector<char> buffer(100'000);
  std::string got;
  std::size_t written = 0;
  bool was_full = false;

  while (got.size() < block.size()) {
    std::array const rest{piece(std::string_view{block}.substr(written))};
    if (written < block.size()) {
      auto const went = pair.there.write_some(rest);
      BOOST_TEST_REQUIRE((went.how != outcome::failed));
      written += went.bytes;
      was_full = was_full || went.how == outcome::would_block;
    }
    if (!was_full && written < block.size()) continue;
    auto const more = pair.here.read_some(buffer);
    BOOST_TEST_REQUIRE((more.how == outcome::done || more.how == outcome::would_block));
    got.append(buffer.data(), more.bytes);
  }

  BOOST_TEST(was_full);
  BOOST_TEST((got == block));
}

BOOST_FIXTURE_TEST_CASE(records_can_arrive_byte_by_byte, fixture) {
  tls_context by_server{tls_context::side::server, server};
  tls_context by_client{tls_context::side::client, client};
  auto ends = unix_pair();
  tls_stream here{std::make_unique<trickle>(plain(std::move(ends.first))), by_server};
  tls_stream there{std::make_unique<trickle>(plain(std::move(ends.second))), by_client,
                   "localhost"};
  auto at_here = tls_stream::step::wants_read;
  auto at_there = tls_stream::step::wants_read;
  while (at_here != tls_stream::step::done || at_there != tls_stream::step::done) {
    if (at_there != tls_stream::step::done) at_there = there.handshake();
    if (at_here != tls_stream::step::done) at_here = here.handshake();
    BOOST_TEST_REQUIRE((at_here != tls_stream::step::failed));
    BOOST_TEST_REQUIRE((at_there != tls_stream::step::failed));
  }

  write(there, "slowly");
  std::string got;
  while (got.size() < 6) got += read(here);

  BOOST_TEST(got == "slowly");
}

BOOST_FIXTURE_TEST_CASE(shut_write_is_eof_to_the_peer_and_reading_continues, connected) {
  write(pair.here, "last");
  pair.here.shut_write();

  BOOST_TEST(read(pair.there) == "last");
  BOOST_TEST((read_outcome(pair.there) == outcome::eof));
  write(pair.there, "heard");
  BOOST_TEST(read(pair.here) == "heard");
}

// There is no further edge for an end that arrives with the last bytes.
BOOST_FIXTURE_TEST_CASE(an_end_received_with_data_hangs_up_the_socket, connected) {
  write(pair.here, "last");
  pair.here.shut_write();
  BOOST_TEST(read(pair.there) == "last");

  wait_for_hang_up(pair.there.native_handle());
}

BOOST_FIXTURE_TEST_CASE(modified_data_breaks_the_stream, connected) {
  write(pair.there, "secret");
  std::array<char, 256> record{};
  auto const got = pair.here.below().read_some(record);
  record[got.bytes - 1] = static_cast<char>(record[got.bytes - 1] ^ 1);
  auto ends = unix_pair();
  std::array const forged{piece({record.data(), got.bytes})};
  BOOST_TEST(pair.there.below().write_some(forged).bytes == got.bytes);

  BOOST_TEST((read_outcome(pair.here) == outcome::failed));
  BOOST_TEST(!pair.here.problem().ok());
}

BOOST_FIXTURE_TEST_CASE(a_broken_socket_is_an_error_and_no_signal, connected) {
  pair.there.shut_write();
  static_cast<void>(::shutdown(pair.here.native_handle(), SHUT_RDWR));
  std::array const more{piece("x")};

  auto const sent = pair.here.write_some(more);

  BOOST_TEST((sent.how == outcome::failed));
  BOOST_TEST(sent.error == boost::system::errc::broken_pipe);
}

// A client gets the server's rejection by its first read.
void client_is_refused(tls_pair& pair, std::string_view why_here, std::string_view why_there) {
  BOOST_TEST(!pair.shake_hands());
  BOOST_TEST(says(pair.here.problem(), why_here), pair.here.problem());
  BOOST_TEST(pair.here.problem().code() == errc::unauthenticated);
  BOOST_TEST((read_outcome(pair.there) == outcome::failed));
  BOOST_TEST(says(pair.there.problem(), why_there), pair.there.problem());
  BOOST_TEST(pair.there.problem().code() == errc::unauthenticated);
}

void server_is_refused(tls_pair& pair, std::string_view why_here, std::string_view why_there) {
  BOOST_TEST(!pair.shake_hands());
  BOOST_TEST(says(pair.there.problem(), why_there), pair.there.problem());
  BOOST_TEST(pair.there.problem().code() == errc::unauthenticated);
  BOOST_TEST(says(pair.here.problem(), why_here), pair.here.problem());
  BOOST_TEST(pair.here.problem().code() == errc::unauthenticated);
}

// Its signature distinguishes them.
BOOST_FIXTURE_TEST_CASE(another_authority_of_the_same_name_is_not_trusted, fixture) {
  authority const other;
  auto foreign = other.issue({"foreign"});
  foreign.ca = trusted.file();
  tls_pair pair{server, foreign};

  client_is_refused(pair, "none of the authorities that this side knows has signed it",
                    "none of the authorities that it knows has signed this side's certificate");
}

BOOST_FIXTURE_TEST_CASE(a_client_without_certificate_is_refused_by_a_server_that_requires_one,
                        fixture) {
  client.cert.clear();
  client.key.clear();
  tls_pair pair{server, client};

  client_is_refused(pair, "has shown no certificate", "asks for a certificate");
}

BOOST_FIXTURE_TEST_CASE(a_server_that_requires_no_certificate_accepts_clients_without_one,
                        fixture) {
  server.ca.clear();
  client.cert.clear();
  client.key.clear();
  tls_pair pair{server, client};

  BOOST_TEST(pair.shake_hands());
}

BOOST_FIXTURE_TEST_CASE(expired_certificates_are_refused_on_both_sides, fixture) {
  content old{"old"};
  old.begins = std::chrono::hours{-48};
  old.ends = std::chrono::hours{-24};
  tls_pair worker{server, trusted.issue(old)};
  tls_pair coordinator{trusted.issue(old), client};

  client_is_refused(worker, "has expired", "this side's certificate has expired");
  server_is_refused(coordinator, "this side's certificate has expired", "has expired");
}

BOOST_FIXTURE_TEST_CASE(a_certificate_that_is_not_yet_valid_is_refused, fixture) {
  content early{"early"};
  early.begins = std::chrono::hours{24};
  early.ends = std::chrono::hours{48};
  tls_pair pair{server, trusted.issue(early)};

  client_is_refused(pair, "is not valid yet", "this side's certificate");
}

BOOST_FIXTURE_TEST_CASE(the_servers_certificate_must_have_the_name_of_its_address, fixture) {
  auto const by_name = trusted.issue({"named", "DNS:localhost"});
  tls_pair right{by_name, client, "localhost"};
  tls_pair other{by_name, client, "example.com"};
  tls_pair number{by_name, client, "127.0.0.1"};
  tls_pair numbered{server, client, "127.0.0.1"};

  BOOST_TEST(right.shake_hands());
  BOOST_TEST(numbered.shake_hands());
  server_is_refused(number, "does not have the name", "it is not for '127.0.0.1'");
  server_is_refused(other, "does not have the name", "its names: DNS:localhost");
}

struct with_prefix : fixture {
  with_prefix() {
    server.peer_uri_prefix = prefix;
    client.peer_uri_prefix = prefix;
  }
  tls_options named(std::string const& names) const {
    auto files = trusted.issue({"named", names});
    files.peer_uri_prefix = prefix;
    return files;
  }

  std::string const prefix{"spiffe://cluster/job/"};
  tls_options good_server{named("URI:spiffe://cluster/job/coordinator")};
};

BOOST_FIXTURE_TEST_CASE(another_uri_is_refused, with_prefix) {
  tls_pair elsewhere{good_server, named("URI:spiffe://cluster/jobs/worker")};
  tls_pair dns_only{good_server, named("DNS:localhost")};
  tls_pair nothing{good_server, named("")};

  client_is_refused(elsewhere, "begins with 'spiffe://cluster/job/'", "does not have the name");
  client_is_refused(dns_only, "its names: DNS:localhost", "does not have the name");
  client_is_refused(nothing, "its names: none", "does not have the name");
}

BOOST_FIXTURE_TEST_CASE(a_server_with_another_uri_is_refused_though_its_host_name_matches,
                        with_prefix) {
  tls_pair pair{named("DNS:localhost"), named("URI:spiffe://cluster/job/worker")};

  server_is_refused(pair, "does not have the name", "begins with 'spiffe://cluster/job/'");
}

BOOST_FIXTURE_TEST_CASE(a_dns_name_that_looks_like_the_uri_does_not_match, with_prefix) {
  server.peer_uri_prefix = "localhost/";
  tls_pair pair{server, trusted.issue({"named", "DNS:localhost/"})};

  BOOST_TEST(!pair.shake_hands());
}

BOOST_FIXTURE_TEST_CASE(a_peer_that_leaves_during_a_handshake_can_reconnect, fixture) {
  tls_context by{tls_context::side::client, client};
  auto ends = unix_pair();
  tls_stream there{plain(std::move(ends.first)), by, "localhost"};
  BOOST_TEST((there.handshake() == tls_stream::step::wants_read));
  ::shutdown(ends.second.value(), SHUT_RDWR);

  BOOST_TEST((there.handshake() == tls_stream::step::failed));
  BOOST_TEST(there.problem().code() == errc::unavailable);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::net
