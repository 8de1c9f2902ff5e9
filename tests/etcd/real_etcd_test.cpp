// The main behaviours, with three members of Debian's etcd-server. Skipped where it is missing.

#include "coxswain/etcd/calls.hpp"
#include "coxswain/etcd/election.hpp"
#include "coxswain/etcd/follower.hpp"
#include "coxswain/etcd/lease.hpp"
#include "coxswain/etcd/log_writer.hpp"
#include "tests/certificates/authority.hpp"
#include "tests/etcd/etcd_cluster.hpp"
#include "tests/etcd/fake_etcd.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>

namespace coxswain::etcd {
namespace {

using test::etcd_cluster;
using test::run;
using test::run_until;

time_point clock_now() { return std::chrono::steady_clock::now(); }

time_point in_time() { return clock_now() + 15s; }

boost::test_tools::assertion_result is_installed(boost::unit_test::test_unit_id) {
  return etcd_cluster::is_possible();
}

struct standby final : follower_events {
  void begins(job_state from) override { last = from.number; }
  void entry(std::uint64_t number, std::string_view content) override {
    BOOST_TEST(number == last + 1);
    last = number;
    text = content;
  }
  void is_at(std::int64_t at, leader const& now, std::uint64_t) override {
    revision = at;
    who = now;
  }
  void trouble(status const&) override {}

  std::uint64_t last{};
  std::string text;
  std::int64_t revision{};
  leader who;
};

client_options options_for(etcd_cluster const& cluster) {
  client_options made;
  made.members = cluster.endpoints();
  return made;
}

// A leader with a lease, and a standby.
struct job_on_etcd {
  explicit job_on_etcd(client_options const& o)
      : by{client::make(io.get_executor(), o)}, by_standby{client::make(io.get_executor(), o)} {
    lead();
    write_after(0);
    BOOST_TEST_REQUIRE(run(io, log_writer::begin(writer, "head")) == status{});
    auto loop = follower::run(following);
    asio::co_spawn(io, std::move(loop), asio::detached);
  }
  ~job_on_etcd() {
    writer->stop();
    following->stop();
    mine->stop();
    by->close();
    by_standby->close();
    io.restart();
    io.run_for(200ms);
  }

  void lead() {
    BOOST_TEST_REQUIRE(run(io, lease::grant(mine, in_time())) == status{});
    auto const won = run(io, campaign(by, keys, "a:1", mine->id(), in_time()));
    BOOST_TEST_REQUIRE(won.is_won);
    revision = won.who.revision;
  }

  void write_after(std::uint64_t last) {
    writer = std::make_shared<log_writer>(by, keys, revision, 1, last, [this] { changed(); });
  }

  // A leader of etcd that was stopped and resumes may revoke leases that the new one has renewed
  // (etcd-io/etcd#15247). Winning with another lease proves that the leader's key was gone.
  void lead_again() {
    BOOST_TEST_REQUIRE(writer->failure().code() == errc::aborted);
    auto const durable = writer->durable();
    writer->stop();
    mine->stop();
    mine = std::make_shared<lease>(by, mine->id() + 1, 3);
    lead();
    BOOST_TEST_REQUIRE(run_until(io, [&] { return seen.revision >= revision; }));
    BOOST_TEST(seen.last >= durable);
    write_after(seen.last);
  }

  void changed() {
    longest = std::max<duration>(longest, clock_now() - changed_at);
    changed_at = clock_now();
  }

  // Entries whose text is their number.
  void append(std::uint64_t to) {
    changed_at = clock_now();
    while (writer->durable() < to) {
      bool const is_all = writer->last() >= to;
      BOOST_TEST_REQUIRE(run_until(io, [&] {
        if (!writer->failure().ok()) return true;
        return is_all ? writer->durable() == to : writer->has_room();
      }));
      if (!writer->failure().ok()) {
        lead_again();
      } else if (!is_all) {
        writer->append(std::to_string(writer->last() + 1));
      }
    }
  }

  asio::io_context io;
  job_keys keys{"a job/1"};
  std::shared_ptr<client> by;
  std::shared_ptr<client> by_standby;
  std::shared_ptr<lease> mine{std::make_shared<lease>(by, 4711, 3)};
  std::int64_t revision{};
  std::shared_ptr<log_writer> writer;
  time_point changed_at;
  duration longest{};
  standby seen;
  std::shared_ptr<follower> following{std::make_shared<follower>(by_standby, keys, seen)};
};

// The member of etcd that leads, by Status.
std::size_t leading(asio::io_context& io, client_options o) {
  for (std::size_t i = 0;; i = (i + 1) % o.members.size()) {
    auto one = o;
    one.members = {o.members[i]};
    auto const by = client::make(io.get_executor(), one);
    auto const reply = run(io, settle<pb::StatusResponse>(by, "/etcdserverpb.Maintenance/Status",
                                                          pb::StatusRequest{}, in_time()));
    by->close();
    if (reply.content.leader() != 0 &&
        reply.content.leader() == reply.content.header().member_id()) {
      return i;
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(real_etcd_test, *boost::unit_test::precondition(is_installed))

BOOST_AUTO_TEST_CASE(a_standby_follows_takes_over_and_the_old_leader_is_fenced) {
  etcd_cluster const cluster;
  job_on_etcd job{options_for(cluster)};
  job.append(50);
  BOOST_TEST(run_until(job.io, [&] { return job.seen.last == 50; }));
  std::string const large(value_bytes_max, 'x');
  job.writer->append(large);
  BOOST_TEST(run_until(job.io, [&] { return job.seen.last == 51; }));
  BOOST_TEST((job.seen.text == large));

  // Its lease is no longer confirmed.
  job.mine->stop();
  auto const since = clock_now();
  BOOST_TEST(
      run_until(job.io, [&] { return job.seen.revision > 0 && job.seen.who.revision == 0; }));
  BOOST_TEST((clock_now() - since < 5s));
  auto const won = run(job.io, campaign(job.by_standby, job.keys, "b:1", 0, in_time()));
  BOOST_TEST(won.is_won);
  BOOST_TEST(won.term == 2u);
  job.writer->append("late");

  BOOST_TEST(run_until(job.io, [&] { return !job.writer->failure().ok(); }));
  BOOST_TEST(job.writer->failure().code() == errc::aborted);
  BOOST_TEST(run_until(job.io, [&] { return job.seen.revision >= won.who.revision; }));
  BOOST_TEST(job.seen.last == 51u);
}

BOOST_AUTO_TEST_CASE(etcds_leader_stops_for_a_while_and_nothing_is_lost) {
  etcd_cluster const cluster;
  auto const options = options_for(cluster);
  job_on_etcd job{options};
  job.append(200);
  auto const stopped = leading(job.io, options);
  cluster.signal(stopped, SIGSTOP);
  job.append(600);
  asio::steady_timer later{job.io, 5s};
  later.async_wait([&](boost::system::error_code) { cluster.signal(stopped, SIGCONT); });
  job.append(800);
  BOOST_TEST(run_until(job.io, [&] { return later.expiry() < clock_now() - 1s; }));
  job.append(1'000);

  BOOST_TEST((job.longest < 4s));
  BOOST_TEST(run_until(job.io, [&] { return job.seen.last == 1'000; }));
  BOOST_TEST(job.seen.text == "1000");
  BOOST_TEST(!job.mine->is_lost());
}

BOOST_AUTO_TEST_CASE(without_a_quorum_appends_wait) {
  etcd_cluster const cluster;
  job_on_etcd job{options_for(cluster)};
  job.append(10);
  cluster.signal(0, SIGSTOP);
  cluster.signal(1, SIGSTOP);
  job.writer->append("waits");
  auto const until = clock_now() + 3s;
  BOOST_TEST(run_until(job.io, [&] { return clock_now() > until; }));
  BOOST_TEST(job.writer->durable() == 10u);
  BOOST_TEST(!job.writer->trouble().ok());
  cluster.signal(0, SIGCONT);
  cluster.signal(1, SIGCONT);

  // Etcd's leader may have been stopped, and end the lease when it goes on. Then the append is
  // refused, and another campaign is won.
  auto const& failure = job.writer->failure();
  BOOST_TEST(run_until(job.io, [&] { return job.writer->durable() == 11 || !failure.ok(); }));
  if (failure.ok()) {
    BOOST_TEST(run_until(job.io, [&] { return job.seen.last == 11; }));
  } else {
    BOOST_TEST(failure.code() == errc::aborted);
    BOOST_TEST(run(job.io, campaign(job.by, job.keys, "a:1", 0, in_time())).is_won);
  }
}

BOOST_AUTO_TEST_CASE(a_member_dies_and_returns) {
  etcd_cluster cluster;
  job_on_etcd job{options_for(cluster)};
  for (std::size_t member = 0; member < 3; ++member) {
    cluster.kill(member);
    job.append(job.writer->last() + 20);
    cluster.start(member);
    job.append(job.writer->last() + 20);
    BOOST_TEST(run_until(job.io, [&] { return job.seen.last == job.writer->last(); }));
  }
}

BOOST_AUTO_TEST_CASE(with_certificates_and_a_password) {
  certificates::authority const trusted;
  auto server = trusted.issue({"etcd"});
  etcd_cluster const cluster{1, server};
  auto options = options_for(cluster);
  options.tls = trusted.issue({"rower"});
  {
    job_on_etcd job{options};
    job.append(10);
    // A user with the role "root", and authentication enabled: messages of the Auth service.
    auto const ask = [&](std::string_view method, std::string message) {
      return run(job.io, client::settle(job.by, method, std::move(message), in_time())).why;
    };
    BOOST_TEST(ask("/etcdserverpb.Auth/UserAdd", "\x0a\x04root\x12\x06secret") == status{});
    BOOST_TEST(ask("/etcdserverpb.Auth/RoleAdd", "\x0a\x04root") == status{});
    BOOST_TEST(ask("/etcdserverpb.Auth/UserGrantRole", "\x0a\x04root\x12\x04root") == status{});
    BOOST_TEST(ask("/etcdserverpb.Auth/AuthEnable", "") == status{});
  }
  asio::io_context io;
  auto const read = [&](client_options const& o) {
    auto const by = client::make(io.get_executor(), o);
    auto const why = run(io, read_leader(by, job_keys{"job"}, clock_now() + 3s)).why;
    by->close();
    return why;
  };
  options.user = "root";
  options.password = "wrong";
  BOOST_TEST(read(options).message().find("authentication failed") != std::string::npos);
  options.password = "secret";
  BOOST_TEST(read(options) == status{});

  certificates::authority const other{"another authority"};
  options.tls = other.issue({"rower"});
  BOOST_TEST(read(options).code() == errc::unauthenticated);
  options.tls = {};
  BOOST_TEST(!read(options).ok());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::etcd
