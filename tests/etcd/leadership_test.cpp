// Elections, and the lease of a leader.

#include "coxswain/etcd/election.hpp"
#include "coxswain/etcd/lease.hpp"
#include "tests/etcd/fake_etcd.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::etcd {
namespace {

using test::fake_etcd;
using test::fate;
using test::run;
using test::run_until;
using test::soon;

constexpr std::int64_t own = 17;

struct candidate {
  ~candidate() {
    mine->stop();
    io.restart();
    io.poll();
  }

  campaign_result stand(std::string address, std::int64_t lease) {
    return run(io, campaign(by, keys, std::move(address), lease, soon()));
  }

  asio::io_context io;
  fake_etcd server{io};
  std::shared_ptr<client> by{server.make_client(100ms)};
  job_keys keys{"job"};
  std::shared_ptr<lease> mine{std::make_shared<lease>(by, own, 3)};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(leadership_test, candidate)

BOOST_AUTO_TEST_CASE(one_candidate_wins_and_the_other_learns_who) {
  BOOST_TEST(run(io, lease::grant(mine, soon())) == status{});
  auto const first = stand("a:1", own);
  auto const second = stand("b:1", 0);

  BOOST_TEST(first.is_won);
  BOOST_TEST(first.term == 1u);
  BOOST_TEST(!second.is_won);
  BOOST_TEST(second.who.address == "a:1");
  BOOST_TEST(second.who.revision == first.who.revision);
}

BOOST_AUTO_TEST_CASE(each_leader_has_a_higher_term) {
  for (std::uint64_t term = 1; term <= 3; ++term) {
    auto const won = stand("a:1", 0);
    BOOST_TEST(won.is_won);
    BOOST_TEST(won.term == term);
    BOOST_TEST(run(io, depose(by, keys, won.who.revision, soon())) == status{});
  }
}

BOOST_AUTO_TEST_CASE(a_campaign_whose_reply_was_lost_is_recognized) {
  BOOST_TEST(run(io, lease::grant(mine, soon())) == status{});
  bool is_first = true;
  server.judge = [&](auto, auto) { return fate{.answers = !std::exchange(is_first, false)}; };
  auto const won = stand("a:1", own);

  BOOST_TEST(won.is_won);
  BOOST_TEST(won.term == 1u);
  BOOST_TEST(server.value(keys.epoch()) == "1");
}

BOOST_AUTO_TEST_CASE(a_late_removal_hits_only_the_leader_that_it_meant) {
  auto const old = stand("a:1", 0);
  BOOST_TEST(run(io, depose(by, keys, old.who.revision, soon())) == status{});
  auto const now = stand("b:1", 0);
  BOOST_TEST(run(io, depose(by, keys, old.who.revision, soon())) == status{});

  BOOST_TEST(now.is_won);
  BOOST_TEST(server.value(keys.leader()) == "b:1");
}

BOOST_AUTO_TEST_CASE(a_grant_whose_reply_was_lost_succeeds) {
  bool is_first = true;
  server.judge = [&](auto, auto) { return fate{.answers = !std::exchange(is_first, false)}; };

  BOOST_TEST(run(io, lease::grant(mine, soon())) == status{});
  BOOST_TEST((mine->valid_until() > std::chrono::steady_clock::now()));
}

BOOST_AUTO_TEST_CASE(a_lease_is_confirmed_each_second) {
  BOOST_TEST(run(io, lease::grant(mine, soon())) == status{});
  auto const first = mine->valid_until();

  BOOST_TEST(run_until(io, [&] { return mine->valid_until() > first + 900ms; }));
  BOOST_TEST(!mine->is_lost());
}

BOOST_AUTO_TEST_CASE(a_member_that_does_not_confirm_is_left_within_a_second) {
  BOOST_TEST(run(io, lease::grant(mine, soon())) == status{});
  auto const first = mine->valid_until();
  BOOST_TEST(run_until(io, [&] { return mine->valid_until() > first; }));
  server.is_silent[by->member()] = true;
  auto const before = mine->valid_until();

  BOOST_TEST(run_until(io, [&] { return mine->valid_until() > before; }));
  BOOST_TEST((mine->valid_until() - before < 3s));
}

BOOST_AUTO_TEST_CASE(a_revoked_lease_is_lost_and_takes_the_leaders_key_along) {
  BOOST_TEST(run(io, lease::grant(mine, soon())) == status{});
  BOOST_TEST(stand("a:1", own).is_won);
  server.revoke(own);

  BOOST_TEST(!server.has(keys.leader()));
  BOOST_TEST(run_until(io, [&] { return mine->is_lost(); }));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::etcd
