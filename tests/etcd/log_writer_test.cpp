// Appends that survive whatever etcd replies.

#include "coxswain/etcd/log_writer.hpp"

#include "coxswain/etcd/election.hpp"
#include "tests/etcd/fake_etcd.hpp"

#include <boost/test/unit_test.hpp>

#include <random>

namespace coxswain::etcd {
namespace {

using test::fake_etcd;
using test::fate;
using test::run;
using test::run_until;
using test::soon;

constexpr std::string_view txn = "/etcdserverpb.KV/Txn";

// A leader with a log, and what was reported.
struct leader_with_log {
  leader_with_log() { writer = lead("a:1"); }
  ~leader_with_log() { writer->stop(); }

  std::shared_ptr<log_writer> lead(std::string address) {
    auto const won = run(io, campaign(by, keys, std::move(address), 0, soon()));
    BOOST_TEST_REQUIRE(won.is_won);
    revision = won.who.revision;
    return std::make_shared<log_writer>(by, keys, revision, 1, last, [this] { ++changes; });
  }

  void depose() { BOOST_TEST(run(io, etcd::depose(by, keys, revision, soon())) == status{}); }

  bool settles(std::uint64_t number) {
    return run_until(io, [&] { return writer->durable() >= number || !writer->failure().ok(); }) &&
           writer->failure().ok();
  }

  asio::io_context io;
  fake_etcd server{io};
  std::shared_ptr<client> by{server.make_client(50ms)};
  job_keys keys{"job"};
  std::int64_t revision{};
  std::uint64_t last{};
  int changes{};
  std::shared_ptr<log_writer> writer;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(log_writer_test, leader_with_log)

BOOST_AUTO_TEST_CASE(entries_are_numbered_and_durable_in_order) {
  writer->append("one");
  writer->append("two");
  BOOST_TEST(!writer->has_room());
  BOOST_TEST(settles(2));

  BOOST_TEST(server.value(keys.entry(1)) == "one");
  BOOST_TEST(server.value(keys.entry(2)) == "two");
  BOOST_TEST(changes == 2);
}

BOOST_AUTO_TEST_CASE(an_append_whose_reply_was_lost_has_one_effect) {
  int left = 3;
  server.judge = [&](auto, auto) { return fate{.answers = left-- <= 0}; };
  writer->append("one");
  BOOST_TEST(settles(1));

  BOOST_TEST(server.value(keys.entry(1)) == "one");
  BOOST_TEST(server.keys(keys.log_begin()).size() == 1u);
}

BOOST_AUTO_TEST_CASE(an_append_that_was_refused_but_applied_counts_once) {
  bool is_first = true;
  server.judge = [&](auto, auto) {
    return std::exchange(is_first, false)
               ? fate{.error = {errc::resource_exhausted,
                                "etcdserver: mvcc: database space exceeded"}}
               : fate{};
  };
  writer->append("one");

  BOOST_TEST(settles(1));
  BOOST_TEST(server.value(keys.entry(1)) == "one");
}

BOOST_AUTO_TEST_CASE(an_append_waits_while_the_database_is_full) {
  bool is_full = true;
  server.judge = [&](auto, auto) {
    fate made{.applies = !is_full};
    if (is_full) made.error = {errc::resource_exhausted, "mvcc: database space exceeded"};
    return made;
  };
  writer->append("one");
  BOOST_TEST(run_until(io, [&] { return server.calls(std::string{txn}) > 4; }));
  BOOST_TEST(writer->trouble().code() == errc::resource_exhausted);
  BOOST_TEST(writer->durable() == 0u);
  is_full = false;

  BOOST_TEST(settles(1));
  BOOST_TEST(writer->trouble() == status{});
}

BOOST_AUTO_TEST_CASE(an_append_that_overtakes_the_one_before_leaves_no_gap) {
  bool is_first = true;
  server.judge = [&](auto, auto) { return fate{.is_held = std::exchange(is_first, false)}; };
  writer->append("one");
  writer->append("two");
  // The first is repeated after its time limit.
  BOOST_TEST(settles(2));

  BOOST_TEST(server.value(keys.entry(2)) == "two");
  auto const before = server.revision();
  server.release();
  BOOST_TEST(server.revision() == before);
}

BOOST_AUTO_TEST_CASE(an_append_that_was_stalled_until_another_leads_changes_nothing) {
  server.judge = [](auto, auto path) { return fate{.is_held = path == txn}; };
  writer->append("old");
  BOOST_TEST(run_until(io, [&] { return server.calls(std::string{txn}) > 3; }));
  server.judge = {};
  writer->stop();
  depose();
  auto const other = lead("b:1");
  other->append("new");
  BOOST_TEST(run_until(io, [&] { return other->durable() == 1; }));
  server.release();

  BOOST_TEST(server.value(keys.entry(1)) == "new");
  other->stop();
}

BOOST_AUTO_TEST_CASE(a_deposed_leader_learns_it_from_its_next_append) {
  depose();
  writer->append("one");

  BOOST_TEST(!settles(1));
  BOOST_TEST(writer->failure().code() == errc::aborted);
  BOOST_TEST(server.keys(keys.log_begin()).empty());
}

BOOST_AUTO_TEST_CASE(a_leader_can_ask_whether_it_still_leads) {
  BOOST_TEST(run(io, log_writer::confirm(writer, soon())) == status{});
  depose();
  BOOST_TEST(run(io, log_writer::confirm(writer, soon())).code() == errc::aborted);
}

BOOST_AUTO_TEST_CASE(a_thousand_appends_over_failing_members_are_there_once_and_in_order) {
  std::mt19937 random{22};
  server.judge = [&](auto, auto) {
    auto const dice = random() % 10;
    fate made{.applies = dice != 0};
    if (dice < 2) made.error = {errc::unavailable, "etcdserver: request timed out"};
    return made;
  };
  for (int i = 1; i <= 1'000; ++i) {
    BOOST_TEST_REQUIRE(run_until(io, [&] { return writer->has_room(); }));
    writer->append(std::to_string(i));
  }
  BOOST_TEST(settles(1'000));

  auto const all = server.keys(keys.log_begin());
  BOOST_TEST(all.size() == 1'000u);
  for (std::uint64_t i = 1; i <= 1'000; ++i) {
    BOOST_TEST_REQUIRE(server.value(keys.entry(i)) == std::to_string(i));
  }
}

BOOST_AUTO_TEST_CASE(a_snapshot_replaces_older_entries_and_snapshots) {
  for (std::uint64_t i = 1; i <= 1'200; ++i) {
    BOOST_TEST_REQUIRE(run_until(io, [&] { return writer->has_room(); }));
    writer->append("x");
  }
  BOOST_TEST(settles(1'200));
  std::string const state(value_bytes_max + 5, 's');
  BOOST_TEST(run(io, log_writer::write_snapshot(writer, 1'100, state)) == status{});
  BOOST_TEST(server.value(keys.latest_snapshot()) == "1100 2");
  BOOST_TEST(server.keys(keys.log_begin()).size() == 101u);
  BOOST_TEST(run(io, log_writer::write_snapshot(writer, 1'200, "t")) == status{});

  BOOST_TEST(server.value(keys.latest_snapshot()) == "1200 1");
  BOOST_TEST(server.keys(keys.log_begin()).size() == 1u);
  BOOST_TEST(server.keys(keys.snapshots_begin()).size() == 2u);
  BOOST_TEST(server.calls("/etcdserverpb.KV/Compact") == 1);
  writer->append("after");
  BOOST_TEST(settles(1'201));
}

BOOST_AUTO_TEST_CASE(a_new_job_replaces_the_log) {
  writer->append("old");
  BOOST_TEST(settles(1));
  BOOST_TEST(run(io, log_writer::begin(writer, "head")) == status{});

  BOOST_TEST(server.value(keys.head()) == "head");
  BOOST_TEST(server.keys(keys.log_begin()).empty());
  writer->append("new");
  BOOST_TEST(settles(1));
  BOOST_TEST(server.value(keys.entry(1)) == "new");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::etcd
