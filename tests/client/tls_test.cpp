// Clients and the real coordinator over TLS, and what each reports about the other's certificate.
// §2.8.1 to §2.8.4; by §2.1 a refusal is reported at once and is no timeout.

#include "tests/certificates/authority.hpp"
#include "tests/client/two_clients.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace coxswain::test {
namespace {

using certificates::authority;
using certificates::content;

std::string const prefix{"spiffe://cluster/job/"};

// A coordinator for one task, and a client for it.
class tls_job {
 protected:
  tls_job() {
    with.core.num_tasks = 1;
    with.log = [this](core::event const& e) { log += e.text + "\n"; };
  }

  // `names` are those in a certificate; the prefix is what its owner requires of the other side.
  tls_options named(std::string const& names, std::string const& of_peer = "") {
    auto files = trusted.issue({"named", names});
    files.peer_uri_prefix = of_peer;
    return files;
  }

  // The outcome of a client, once the coordinator's log contains the text.
  status outcome(tls_options const& coordinator_shows, tls_options const& client_shows,
                 std::string const& host = "127.0.0.1", std::string const& logs = "") {
    with.tls = coordinator_shows;
    server::server coordinator{io, with};
    asio::co_spawn(io, coordinator.run(), asio::detached);
    auto address = coordinator.addresses().front();
    address.replace(0, address.rfind(':'), host);
    status end;
    auto const test = [&]() -> asio::awaitable<void> {
      client_options options{address, task_id{0}};
      options.tls = client_shows;
      end = co_await outcome_of(whole_life(std::move(options)));
      while (!logged(logs)) co_await asio::post(io, asio::use_awaitable);
    };
    run(io, test());
    return end;
  }

  static asio::awaitable<void> whole_life(client_options options) {
    client c = co_await client::connect(std::move(options));
    co_await c.join();
    co_await c.barrier("b", 60s);
    co_await c.leave();
  }

  [[nodiscard]] bool logged(std::string const& part) const { return contains(log, part); }

  asio::io_context io{1};
  server::options with;
  std::string log;
  authority trusted;
  authority other{"another authority"};
};

void refused(status const& end, std::string const& part) {
  BOOST_TEST(end.code() == errc::unauthenticated, end);
  BOOST_TEST(contains(end.message(), part), end);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(client_tls, tls_job)

BOOST_AUTO_TEST_CASE(good_client_and_prefix_is_accepted) {
  BOOST_TEST(outcome(named("URI:" + prefix + "coordinator", prefix),
                     named("URI:" + prefix + "worker", prefix)) == status{});
}

BOOST_AUTO_TEST_CASE(without_prefixes_any_certificate_of_the_authority_is_accepted) {
  BOOST_TEST(outcome(trusted.issue({}), trusted.issue({})) == status{});
}

BOOST_AUTO_TEST_CASE(server_rejects_wrong_ca_client_at_once_and_by_name) {
  auto foreign = other.issue({"foreign", "URI:" + prefix + "worker"});
  foreign.ca = trusted.file();

  refused(outcome(trusted.issue({}), foreign), "none of the authorities that it knows");
  BOOST_TEST(logged("was not let in: UNAUTHENTICATED"));
  BOOST_TEST(logged("CN = foreign"));
}

BOOST_AUTO_TEST_CASE(wrong_ca_client_is_rejected_with_a_prefix_too) {
  auto foreign = other.issue({"foreign", "URI:" + prefix + "worker"});
  foreign.ca = trusted.file();
  foreign.peer_uri_prefix = prefix;

  refused(outcome(named("URI:" + prefix + "coordinator", prefix), foreign),
          "none of the authorities that it knows");
}

BOOST_AUTO_TEST_CASE(a_coordinator_of_another_authority_is_rejected_by_the_client) {
  auto foreign = other.issue({"foreign"});
  foreign.ca = trusted.file();

  refused(outcome(foreign, trusted.issue({}), "127.0.0.1",
                  "The peer has refused the connection: none of the authorities that it knows"),
          "none of the authorities that this side knows has signed it (CN = foreign");
}

BOOST_AUTO_TEST_CASE(multi_san_leaf_matches_on_any_uri_san) {
  BOOST_TEST(outcome(named("URI:" + prefix + "coordinator", prefix),
                     named("URI:spiffe://cluster/other,URI:" + prefix + "worker", prefix)) ==
             status{});
}

BOOST_AUTO_TEST_CASE(zero_uri_san_leaf_is_rejected) {
  refused(outcome(named("URI:" + prefix + "coordinator", prefix), named("DNS:localhost", prefix)),
          "does not have the name");
  BOOST_TEST(
      logged("none of its URI names begins with '" + prefix + "'; its names: DNS:localhost"));
}

BOOST_AUTO_TEST_CASE(zero_uri_san_leaf_is_accepted_without_prefix) {
  BOOST_TEST(outcome(trusted.issue({}), named("DNS:localhost")) == status{});
}

BOOST_AUTO_TEST_CASE(hostname_verification_rejects_uri_san_only_server) {
  refused(outcome(named("URI:" + prefix + "coordinator"), trusted.issue({})),
          "it is not for '127.0.0.1'");
}

BOOST_AUTO_TEST_CASE(prefix_without_trailing_slash_is_rejected) {
  auto const good = trusted.issue({});
  auto const half = named("DNS:localhost", "spiffe://cluster/job");

  auto const at_client = outcome(good, half);
  BOOST_TEST(at_client.code() == errc::invalid_argument);
  BOOST_TEST(contains(at_client.message(), "must end with '/'"));
  BOOST_CHECK_EXCEPTION(static_cast<void>(outcome(half, good)), error, [](error const& e) {
    return e.code() == errc::invalid_argument && contains(e.what(), "must end with '/'");
  });
}

BOOST_AUTO_TEST_CASE(dns_san_server_dialed_by_name_is_accepted) {
  auto const by_name = named("DNS:localhost");

  BOOST_TEST(outcome(by_name, trusted.issue({}), "localhost") == status{});
  refused(outcome(by_name, trusted.issue({}), "127.0.0.1"), "its names: DNS:localhost");
}

BOOST_AUTO_TEST_CASE(a_missing_file_is_reported_before_connecting) {
  auto missing = trusted.issue({});
  missing.ca = "/no/such.pem";

  BOOST_TEST(outcome(trusted.issue({}), missing).code() == errc::not_found);
}

BOOST_AUTO_TEST_CASE(a_client_without_tls_learns_that_tls_is_required) {
  auto const end = outcome(trusted.issue({}), {});

  BOOST_TEST(end.code() == errc::failed_precondition);
  BOOST_TEST(contains(end.message(), "speaks only TLS"), end);
  BOOST_TEST(logged("does not speak TLS"));
}

BOOST_AUTO_TEST_CASE(a_tls_client_learns_that_the_coordinator_speaks_plaintext) {
  auto const end = outcome({}, trusted.issue({}));

  BOOST_TEST(end.code() == errc::failed_precondition);
  BOOST_TEST(contains(end.message(), "does not speak TLS"), end);
  BOOST_TEST(logged("speaks TLS; this port does not"));
}

BOOST_AUTO_TEST_CASE(unix_sockets_do_not_use_tls) {
  std::string const path = "unix:/tmp/coxswain-client-tls-" + std::to_string(::getpid());
  with.listen = {path};
  with.tls = trusted.issue({});
  server::server coordinator{io, with};
  asio::co_spawn(io, coordinator.run(), asio::detached);
  auto const test = [&]() -> asio::awaitable<void> {
    client_options options{path, task_id{0}};
    options.tls = with.tls;
    BOOST_TEST((co_await outcome_of(whole_life(std::move(options))) == status{}));
  };
  run(io, test());
}

// The new coordinator's certificate is from an authority unknown to the client when it started.
BOOST_AUTO_TEST_CASE(a_session_resumes_with_replaced_certificates) {
  with.tls = trusted.issue({});
  auto ours = trusted.issue({});
  server::server coordinator{io, with};
  asio::co_spawn(io, coordinator.run(), asio::detached);
  auto const test = [&]() -> asio::awaitable<void> {
    client_options options{coordinator.addresses().front(), task_id{0}};
    options.tls = ours;
    client c = co_await client::connect(options);
    co_await c.join();

    static_cast<void>(trusted.issue({"successor"}, &with.tls));
    static_cast<void>(trusted.issue({"worker of tomorrow"}, &ours));
    coordinator.reload_certificates();
    client again = co_await client::connect(options);

    co_await c.barrier("b", 60s);
    BOOST_TEST(logged("new certificate in use: CN = successor"));
  };
  run(io, test());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
