// Misbehaving clients of the status page.

#include "tests/status/page_harness.hpp"

#include <boost/test/unit_test.hpp>

#include <deque>
#include <string>

namespace coxswain::status_page {
namespace {

BOOST_AUTO_TEST_SUITE(hostile_test)

BOOST_FIXTURE_TEST_CASE(a_non_http_connection_gets_an_error_and_is_closed, page_harness) {
  for (auto const* const bytes :
       {"\r\n\r\n\r\n", "GARBAGE\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
        "GET / HTTP/1.1\r\nHost\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "\x16\x03\x01 a client's hello \r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"}) {
    auto peer = visit();
    peer.send(bytes);
    auto const r = peer.next();
    BOOST_TEST(r.code == 400, bytes);
    BOOST_TEST(has(r.body, "\"code\":\"INVALID_ARGUMENT\""));
    peer.expect_end();
  }
}

BOOST_FIXTURE_TEST_CASE(a_coordinator_client_on_the_page_port_is_redirected, page_harness) {
  open();
  server::raw_client lost{io, shown->address()};

  lost.send(server::hello_frame());

  auto const given = lost.goodbye();
  BOOST_TEST(given.why.code() == errc::failed_precondition);
  BOOST_TEST(!given.may_resume);
  BOOST_TEST(
      given.why.message() ==
      "This is the port of the coordinator's status page, which speaks HTTP. The coordinator "
      "itself is at " +
          made->addresses().at(0) + ".");
  lost.expect_end();
}

BOOST_FIXTURE_TEST_CASE(a_path_that_is_not_utf8_is_refused, page_harness) {
  BOOST_TEST(get("/api/v1/keys/%ff").code == 400);
  BOOST_TEST(get("/api/v1/keys/%00").code == 400);
  BOOST_TEST(get("/barrier/%e2%82").code == 400);
}

BOOST_FIXTURE_TEST_CASE(a_foreign_host_is_refused_on_loopback_without_a_token, page_harness) {
  auto peer = visit();
  peer.send("GET /api/v1/state HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  auto const r = peer.next();
  BOOST_TEST(r.code == 421);
  BOOST_TEST(has(r.body, "'evil.example'"));
}

BOOST_FIXTURE_TEST_CASE(an_endless_header_is_disconnected, page_harness) {
  auto peer = visit();
  peer.send("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(20'000, 'x'));
  BOOST_TEST(peer.next().code == 431);
  peer.expect_end();
}

BOOST_FIXTURE_TEST_CASE(a_too_long_body_is_not_read, page_harness) {
  auto peer = visit();
  peer.send("POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n");
  BOOST_TEST(peer.next().code == 413);

  auto chunked = visit();
  chunked.send("POST /login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
  chunked.send("20000\r\n" + std::string(0x20000, 'x') + "\r\n0\r\n\r\n");
  BOOST_TEST(chunked.next().code == 413);
}

BOOST_FIXTURE_TEST_CASE(the_request_timeout_is_not_extended_by_further_bytes, page_harness) {
  page_options.request_timeout = 30ms;
  auto slow = visit();
  auto silent = visit();
  slow.send("GET /livez HTTP/1.1\r\n");

  BOOST_TEST(slow.next().code == 408);
  slow.expect_end();
  BOOST_TEST(silent.next().code == 408);
  silent.expect_end();
  until([&] { return shown->connections() == 0; });
}

BOOST_FIXTURE_TEST_CASE(an_idle_connection_is_closed, page_harness) {
  page_options.idle_timeout = 30ms;
  auto peer = visit();
  peer.send(page_harness::request("GET", "/livez"));
  BOOST_TEST(peer.next().code == 200);
  peer.expect_end();
}

BOOST_AUTO_TEST_CASE(a_peer_that_does_not_read_is_disconnected) {
  page_harness h{20'000};
  h.page_options.answer_timeout = 30ms;
  auto peer = h.visit();
  peer.read_little();
  h.until([&] { return h.shown->connections() == 1; });
  std::string many;
  for (int i = 0; i < 10; ++i) many += page_harness::request("GET", "/api/v1/state");
  peer.send(many);
  h.until([&] { return h.shown->connections() == 0; });
}

BOOST_FIXTURE_TEST_CASE(excess_connections_get_an_error, page_harness) {
  page_options.connections_max = 3;
  std::deque<http_peer> guests;
  for (int i = 0; i < 3; ++i) guests.push_back(visit());
  until([&] { return shown->connections() == 3; });

  auto one_more = visit();
  one_more.send(page_harness::request("GET", "/api/v1/state"));
  auto const r = one_more.next();
  BOOST_TEST(r.code == 503);
  BOOST_TEST(r.body ==
             "{\"code\":\"RESOURCE_EXHAUSTED\",\"message\":\"There are too many connections.\"}\n");
  one_more.expect_end();

  guests.pop_back();
  until([&] { return shown->connections() == 2; });
  BOOST_TEST(get("/api/v1/state").code == 200);
}

BOOST_FIXTURE_TEST_CASE(slow_clients_do_not_take_the_slots_of_probes, page_harness) {
  page_options.connections_max = 3;
  page_options.probe_connections_max = 2;
  std::deque<http_peer> guests;
  for (int i = 0; i < 20; ++i) {
    guests.push_back(visit());
    guests.back().send("GET /livez HTTP/1.1\r\n");  // and never the rest
  }
  guests.front().send("");
  until([&] { return shown->connections() == 5; });

  for (auto const* const probe : {"/livez", "/readyz", "/healthz?verbose"}) {
    auto peer = visit();
    peer.send(page_harness::request("GET", probe));
    BOOST_TEST(peer.next().code == 200, probe);
    peer.expect_end();
  }
  guests.back().expect_end();  // evicted by a later probe
}

BOOST_FIXTURE_TEST_CASE(unread_responses_do_not_accumulate, page_harness) {
  page_options.text_bytes_max = 1;
  BOOST_TEST(get("/api/v1/state").code == 200);  // nothing waited before it
  page_options.picture_age_max = 1h;             // the snapshot holds a text
  page_harness full;
  full.page_options = page_options;
  BOOST_TEST(full.get("/api/v1/state").code == 200);
  BOOST_TEST(full.get("/api/v1/state").code == 503);
  BOOST_TEST(full.get("/livez").code == 200);
}

BOOST_FIXTURE_TEST_CASE(an_incomplete_request_is_dropped, page_harness) {
  for (auto const* const bytes :
       {"", "G", "GET / HTTP/1.1\r\nHost: localhost\r\n",
        "POST /login HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{"}) {
    auto peer = visit();
    peer.send(bytes);
    peer.shut();
    peer.expect_end();
  }
  until([&] { return shown->connections() == 0; });
}

BOOST_FIXTURE_TEST_CASE(the_job_continues_during_hostile_requests, page_harness) {
  page_options.connections_max = 20;
  std::deque<http_peer> guests;
  for (int i = 0; i < 30; ++i) {
    guests.push_back(visit());
    guests.back().send(i % 2 == 0 ? "GET /api/v1/state HTTP/1.1\r\nHost: localhost\r\n\r\n" : "\n");
  }
  auto a = greeted();
  auto b = greeted();
  join(a, b);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::status_page
