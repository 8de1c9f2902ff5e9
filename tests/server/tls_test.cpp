// The server side of TLS over real sockets: accepted peers, the errors of the others, and limits.

#include "coxswain/base/error.hpp"
#include "coxswain/net/tls_stream.hpp"
#include "tests/certificates/authority.hpp"
#include "tests/server/harness.hpp"

#include <boost/test/unit_test.hpp>

#include <deque>
#include <fstream>
#include <memory>
#include <string>

namespace coxswain::server {
namespace {

using certificates::authority;
using certificates::content;

// A TLS peer with the certificate given by the test.
class tls_client {
 public:
  tls_client(asio::io_context& io, std::string const& address, tls_options const& shown)
      : io_{io},
        by_{net::tls_context::side::client, shown},
        stream_{connect(address), by_, "localhost"} {}

  // True if the server's certificate is valid; with TLS 1.3 this does not show whether it accepted
  // ours.
  bool shake_hands() {
    auto now = net::tls_stream::step::wants_read;
    run_until(io_, [&] {
      now = stream_.handshake();
      return now == net::tls_stream::step::done || now == net::tls_stream::step::failed;
    });
    return now == net::tls_stream::step::done;
  }

  void send(std::string_view bytes) {
    iovec const piece{const_cast<char*>(bytes.data()), bytes.size()};
    BOOST_TEST(stream_.write_some({&piece, 1}).bytes == bytes.size());
  }

  wire::server_message next() {
    run_until(io_, [&] { return !reader_.empty() || read() || !reader_.empty(); });
    return reader_.take();
  }

  bool greet(std::string token = "") {
    if (!shake_hands()) return false;
    send(hello_frame(std::move(token)));
    return std::holds_alternative<boxed<core::hello_answer>>(next().what.value);
  }

  // The server's output before it closes the connection.
  status refusal() {
    if (stream_.problem().ok()) run_until(io_, [&] { return read(); });
    return stream_.problem();
  }

 private:
  static std::unique_ptr<net::byte_stream> connect(std::string const& address) {
    auto const where = net::endpoint::parse(address).value();
    auto const at = where.resolve(net::endpoint::purpose::connect).value().front();
    net::socket socket{::socket(at.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)};
    BOOST_TEST_REQUIRE(::connect(socket.value(), at.data(), at.size()) == 0, address);
    int on = 1;
    ::ioctl(socket.value(), FIONBIO, &on);
    return std::make_unique<net::socket_stream>(std::move(socket));
  }

  // True at the end of the stream.
  bool read() {
    std::array<char, 4096> buffer{};
    auto const got = stream_.read_some(buffer);
    if (got.bytes > 0) reader_.feed({buffer.data(), got.bytes});
    return got.how == net::transfer::outcome::eof || got.how == net::transfer::outcome::failed;
  }

  asio::io_context& io_;
  net::tls_context by_;
  net::tls_stream stream_;
  message_reader reader_;
};

struct tls_harness : harness {
  tls_harness() {
    o.tls = trusted.issue({"coordinator"});
    o.core.hello_timeout = 60s;
  }

  tls_client dial(tls_options const& shown) {
    if (!made) serve();
    return {io, made->addresses().at(0), shown};
  }

  authority trusted;
  tls_options worker{trusted.issue({"worker"})};
};

BOOST_FIXTURE_TEST_SUITE(server_tls, tls_harness)

BOOST_AUTO_TEST_CASE(a_job_works_over_tls) {
  auto first = dial(worker);
  auto second = dial(worker);
  BOOST_TEST_REQUIRE(first.greet());
  BOOST_TEST_REQUIRE(second.greet());
  first.send(join_frame(1, 0));
  second.send(join_frame(1, 1));
  BOOST_TEST(first.next().what.outcome.ok());
  BOOST_TEST(second.next().what.outcome.ok());

  first.send(barrier_frame(2, 0, "b") + put_frame(3, "k", std::string(200'000, 'v')));
  second.send(barrier_frame(2, 1, "b"));

  BOOST_TEST(second.next().what.outcome.ok());
  BOOST_TEST(first.next().what.outcome.ok());
  BOOST_TEST(first.next().what.outcome.ok());
  second.send(try_get_frame(3, "k"));
  auto const got = second.next();
  BOOST_TEST(std::get<core::value_answer>(got.what.value).value.view().size() == 200'000u);
  BOOST_TEST(logged("speaks TLS as CN = coordinator"));
  BOOST_TEST(logged("clients are asked for certificates"));
}

BOOST_AUTO_TEST_CASE(input_received_with_the_end_of_the_handshake_is_read) {
  auto client = dial(worker);
  BOOST_TEST_REQUIRE(client.shake_hands());  // complete before the server has read its last part
  client.send(hello_frame());

  BOOST_TEST(std::holds_alternative<boxed<core::hello_answer>>(client.next().what.value));
}

BOOST_AUTO_TEST_CASE(both_sides_learn_why_a_certificate_is_refused) {
  authority const other{"another authority"};
  auto foreign = other.issue({"foreign"});
  foreign.ca = trusted.file();
  content old{"old"};
  old.begins = std::chrono::hours{-2};
  old.ends = std::chrono::hours{-1};
  auto anonymous = worker;
  anonymous.cert = anonymous.key = "";

  struct expected {
    tls_options shown;
    char const* logged;
    char const* refusal;
  };
  for (auto const& one :
       {expected{foreign, "none of the authorities that this side knows has signed it",
                 "none of the authorities that it knows has signed this side's certificate"},
        expected{trusted.issue(old), "it has expired", "this side's certificate has expired"},
        expected{anonymous, "The peer has shown no certificate", "asks for a certificate"}}) {
    auto client = dial(one.shown);
    BOOST_TEST(client.shake_hands());
    auto const refusal = client.refusal();
    BOOST_TEST(refusal.code() == errc::unauthenticated);
    BOOST_TEST(contains(refusal.message(), one.refusal), refusal.message());
    until([&] { return logged(one.logged); });
  }

  BOOST_TEST(count("was not let in: UNAUTHENTICATED") == 3);
  BOOST_TEST(made->statistics().handshakes_failed == 3u);
  BOOST_TEST(made->statistics().connections_accepted == 0u);
  BOOST_TEST(dial(worker).greet());
}

BOOST_AUTO_TEST_CASE(a_client_that_refuses_the_server_is_logged) {
  authority const other{"another authority"};
  auto suspicious = worker;
  suspicious.ca = other.file();
  auto client = dial(suspicious);

  BOOST_TEST(!client.shake_hands());

  until([&] { return logged("none of the authorities that it knows has signed"); });
}

BOOST_AUTO_TEST_CASE(a_plain_http_request_gets_a_plain_http_reply) {
  for (std::string const method : {"GET", "POST", "HEAD", "PUT"}) {
    auto plain = connect();
    plain.send(method + " /metrics HTTP/1.1\r\nHost: b12\r\n\r\n");

    std::string answer;
    until([&] {
      std::array<char, 4096> buffer{};
      auto const got = ::recv(plain.socket(), buffer.data(), buffer.size(), 0);
      if (got > 0) answer.append(buffer.data(), static_cast<std::size_t>(got));
      return got == 0;
    });

    BOOST_TEST(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"));
    BOOST_TEST(contains(answer, "This is the port of a Coxswain coordinator"));
    BOOST_TEST(contains(answer, "--tls-ca"));
  }
}

BOOST_AUTO_TEST_CASE(an_endless_handshake_is_disconnected) {
  o.core.hello_timeout = 50ms;
  auto silent = connect();
  auto hesitant = connect();
  hesitant.send("\x16\x03\x01\x02");

  silent.expect_end();
  hesitant.expect_end();

  BOOST_TEST(count("no whole TLS handshake within 50 ms") == 2);
  BOOST_TEST(made->statistics().handshakes == 0u);
}

// The coordinator creates no state for them.
BOOST_AUTO_TEST_CASE(an_unfinished_handshake_is_not_counted_as_a_connection) {
  auto silent = connect();
  until([&] { return made->statistics().handshakes == 1; });

  BOOST_TEST(made->statistics().connections == 0u);
  BOOST_TEST(made->statistics().connections_accepted == 0u);
}

BOOST_AUTO_TEST_CASE(handshakes_count_against_the_connection_limit) {
  o.connections_max = 2;
  o.strangers_per_host_max = 2;
  auto silent = connect();
  auto also = connect();
  until([&] { return made->statistics().handshakes == 2; });

  connect().expect_end();  // silent: it waits for TLS

  BOOST_TEST(made->statistics().connections_refused == 1u);
}

BOOST_AUTO_TEST_CASE(handshakes_of_one_host_are_rate_limited) {
  o.handshakes_per_second_max = 20;
  auto const begun = std::chrono::steady_clock::now();

  for (int i = 0; i < 6; ++i) BOOST_TEST(dial(worker).greet());

  BOOST_TEST((std::chrono::steady_clock::now() - begun >= 200ms), "two at once, then one in 50 ms");
}

// Reset handshakes hold no descriptors and delay no one.
BOOST_AUTO_TEST_CASE(a_delayed_handshake_ends_when_its_peer_disconnects) {
  o.handshakes_per_second_max = 1;
  auto first = connect();
  auto second = connect();
  auto third = connect();
  auto fourth = connect();
  fourth.send("\x16\x03\x01\x02");
  until([&] { return made->statistics().handshakes == 4; });

  linger const none{1, 0};
  ::setsockopt(second.socket(), SOL_SOCKET, SO_LINGER, &none, sizeof(none));
  second.close();  // by a reset
  third.close();
  fourth.close();

  until([&] { return made->statistics().handshakes == 1; });
}

BOOST_AUTO_TEST_CASE(a_handshake_does_not_wait_for_disconnected_peers) {
  o.handshakes_per_second_max = 2;
  std::deque<raw_client> gone;
  for (int i = 0; i < 20; ++i) gone.push_back(connect());
  gone.clear();
  auto const begun = std::chrono::steady_clock::now();

  auto client = dial(worker);

  BOOST_TEST(client.greet());
  BOOST_TEST((std::chrono::steady_clock::now() - begun < 9s), "it waits half a second");
}

BOOST_AUTO_TEST_CASE(silent_handshakes_can_be_evicted_after_a_second) {
  o.connections_max = 4;
  auto first = connect();
  auto second = connect();
  until([&] { return made->statistics().handshakes == 2; });
  connect().expect_end();

  until([&] { return dial(worker).greet(); });

  first.expect_end();
}

BOOST_AUTO_TEST_CASE(many_concurrent_handshakes_complete) {
  serve();
  std::deque<tls_client> all;
  for (int i = 0; i < 60; ++i) all.emplace_back(io, made->addresses().at(0), worker);

  for (auto& one : all) BOOST_TEST(one.greet());

  BOOST_TEST(made->statistics().connections == 60u);
}

BOOST_AUTO_TEST_CASE(a_stop_does_not_wait_for_handshakes) {
  auto silent = connect();
  until([&] { return made->statistics().handshakes == 1; });

  made->stop("enough");

  until([&] { return run_ended; });
  silent.expect_reset_or_end();
}

BOOST_AUTO_TEST_CASE(a_server_can_be_destroyed_during_handshakes) {
  auto silent = connect();
  auto hesitant = connect();
  hesitant.send("\x16\x03\x01\x02");
  until([&] { return made->statistics().handshakes == 2; });

  made.reset();

  silent.expect_reset_or_end();
  hesitant.expect_reset_or_end();
}

BOOST_AUTO_TEST_CASE(the_certificate_files_are_checked_periodically) {
  o.tls.reload_period = 10ms;
  BOOST_TEST(dial(worker).greet());

  static_cast<void>(trusted.issue({"successor"}, &o.tls));

  until([&] { return logged("new certificate in use: CN = successor"); });
  BOOST_TEST(dial(worker).greet());
}

BOOST_AUTO_TEST_CASE(invalid_certificate_files_are_reported_and_ignored) {
  o.tls.reload_period = 10ms;
  BOOST_TEST(dial(worker).greet());
  std::ofstream{o.tls.cert, std::ios::trunc} << "half a certif";

  until([&] { return logged("certificates were not reloaded, the previous ones remain in use"); });

  BOOST_TEST(logged(o.tls.cert));
  BOOST_TEST(dial(worker).greet());
  BOOST_CHECK_THROW(made->reload_certificates(), error);
}

BOOST_AUTO_TEST_CASE(a_listener_with_client_certificates_may_be_public) {
  o.listen = {":0"};

  BOOST_CHECK_NO_THROW((server{io, o}));
}

BOOST_AUTO_TEST_CASE(a_tls_listener_without_client_certificates_needs_a_token) {
  o.listen = {":0"};
  o.tls.ca.clear();

  BOOST_CHECK_EXCEPTION((server{io, o}), error, [](error const& e) {
    return e.code() == errc::failed_precondition && contains(e.what(), "mutual TLS");
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::server
