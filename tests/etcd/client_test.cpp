// Calls over several members, some of which fail.

#include "coxswain/etcd/client.hpp"

#include "coxswain/etcd/calls.hpp"
#include "coxswain/etcd/election.hpp"
#include "tests/etcd/fake_etcd.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::etcd {
namespace {

using test::fake_etcd;
using test::fate;
using test::run;
using test::soon;

struct member_calls {
  asio::io_context io;
  fake_etcd server{io};
  job_keys keys{"job"};

  leader_reply read(std::shared_ptr<client> by, time_point give_up_at = soon()) {
    return run(io, read_leader(std::move(by), keys, give_up_at));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(client_test, member_calls)

BOOST_AUTO_TEST_CASE(a_dead_member_is_skipped) {
  server.is_dead[0] = true;
  auto const by = server.make_client();

  BOOST_TEST(read(by).why == status{});
  BOOST_TEST(by->member() == 1u);
}

BOOST_AUTO_TEST_CASE(a_silent_member_is_left_after_the_calls_time_limit) {
  server.is_silent[0] = server.is_silent[1] = true;
  auto const by = server.make_client(50ms);

  BOOST_TEST(read(by).why == status{});
  BOOST_TEST(by->member() == 2u);
}

BOOST_AUTO_TEST_CASE(without_any_member_a_call_fails_at_its_end_and_says_why) {
  server.is_dead = {true, true, true};

  auto const reply = read(server.make_client(), std::chrono::steady_clock::now() + 300ms);
  BOOST_TEST(reply.why == (status{errc::unavailable, "connection refused"}));
}

BOOST_AUTO_TEST_CASE(an_error_that_is_final_is_not_repeated) {
  server.judge = [](auto, auto) {
    return fate{.applies = false, .error = {errc::permission_denied, "permission denied"}};
  };

  BOOST_TEST(read(server.make_client()).why.code() == errc::permission_denied);
  BOOST_TEST(server.calls("/etcdserverpb.KV/Range") == 1);
}

BOOST_AUTO_TEST_CASE(a_token_that_is_no_longer_valid_is_replaced) {
  server.set_token("first");
  auto const by = server.make_client();
  BOOST_TEST(read(by).why == status{});
  server.set_token("second");

  BOOST_TEST(read(by).why == status{});
  BOOST_TEST(server.calls("/etcdserverpb.Auth/Authenticate") == 2);
}

BOOST_AUTO_TEST_CASE(another_cluster_behind_a_name_is_an_error) {
  auto const by = server.make_client();
  BOOST_TEST(read(by).why == status{});

  auto const why = by->check_cluster(8, 2);
  BOOST_TEST(why.code() == errc::failed_precondition);
  BOOST_TEST(why.message() ==
             "the members of etcd belong to different clusters: m0:2379 to 7, m2:2379 to 8");
}

BOOST_AUTO_TEST_CASE(a_closed_client_ends_its_calls) {
  server.is_silent = {true, true, true};
  auto const by = server.make_client(10s);
  asio::post(io, [&] { by->close(); });

  // The fake does not notice; the real channel does.
  BOOST_TEST(read(server.make_client(50ms), std::chrono::steady_clock::now()).why.code() ==
             errc::deadline_exceeded);
  BOOST_TEST(read(by).why.code() == errc::cancelled);
}

BOOST_AUTO_TEST_CASE(names_of_jobs_cannot_reach_other_jobs_keys) {
  BOOST_TEST(job_keys{"a/log"}.head() == "/coxswain/a%2flog/head");
  BOOST_TEST(keys.entry(255) == "/coxswain/job/log/00000000000000ff");
  BOOST_TEST((keys.entry_number(keys.entry(255)) == 255u));
  BOOST_TEST((keys.entry_number("/coxswain/job/log/short") == std::nullopt));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::etcd
