// The status page over real sockets, with well-behaved peers.

#include "coxswain/base/error.hpp"
#include "coxswain/server/recording/replay.hpp"
#include "tests/status/page_harness.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace coxswain::status_page {
namespace {

using server::barrier_frame;
using server::join_frame;
using server::put_frame;

std::string bearer(std::string const& token) { return "Authorization: Bearer " + token + "\r\n"; }

BOOST_AUTO_TEST_SUITE(page_test)

BOOST_FIXTURE_TEST_CASE(probes_report_liveness_and_readiness, page_harness) {
  for (auto const* const path : {"/livez", "/readyz", "/healthz"}) {
    auto const r = get(path);
    BOOST_TEST(r.code == 200);
    BOOST_TEST(r.body == "ok\n");
    BOOST_TEST(has(r.head, "Content-Type: text/plain"));
  }
  auto const all = get("/healthz?verbose");
  BOOST_TEST(has(all.body,
                 "[+]loop ok\n[+]listeners ok\n[+]not stopping ok\n[+]journal ok\n"
                 "[+]job '"));
  BOOST_TEST(has(all.body, "Nothing has joined 0 s after the start\n"));
  BOOST_TEST(has(all.body, "healthz check passed\n"));
}

BOOST_FIXTURE_TEST_CASE(a_stopping_coordinator_is_alive_but_not_ready, page_harness) {
  auto const client = greeted();  // whose goodbye lingers
  open();
  made->stop("test");

  BOOST_TEST(get("/livez").code == 200);
  BOOST_TEST(get("/readyz").code == 503);
  auto const all = get("/healthz?verbose");
  BOOST_TEST(all.code == 503);
  BOOST_TEST(has(all.body, "[-]listeners failed"));
}

BOOST_FIXTURE_TEST_CASE(the_page_at_the_root_has_a_strict_content_policy, page_harness) {
  auto const r = get("/");
  BOOST_TEST(r.code == 200);
  BOOST_TEST(has(r.head, "Content-Type: text/html; charset=utf-8\r\n"));
  BOOST_TEST(has(r.head, "Content-Security-Policy: default-src 'none'; script-src 'sha256-"));
  BOOST_TEST(r.body.starts_with("<!doctype html>"));
  BOOST_TEST(get("/page").code == 404);
}

BOOST_FIXTURE_TEST_CASE(the_job_is_shown_as_json, page_harness) {
  page_options.picture_age_max = 0ms;
  auto task = greeted();
  task.send(join_frame(1, 0));
  task.send(put_frame(2, "a/b", "12345"));
  task.next();

  auto const state = get("/api/v1/state");
  BOOST_TEST(state.code == 200);
  BOOST_TEST(has(state.head, "Content-Type: application/json"));
  BOOST_TEST(has(state.head, "Cache-Control: no-store"));
  BOOST_TEST(has(state.body, "\"num_tasks\":2"));
  BOOST_TEST(has(get("/api/v1/tasks").body, "\"task\":1"));
  BOOST_TEST(has(get("/api/v1/tasks?state=joining").body, "\"task\":0"));
  BOOST_TEST(get("/api/v1/tasks?state=failed").body == "{\"tasks\":[]}\n");
  BOOST_TEST(has(get("/api/v1/tasks?state=never_connected").body, "\"task\":1"));
  BOOST_TEST(get("/api/v1/tasks?state=lazy").code == 400);
  BOOST_TEST(has(get("/api/v1/tasks/1").body, "\"state\":\"never connected\""));
  BOOST_TEST(get("/api/v1/tasks/2").code == 404);
  BOOST_TEST(get("/api/v1/tasks/x").code == 404);
  BOOST_TEST(has(get("/api/v1/barriers").body, "\"kind\":\"join\""));
  BOOST_TEST(has(get("/api/v1/why").body, "\"stuck\":null"));
}

BOOST_FIXTURE_TEST_CASE(prometheus_metrics_are_served, page_harness) {
  auto const r = get("/metrics");
  BOOST_TEST(r.code == 200);
  BOOST_TEST(has(r.head, "Content-Type: text/plain; version=0.0.4"));
  BOOST_TEST(has(r.body, "coxswain_tasks{"));
}

BOOST_FIXTURE_TEST_CASE(keys_are_listed_and_values_shown_on_request, page_harness) {
  auto client = greeted();
  client.send(put_frame(1, "a/b", "12345"));
  client.send(put_frame(2, "a/c d", std::string{"\xff", 1}));
  client.next();
  client.next();

  BOOST_TEST(get("/api/v1/keys").body ==
             "{\"keys\":[{\"key\":\"a/b\",\"version\":1,\"bytes\":5},"
             "{\"key\":\"a/c d\",\"version\":2,\"bytes\":1}],\"version\":2,\"more\":false}\n");
  BOOST_TEST(has(get("/api/v1/keys?limit=1").body, "\"more\":true"));
  BOOST_TEST(has(get("/api/v1/keys?after=a/b").body, "[{\"key\":\"a/c d\""));
  BOOST_TEST(has(get("/api/v1/keys?prefix=b").body, "\"keys\":[]"));
  BOOST_TEST(has(get("/api/v1/keys?values=1").body, "\"value_hex\":\"ff\""));
  BOOST_TEST(has(get("/api/v1/keys/a/b").body, "\"value\":\"12345\""));
  BOOST_TEST(has(get("/api/v1/keys/a%2Fc%20d").body, "\"value_hex\":\"ff\""));
  BOOST_TEST(get("/api/v1/keys/a").code == 404);
  BOOST_TEST(get("/api/v1/keys?limit=10001").code == 400);
}

BOOST_FIXTURE_TEST_CASE(a_value_too_long_for_a_page_is_omitted, page_harness) {
  auto client = greeted();
  client.send(put_frame(1, "long", std::string(1024 * 1024 + 1, 'x')));
  client.next();

  auto const one = get("/api/v1/keys/long");

  BOOST_TEST(has(one.body, "\"bytes\":1048577,\"value\":null,\"value_too_long\":true"));
}

BOOST_FIXTURE_TEST_CASE(events_are_listed_from_a_number_on, page_harness) {
  auto client = greeted();
  client.send(join_frame(1, 0));
  until([&] { return made->look().tasks[0].state == task_state::joining; });

  auto const all = get("/api/v1/events");
  BOOST_TEST(all.code == 200);
  BOOST_TEST(has(all.body, "\"through\":"));
  BOOST_TEST(get("/api/v1/events?after=99").code == 400);
  BOOST_TEST(get("/api/v1/events?severity=loud").code == 400);
  BOOST_TEST(has(get("/api/v1/events?after=0&severity=error").body, "\"events\":["));
}

BOOST_FIXTURE_TEST_CASE(a_barrier_returns_503_with_the_missing_tasks_until_passed, page_harness) {
  auto a = greeted();
  auto b = greeted();
  join(a, b);
  auto const before = get("/barrier/start up");
  BOOST_TEST(before.code == 400);  // a space is no part of an address
  BOOST_TEST(get("/barrier/start%20up").code == 503);

  a.send(barrier_frame(2, 0, "start up"));
  until([&] { return made->look().barriers.size() == 1; });
  auto const open = get("/barrier/start%20up");
  BOOST_TEST(open.code == 503);
  BOOST_TEST(has(open.body, "1 of 2 tasks is missing: 1 (connected"));

  b.send(barrier_frame(2, 1, "start up"));
  b.next();
  auto const passed = get("/barrier/start%20up");
  BOOST_TEST(passed.code == 200);
  BOOST_TEST(passed.body == "barrier 'start up' was passed: round 1\n");
}

BOOST_FIXTURE_TEST_CASE(a_head_request_returns_no_body, page_harness) {
  auto const whole = get("/api/v1/why");
  auto const head = ask("HEAD", "/api/v1/why");
  BOOST_TEST(head.code == 200);
  BOOST_TEST(head.body.empty());
  BOOST_TEST(has(head.head, "Content-Length: " + std::to_string(whole.body.size())));
}

BOOST_FIXTURE_TEST_CASE(an_unknown_path_lists_the_known_ones, page_harness) {
  auto const r = get("/api/v2/state");
  BOOST_TEST(r.code == 404);
  for (auto const* const path : {"\"code\":\"NOT_FOUND\"", "'/api/v2/state'", "/api/v1/tasks/NAME",
                                 "POST /api/v1/stop", "/livez"}) {
    BOOST_TEST(has(r.body, path), path);
  }
  BOOST_TEST(get("/barrier/").code == 404);
}

BOOST_FIXTURE_TEST_CASE(other_methods_get_the_allowed_ones, page_harness) {
  auto const r = ask("DELETE", "/api/v1/state");
  BOOST_TEST(r.code == 405);
  BOOST_TEST(has(r.head, "Allow: GET, HEAD\r\n"));
  auto const looked = get("/api/v1/stop");
  BOOST_TEST(looked.code == 405);
  BOOST_TEST(has(looked.head, "Allow: POST\r\n"));
}

BOOST_FIXTURE_TEST_CASE(one_connection_serves_sequential_and_pipelined_requests, page_harness) {
  auto peer = visit();
  peer.send(page_harness::request("GET", "/livez") + page_harness::request("GET", "/nothing") +
            page_harness::request("POST", "/login", "Content-Type: application/json\r\n",
                                  R"({"token":"x"})"));
  BOOST_TEST(peer.next().code == 200);
  BOOST_TEST(peer.next().code == 404);
  BOOST_TEST(peer.next().code == 200);
  peer.send(page_harness::request("GET", "/livez", "Connection: close\r\n"));
  BOOST_TEST(peer.next().code == 200);
  peer.expect_end();
}

BOOST_FIXTURE_TEST_CASE(requests_within_the_cache_time_share_a_snapshot, page_harness) {
  page_options.picture_age_max = 1h;
  auto const before = get("/api/v1/state").body;
  auto client = greeted();
  BOOST_TEST(get("/api/v1/state").body == before);
}

struct guarded : page_harness {
  guarded() {
    o.core.credentials = {{core::role::reader, "look"},
                          {core::role::relay, "carry"},
                          {core::role::operator_, "steer"},
                          {core::role::worker, "pull"}};
    page_options.credentials = o.core.credentials;
  }
};

BOOST_FIXTURE_TEST_CASE(with_tokens_only_probes_need_none, guarded) {
  BOOST_TEST(get("/livez").code == 200);
  for (auto const* const path : {"/api/v1/state", "/api/v1/keys", "/barrier/b"}) {
    auto const r = get(path);
    BOOST_TEST(r.code == 401, path);
    BOOST_TEST(has(r.head, "WWW-Authenticate: Bearer"));
    BOOST_TEST(get(path, bearer("wrong")).code == 401);
    BOOST_TEST(get(path, bearer("look")).code != 401);
  }
  BOOST_TEST(get("/api/v1/state", bearer("look") + "Host: job.example\r\n").code == 400);
}

BOOST_FIXTURE_TEST_CASE(wrong_tokens_delay_their_host, guarded) {
  auto const begin = std::chrono::steady_clock::now();

  // Ten a second, with a burst of one.
  BOOST_TEST(get("/api/v1/state", bearer("wrong")).code == 401);
  BOOST_TEST(post("/login", R"({"token":"wrong"})").code == 401);
  BOOST_TEST(get("/api/v1/state", bearer("wrong")).code == 401);

  BOOST_TEST((std::chrono::steady_clock::now() - begin >= 200ms));
}

BOOST_FIXTURE_TEST_CASE(the_page_closes_during_a_delayed_wrong_token_reply, guarded) {
  std::vector<http_peer> peers;
  for (int i = 0; i < 3; ++i) {
    peers.push_back(visit());
    peers.back().send(page_harness::request("GET", "/api/v1/state", bearer("wrong")));
  }
  BOOST_TEST(peers.front().next().code == 401);

  shown.reset();

  peers.back().expect_end();
}

BOOST_FIXTURE_TEST_CASE(a_reader_can_read_and_an_operator_can_act, guarded) {
  auto const body = R"({"task":0,"in":"1h"})";
  auto const refused = post("/api/v1/preempt", body, bearer("look"));
  BOOST_TEST(refused.code == 403);
  BOOST_TEST(
      has(refused.body, "role 'reader' may not do this; that needs a token of role 'operator'"));
  BOOST_TEST(post("/api/v1/stop", "{}", bearer("look")).code == 403);
  BOOST_TEST(post("/api/v1/preempt", body, bearer("steer")).code == 200);
}

BOOST_FIXTURE_TEST_CASE(each_route_needs_its_role, guarded) {
  struct route {
    std::string path;
    std::string posted;
    core::role needed;
  };
  using enum core::role;
  std::vector<route> const all{{"/metrics", "", reader},
                               {"/barrier/b", "", reader},
                               {"/api/v1/state", "", reader},
                               {"/api/v1/tasks", "", reader},
                               {"/api/v1/tasks/0", "", reader},
                               {"/api/v1/barriers", "", reader},
                               {"/api/v1/why", "", reader},
                               {"/api/v1/events", "", reader},
                               {"/api/v1/keys?values=1", "", reader},
                               {"/api/v1/keys/k", "", reader},
                               {"/api/v1/role", "", reader},
                               {"/api/v1/live", "", reader},
                               {"/api/v1/preempt", R"({"task":0,"in":"1h"})", operator_},
                               {"/api/v1/cancel", R"({"barrier":"b"})", operator_},
                               {"/api/v1/drain", "{}", operator_},
                               {"/api/v1/stacks", "{}", operator_},
                               {"/api/v1/stop", "{}", operator_}};
  for (auto const& [as, token] : o.core.credentials) {
    for (auto const& one : all) {
      auto const got = one.posted.empty() ? get(one.path, bearer(token))
                                          : post(one.path, one.posted, bearer(token));

      bool const is_above = as == relay ? one.needed != reader : as < one.needed;
      BOOST_TEST((got.code == 403) == is_above, token << " " << one.path << " " << got.code);
    }
  }
}

BOOST_FIXTURE_TEST_CASE(a_login_needs_no_further_token, guarded) {
  BOOST_TEST(post("/login", R"({"token":"wrong"})").code == 401);
  auto const welcome = post("/login", R"({"token":"look"})");
  BOOST_TEST(welcome.code == 200);
  auto const at = welcome.head.find("Set-Cookie: ");
  BOOST_TEST_REQUIRE(at != std::string::npos);
  auto const cookie = welcome.head.substr(at + 12, welcome.head.find(';', at) - at - 12);

  BOOST_TEST(get("/api/v1/state", "Cookie: " + cookie + "\r\n").code == 200);
  BOOST_TEST(post("/api/v1/stop", "{}", "Cookie: " + cookie + "\r\n").code == 403);
}

BOOST_FIXTURE_TEST_CASE(a_posted_preemption_is_replayed, page_harness) {
  open();
  BOOST_TEST(post("/api/v1/preempt", R"({"task":1,"in":"90s"})").body ==
             "{\"task\":1,\"in_ms\":90000}\n");
  BOOST_TEST(post("/api/v1/preempt", R"({"task":7,"in":"90s"})").code == 400);
  BOOST_TEST(has(get("/api/v1/events").body, "task 1"));

  auto const recording = made->recording();
  server::replay r{recording};
  std::string entries;
  while (r.step()) {
    for (auto const& e : r.events()) entries += e.text + "\n";
  }
  BOOST_TEST(has(entries, "will be preempted in 90 s"));
}

BOOST_FIXTURE_TEST_CASE(a_round_cancelled_over_http_is_replayed, page_harness) {
  auto tasks = greeted();
  tasks.send(server::join_frame(1, 0) + server::join_frame(2, 1) +
             server::barrier_frame(3, 0, "step"));
  until([&] { return made->look().barriers.size() == 1; });
  BOOST_TEST(post("/api/v1/cancel", R"({"barrier":"step","round":7})").code == 409);
  BOOST_TEST(post("/api/v1/cancel", R"({"barrier":"step","round":1})").body ==
             "{\"cancelled\":\"step\"}\n");
  BOOST_TEST(post("/api/v1/cancel", R"({"barrier":"step"})").code == 409);

  auto const recording = made->recording();
  server::replay r{recording};
  while (r.step()) {
  }
  auto const ended = r.look().rounds;
  BOOST_TEST_REQUIRE(ended.size() == 1u);
  BOOST_TEST((ended[0].outcome == errc::cancelled));
  BOOST_TEST(has(get("/api/v1/events").body, "cancelled by 127.0.0.1 over HTTP"));
}

BOOST_FIXTURE_TEST_CASE(stacks_are_asked_for_and_looked_at, page_harness) {
  auto const asked = post("/api/v1/stacks", "{}");
  BOOST_TEST(asked.code == 200);
  BOOST_TEST(has(asked.body, R"({"number":1,"complete":true,)"));
  BOOST_TEST(has(asked.body, R"("wanted":0,"more":0,"groups":[]})"));
  BOOST_TEST(has(post("/api/v1/stacks", R"({"number":1})").body, R"({"number":1,)"));
}

BOOST_FIXTURE_TEST_CASE(a_client_learns_its_role, page_harness) {
  BOOST_TEST(get("/api/v1/role").body == "{\"role\":\"worker\"}\n");
  guarded h;
  BOOST_TEST(h.get("/api/v1/role").code == 401);
  BOOST_TEST(h.get("/api/v1/role", bearer("look")).body == "{\"role\":\"reader\"}\n");
  BOOST_TEST(h.post("/api/v1/cancel", R"({"barrier":"b"})", bearer("look")).code == 403);
  BOOST_TEST(h.post("/api/v1/cancel", R"({"barrier":"b"})", bearer("steer")).code == 409);
}

BOOST_FIXTURE_TEST_CASE(posted_bodies_are_validated, page_harness) {
  for (auto const* const body :
       {"", "{", "[]", "{}", R"({"task":-1,"in":"1s"})", R"({"task":"1","in":"1s"})",
        R"({"task":1})", R"({"task":1,"in":5})", R"({"task":1,"in":"soon"})",
        R"({"task":4294967297,"in":"1s"})", "[[[[[[[[[[[[[[[[[[[["}) {
    BOOST_TEST(post("/api/v1/preempt", body).code == 400, body);
  }
  for (auto const* const body :
       {"{}", R"({"barrier":7})", R"({"barrier":""})", R"({"barrier":"b","round":0})",
        R"({"barrier":"b","round":"1"})"}) {
    BOOST_TEST(post("/api/v1/cancel", body).code == 400, body);
  }
  for (auto const* const body : {"", "[]", R"({"number":0})", R"({"number":"1"})"}) {
    BOOST_TEST(post("/api/v1/stacks", body).code == 400, body);
  }
  BOOST_TEST(ask("POST", "/api/v1/stop", "Content-Type: text/plain\r\n", "{}").code == 415);
  BOOST_TEST(ask("POST", "/api/v1/stop", "", "{}").code == 415);
  BOOST_TEST(post("/api/v1/stop", "{}", "Origin: http://evil\r\n").code == 403);
  BOOST_TEST(!run_ended);
}

BOOST_FIXTURE_TEST_CASE(a_stop_is_acknowledged_before_the_coordinator_stops, page_harness) {
  auto client = greeted();
  BOOST_TEST(post("/api/v1/stop", R"({"reason":1})").code == 400);
  auto const r = post("/api/v1/stop", R"({"reason":"an upgrade"})");
  BOOST_TEST(r.code == 202);
  BOOST_TEST(has(client.goodbye().why.message(),
                 "the job was stopped: by 127.0.0.1, over HTTP: an upgrade"));
  client.close();
  until([&] { return run_ended; });
}

BOOST_FIXTURE_TEST_CASE(a_drained_job_says_so_and_ends_when_nobody_is_in_it, page_harness) {
  BOOST_TEST(post("/api/v1/drain", "[]").code == 400);
  auto const r = post("/api/v1/drain", R"({"reason":"an upgrade"})");
  BOOST_TEST(r.code == 200);
  BOOST_TEST(r.body == "{\"draining\":true}\n");
  until([&] { return run_ended; });
}

std::string refusal(page_harness& h, std::string const& address) {
  h.page_options.listen = address;
  try {
    h.open();
  } catch (error const& e) {
    return e.what();
  }
  return "";
}

BOOST_AUTO_TEST_CASE(an_address_without_a_host_is_loopback) {
  for (auto const* const address : {"0", ":0", "127.0.0.1:0"}) {
    page_harness h;
    BOOST_TEST(refusal(h, address) == "");
    BOOST_TEST(h.shown->address().starts_with("127.0.0.1:"));
  }
}

BOOST_AUTO_TEST_CASE(a_protected_address_without_a_host_is_the_wildcard) {
  for (auto const* const address : {"0", ":0"}) {
    guarded h;
    BOOST_TEST(refusal(h, address) == "");
    BOOST_TEST(h.shown->address().starts_with("[::]:"));
    BOOST_TEST(h.shown->url().starts_with("http://127.0.0.1:"));
  }
}

BOOST_AUTO_TEST_CASE(a_public_page_needs_a_token_or_an_explicit_option) {
  page_harness h;
  BOOST_TEST(has(refusal(h, "0.0.0.0:0"), "FAILED_PRECONDITION: Other hosts can reach"));
  page_harness open;
  open.page_options.insecure = true;
  BOOST_TEST(refusal(open, "0.0.0.0:0") == "");
  guarded with_token;
  BOOST_TEST(refusal(with_token, "0.0.0.0:0") == "");
}

BOOST_FIXTURE_TEST_CASE(a_listen_failure_names_the_address, page_harness) {
  open();
  page_harness other;
  BOOST_TEST(has(refusal(other, shown->address()), "Who listens there: ss -ltnp"));
  page_harness third;
  BOOST_TEST(has(refusal(third, "unix:/tmp/x"), "needs a host and a port"));
  page_harness fourth;
  BOOST_TEST(has(refusal(fourth, "nonsense"), "INVALID_ARGUMENT"));
}

BOOST_FIXTURE_TEST_CASE(the_page_can_be_destroyed_before_its_connections, page_harness) {
  auto idle = visit();
  idle.send(page_harness::request("GET", "/livez"));
  idle.next();
  auto half = visit();
  half.send("GET /liv");
  until([&] { return shown->connections() == 2; });

  shown.reset();

  idle.expect_end();
  half.expect_end();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::status_page
