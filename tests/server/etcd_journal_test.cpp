// A job in etcd: what its leader writes, and what a standby makes of it.

#include "coxswain/server/journal/etcd_journal.hpp"

#include "coxswain/core/behaviour.hpp"
#include "coxswain/etcd/election.hpp"
#include "coxswain/etcd/follower.hpp"
#include "coxswain/net/endpoint.hpp"
#include "coxswain/server/dispatch.hpp"
#include "coxswain/server/journal/batch.hpp"
#include "coxswain/server/server.hpp"
#include "coxswain/server/standby/leadership.hpp"
#include "coxswain/server/standby/replica.hpp"
#include "tests/etcd/fake_etcd.hpp"
#include "tests/server/messages.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::server {
namespace {

using etcd::test::fake_etcd;
using etcd::test::fate;
using etcd::test::run;
using etcd::test::run_until;
using etcd::test::soon;

time_point clock_now() { return std::chrono::steady_clock::now(); }

options options_of_job() {
  options made;
  made.core.num_tasks = 2;
  made.core.job = "job";
  made.core.memory_bytes_max = 256 * 1024 * 1024;
  expect_restarts(made);
  return made;
}

// A leader with its core, and a standby.
struct job_in_etcd {
  job_in_etcd() : job_in_etcd{options_of_job()} {}
  explicit job_in_etcd(options given) : o{std::move(given)} { lead(std::nullopt, {}); }
  ~job_in_etcd() {
    if (following) following->stop();
    alive->stop();
    log.reset();
    io.restart();
    io.poll();
  }

  void lead(std::optional<restored_core> restored, log_end from) {
    alive = std::make_shared<etcd::lease>(by, ++last_lease, 3);
    BOOST_TEST_REQUIRE(run(io, etcd::lease::grant(alive, soon())) == status{});
    auto const won = run(io, etcd::campaign(by, keys, "a:1", alive->id(), soon()));
    BOOST_TEST_REQUIRE(won.is_won);
    revision = won.who.revision;
    log = etcd_journal::make(by, keys, revision, from);
    log->leave_out_above(o.core.volatile_above);
    core_origin origin{.self = incarnation{77}, .now = clock_now(), .log = log.get()};
    bool const is_restored = restored.has_value();
    origin.restored = std::move(restored);
    leader = std::make_unique<dispatch>(o, std::move(origin));
    if (is_restored) BOOST_TEST(leader->put_in(clock_now(), core::restarted{}).ok());
    leader_connection = leader->open(clock_now(), "peer", {});
  }

  // An input of the core.
  void put(std::string key, std::string value) {
    if (!std::exchange(has_session, true)) send(hello_frame());
    send(put_frame(++requests, std::move(key), std::move(value)));
    BOOST_TEST(leader->commit().ok());
  }

  void send(std::string const& frame) {
    leader->begin();
    auto taken = leader->received(clock_now(), leader_connection, frame);
    while (taken == dispatch::taken::waits) {
      leader->begin();
      taken = leader->go_on(clock_now(), leader_connection);
    }
    std::vector<connection_id> dirty;
    while (leader->deliver(dirty)) {
    }
  }

  bool is_durable() {
    return run_until(io, [&] {
      return !log->synchronize(clock_now(), true).ok() || log->durable() == log->committed();
    });
  }

  void follow() {
    standby = std::make_unique<replica>(
        o, [] {}, [this](core::severity, std::string text) { received += text + "\n"; });
    following = std::make_shared<etcd::follower>(by_standby, keys, *standby);
    auto loop = etcd::follower::run(following);
    asio::co_spawn(io, std::move(loop), asio::detached);
  }

  bool follows() {
    return run_until(io, [&] {
      return !standby->failure().ok() || standby->end().entry == log->writer()->last();
    });
  }

  std::shared_ptr<leadership> lead_on() {
    auto made = std::make_shared<leadership>(
        by, keys, alive, revision, 1,
        [this](core::severity, std::string text) { received += text + "\n"; });
    made->log = log;
    made->watch();
    return made;
  }

  std::string value(core::coordinator const& in, std::string const& key) {
    auto const found = in.value(key);
    return found ? std::string{found->value.view()} : "none";
  }

  asio::io_context io;
  fake_etcd server{io};
  std::shared_ptr<etcd::client> by{server.make_client(100ms)};
  std::shared_ptr<etcd::client> by_standby{server.make_client(100ms)};
  etcd::job_keys keys{"job"};
  options o;
  std::int64_t last_lease{16};
  std::shared_ptr<etcd::lease> alive;
  std::int64_t revision{};
  std::shared_ptr<etcd_journal> log;
  std::unique_ptr<dispatch> leader;
  connection_id leader_connection;
  bool has_session{};
  std::uint64_t requests{};
  std::string received;
  std::unique_ptr<replica> standby;
  std::shared_ptr<etcd::follower> following;
};

struct job_with_volatile_values : job_in_etcd {
  job_with_volatile_values() : job_in_etcd{with_volatile_values()} {}
  static options with_volatile_values() {
    auto made = options_of_job();
    made.core.volatile_above = etcd::value_bytes_max;
    return made;
  }
};

// A server that leads it, instead of the core alone.
struct served_job : job_in_etcd {
  served_job() {
    leader.reset();
    log = etcd_journal::make(by, keys, revision, {});
    o.listen = {"127.0.0.1:0"};
    coordinator.emplace(io, o, shared_job{log, std::nullopt, 1});
    asio::co_spawn(io, coordinator->run(), asio::detached);
    put_in_something();
    BOOST_TEST_REQUIRE(run_until(io, [&] { return outcome.has_value(); }));
    BOOST_TEST(*outcome == status{});
  }
  ~served_job() {
    coordinator.reset();
    io.restart();
    io.poll();
  }

  void put_in_something() {
    outcome.reset();
    static_cast<void>(coordinator->put_in(core::process_ended{task_id{1}, {errc::aborted, "x"}}));
    asio::co_spawn(io, coordinator->durable(1s),
                   [this](std::exception_ptr, status how) { outcome = std::move(how); });
  }

  std::optional<coxswain::server::server> coordinator;
  std::optional<status> outcome;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(owners_of_a_job_in_etcd_test, served_job)

BOOST_AUTO_TEST_CASE(they_wait_until_etcd_has_confirmed_their_input) {
  bool is_asked = false;
  server.judge = [&](auto, auto path) {
    is_asked = is_asked || path.ends_with("/Txn");
    return fate{.is_held = path.ends_with("/Txn")};
  };
  put_in_something();
  BOOST_TEST(run_until(io, [&] { return is_asked; }));
  io.poll();
  BOOST_TEST(!outcome.has_value());
  server.judge = {};
  server.release();

  BOOST_TEST(run_until(io, [&] { return outcome.has_value(); }));
  BOOST_TEST(*outcome == status{});
}

BOOST_AUTO_TEST_CASE(they_do_not_wait_for_ever) {
  server.judge = [](auto, auto path) { return fate{.is_held = path.ends_with("/Txn")}; };
  put_in_something();

  BOOST_TEST(run_until(io, [&] { return outcome.has_value(); }));
  BOOST_TEST(outcome->code() == errc::unavailable);
  BOOST_TEST(outcome->message().find("in time") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(they_learn_that_the_leadership_was_lost) {
  server.judge = [](auto, auto path) { return fate{.is_held = path.ends_with("/Txn")}; };
  put_in_something();
  log->fail({errc::aborted, "another coordinator leads the job now"});

  BOOST_TEST(run_until(io, [&] { return outcome.has_value(); }));
  BOOST_TEST(outcome->code() == errc::unavailable);
  BOOST_TEST(outcome->message().find("another coordinator") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(clients_are_notified_that_the_leadership_was_lost) {
  auto const at = net::endpoint::parse(coordinator->addresses().front()).value();
  asio::ip::tcp::socket peer{io};
  peer.connect({asio::ip::make_address("127.0.0.1"), at.port()});
  peer.non_blocking(true);
  asio::write(peer, asio::buffer(hello_frame()));
  message_reader received;
  auto const has_read = [&] {
    std::array<char, 1024> some;
    boost::system::error_code none_yet;
    auto const count = peer.read_some(asio::buffer(some), none_yet);
    received.feed({some.data(), count});
    return !received.empty();
  };
  BOOST_TEST_REQUIRE(run_until(io, has_read));
  BOOST_TEST(std::holds_alternative<boxed<core::hello_answer>>(received.take().what.value));

  log->fail({errc::unavailable, "etcd has not confirmed the leader's lease in time"});

  BOOST_TEST_REQUIRE(run_until(io, has_read));
  auto const last = received.take();
  auto const* const goodbye = std::get_if<core::goodbye>(&last.what.value);
  BOOST_TEST_REQUIRE(goodbye != nullptr);
  BOOST_TEST(goodbye->may_resume);
  BOOST_TEST(goodbye->why.code() == errc::unavailable);
  BOOST_TEST(contains(goodbye->why.message(), "does not lead its job any more: etcd has not"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(etcd_journal_test, job_in_etcd)

BOOST_AUTO_TEST_CASE(a_standby_has_the_state_of_the_leader) {
  put("a", "1");
  BOOST_TEST(is_durable());
  follow();
  put("b", "2");
  BOOST_TEST(is_durable());
  BOOST_TEST(follows());

  auto const taken = standby->take(clock_now());
  BOOST_TEST_REQUIRE(taken.has_value());
  BOOST_TEST(value(taken->logic, "a") == "1");
  BOOST_TEST(value(taken->logic, "b") == "2");
  BOOST_TEST(taken->logic.digest() == leader->logic().digest());
  BOOST_TEST((taken->downtime < 1s));
}

BOOST_FIXTURE_TEST_CASE(volatile_values_are_not_in_etcd, job_with_volatile_values) {
  std::string const large(etcd::value_bytes_max + 1, 'v');
  put("large", large);
  put("a", "1");
  BOOST_TEST(is_durable());
  BOOST_TEST(value(leader->logic(), "large") == large);
  std::size_t bytes = 0;
  for (auto const& key : server.keys("")) bytes += server.value(key).size();
  BOOST_TEST(bytes < 64u * 1024);
  follow();
  BOOST_TEST(follows());

  auto taken = standby->take(clock_now());
  BOOST_TEST_REQUIRE(taken.has_value());
  BOOST_TEST(taken->logic.digest() == leader->logic().digest());
  BOOST_TEST(taken->logic.put_in(clock_now(), core::restarted{}).ok());
  BOOST_TEST(value(taken->logic, "large") == "none");
  BOOST_TEST(value(taken->logic, "a") == "1");
}

BOOST_AUTO_TEST_CASE(inputs_gather_while_two_entries_are_under_way) {
  put("first", "1");
  BOOST_TEST(is_durable());
  server.judge = [](auto, auto path) { return fate{.is_held = path.ends_with("/Txn")}; };
  auto const before = log->writer()->last();
  for (int i = 0; i < 50; ++i) {
    put("k" + std::to_string(i), "v");
    BOOST_TEST(log->synchronize(clock_now(), true).ok());
  }
  BOOST_TEST(log->writer()->last() == before + 2);
  BOOST_TEST(log->durable() < log->committed());
  server.judge = {};
  server.release();

  BOOST_TEST(is_durable());
  BOOST_TEST(log->writer()->last() <= before + 4);
  follow();
  BOOST_TEST(follows());
  BOOST_TEST(standby->take(clock_now())->logic.digest() == leader->logic().digest());
}

BOOST_AUTO_TEST_CASE(inputs_that_nothing_waits_for_are_written_a_second_later) {
  put("first", "1");
  BOOST_TEST(is_durable());
  put("a", "1");
  BOOST_TEST(log->synchronize(clock_now(), false).ok());
  auto const due = log->next_synchronization();
  BOOST_TEST(log->durable() < log->committed());
  BOOST_TEST_REQUIRE(due.has_value());
  BOOST_TEST((*due <= clock_now() + 1s));

  BOOST_TEST(run_until(io, [&] {
    return log->synchronize(clock_now(), false).ok() && log->durable() == log->committed();
  }));
  BOOST_TEST((clock_now() >= *due));
}

BOOST_AUTO_TEST_CASE(many_inputs_are_written_ahead_while_no_entry_is_under_way) {
  put("first", "1");
  BOOST_TEST(is_durable());
  server.judge = [](auto, auto path) { return fate{.is_held = path.ends_with("/Txn")}; };
  auto const before = log->writer()->last();
  std::string const many(8 * 1024, 'v');
  for (auto const* key : {"ahead", "gathers"}) {
    put(key, many);
    BOOST_TEST(log->synchronize(clock_now(), false).ok());
    BOOST_TEST(log->writer()->last() == before + 1, key);
  }
  put("awaited", "1");
  BOOST_TEST(log->synchronize(clock_now(), true).ok());
  BOOST_TEST(log->writer()->last() == before + 2);
  server.judge = {};
  server.release();

  BOOST_TEST(is_durable());
}

BOOST_AUTO_TEST_CASE(the_lag_is_what_etcd_has_not_confirmed) {
  log->name_leader("a:1", 7);
  put("first", "1");
  BOOST_TEST(is_durable());
  auto const before = log->leader(clock_now());
  BOOST_TEST_REQUIRE(before.has_value());
  BOOST_TEST((*before == core::snapshot::leadership{"a:1", 7, 0, 0, {}}));

  server.judge = [](auto, auto path) { return fate{.is_held = path.ends_with("/Txn")}; };
  put("a", "1");
  auto const since = clock_now();
  BOOST_TEST(log->synchronize(clock_now(), true).ok());
  put("b", "2");
  auto const lagging = log->leader(since + 5s);
  BOOST_TEST(lagging->lag_entries == 2u);
  BOOST_TEST(lagging->lag_bytes > 2 * batch_head_bytes);
  BOOST_TEST((lagging->lag >= 5s && lagging->lag < 6s));
  server.judge = {};
  server.release();

  BOOST_TEST(is_durable());
  BOOST_TEST(log->leader(clock_now())->lag_entries == 0u);
}

BOOST_AUTO_TEST_CASE(a_long_batch_is_cut_into_entries) {
  std::string const large(3 * etcd::value_bytes_max, 'x');
  follow();
  put("large", large);
  BOOST_TEST(is_durable());
  put("after", "1");
  BOOST_TEST(is_durable());
  BOOST_TEST(follows());

  auto const taken = standby->take(clock_now());
  BOOST_TEST((value(taken->logic, "large") == large));
  BOOST_TEST(value(taken->logic, "after") == "1");
}

BOOST_AUTO_TEST_CASE(a_batch_that_its_leader_did_not_complete_is_dropped) {
  put("a", "1");
  BOOST_TEST(is_durable());
  // The first two entries of four get there.
  int left = 2;
  server.judge = [&](auto, auto path) {
    bool const is_held = path.ends_with("/Txn") && left-- <= 0;
    return fate{.is_held = is_held};
  };
  auto const before = log->writer()->last();
  put("large", std::string(4 * etcd::value_bytes_max, 'x'));
  BOOST_TEST(log->synchronize(clock_now(), true).ok());
  BOOST_TEST(run_until(io, [&] { return log->writer()->durable() == before + 2 && left == -2; }));
  server.judge = {};
  log->fail({errc::aborted, "it dies"});
  BOOST_TEST(run(io, etcd::depose(by, keys, revision, soon())) == status{});
  server.release();
  follow();
  BOOST_TEST(run_until(io, [&] { return standby->end().entry == before + 2; }));

  auto const from = standby->end();
  has_session = false;
  requests = 0;
  lead(standby->take(clock_now()), from);
  put("b", "2");
  BOOST_TEST(is_durable());
  following->stop();
  follow();
  BOOST_TEST(follows());
  auto const taken = standby->take(clock_now());
  BOOST_TEST_REQUIRE(taken.has_value());
  BOOST_TEST(value(taken->logic, "a") == "1");
  BOOST_TEST(value(taken->logic, "large") == "none");
  BOOST_TEST(value(taken->logic, "b") == "2");
}

BOOST_AUTO_TEST_CASE(a_standby_begins_with_the_snapshot) {
  put("a", "1");
  BOOST_TEST(log->write_snapshot(leader->logic(), false) == status{});
  status outcome;
  BOOST_TEST(run_until(io, [&] { return log->finish_snapshot(outcome); }));
  BOOST_TEST(outcome == status{});
  put("b", "2");
  BOOST_TEST(is_durable());
  follow();
  BOOST_TEST(follows());

  BOOST_TEST(!server.value(keys.latest_snapshot()).empty());
  BOOST_TEST(standby->take(clock_now())->logic.digest() == leader->logic().digest());
}

BOOST_AUTO_TEST_CASE(damage_is_found) {
  put("a", "1");
  BOOST_TEST(is_durable());
  auto const other = etcd_journal::make(by, keys, revision, {1, log->writer()->last(), 7, 8, {}});
  other->append({.kind = wire::record_kind::advanced});
  BOOST_TEST(other->commit().ok());
  BOOST_TEST(run_until(
      io, [&] { return other->synchronize(clock_now(), true).ok() && other->durable() == 1; }));
  follow();

  BOOST_TEST(run_until(io, [&] { return !standby->failure().ok(); }));
  BOOST_TEST(standby->failure().code() == errc::data_loss);
}

BOOST_AUTO_TEST_CASE(a_standby_with_other_options_is_refused) {
  put("a", "1");
  BOOST_TEST(is_durable());
  o.core.num_tasks = 3;
  follow();

  BOOST_TEST(run_until(io, [&] { return !standby->failure().ok(); }));
  BOOST_TEST(standby->failure().code() == errc::invalid_argument);
}

BOOST_AUTO_TEST_CASE(the_end_of_a_job_that_was_followed_is_distinguished_from_an_old_job) {
  follow();
  put("a", "1");
  BOOST_TEST(is_durable());
  BOOST_TEST(follows());
  BOOST_TEST(!standby->has_seen_the_end());
  BOOST_TEST(leader->put_in(clock_now(), core::stopped{"enough"}).ok());
  BOOST_TEST(leader->commit().ok());
  BOOST_TEST(is_durable());
  BOOST_TEST(follows());
  BOOST_TEST(run_until(io, [&] { return standby->has_seen_the_end(); }));
  BOOST_TEST(standby->why_over() == "was stopped");

  following->stop();
  BOOST_TEST(run(io, etcd::depose(by, keys, revision, soon())) == status{});
  follow();
  BOOST_TEST(run_until(io, [&] { return standby->position() > 0; }));
  BOOST_TEST(!standby->has_seen_the_end());
  BOOST_TEST(standby->why_over() == "was stopped");
}

BOOST_AUTO_TEST_CASE(a_leader_without_its_lease_writes_nothing_more) {
  auto const leads = lead_on();
  put("a", "1");
  BOOST_TEST(is_durable());
  server.revoke(alive->id());

  BOOST_TEST(run_until(io, [&] { return !log->failure().ok(); }));
  BOOST_TEST(log->failure().code() == errc::aborted);
  leads->abandon();
}

BOOST_AUTO_TEST_CASE(a_leader_that_etcd_does_not_confirm_stops_in_time) {
  auto const leads = lead_on();
  server.is_silent = {true, true, true};
  auto const since = clock_now();

  BOOST_TEST(run_until(io, [&] { return !log->failure().ok(); }));
  BOOST_TEST(log->failure().code() == errc::unavailable);
  BOOST_TEST((clock_now() - since < 4s));
  leads->abandon();
}

BOOST_AUTO_TEST_CASE(a_leader_reports_that_etcd_is_full) {
  auto const leads = lead_on();
  put("first", "1");
  BOOST_TEST(is_durable());
  bool is_full = true;
  server.judge = [&](auto, auto path) {
    fate made;
    if (path.ends_with("/Txn") && is_full) {
      made.applies = false;
      made.error = {errc::resource_exhausted, "etcdserver: mvcc: database space exceeded"};
    }
    return made;
  };
  put("a", "1");
  static_cast<void>(log->synchronize(clock_now(), true));
  BOOST_TEST(run_until(io, [&] { return received.find("space exceeded") != std::string::npos; }));
  is_full = false;

  BOOST_TEST(is_durable());
  BOOST_TEST(run_until(io, [&] { return received.find("again") != std::string::npos; }));
  leads->abandon();
}

BOOST_AUTO_TEST_CASE(a_leader_resigns_after_its_last_input) {
  auto const leads = lead_on();
  put("a", "1");
  auto resign = [](std::shared_ptr<leadership> one) -> asio::awaitable<bool> {
    co_await leadership::resign(std::move(one), soon());
    co_return true;
  };
  BOOST_TEST(run(io, resign(leads)));

  BOOST_TEST(!server.has(keys.leader()));
  BOOST_TEST(log->durable() == log->committed());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::server
