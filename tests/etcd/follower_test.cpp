// A standby sees the state and all changes, whatever happens to its watch.

#include "coxswain/etcd/follower.hpp"

#include "coxswain/etcd/log_writer.hpp"
#include "tests/etcd/fake_etcd.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::etcd {
namespace {

using test::fake_etcd;
using test::run;
using test::run_until;
using test::soon;

// What a standby would know.
struct witness final : follower_events {
  void begins(job_state from) override {
    head = std::move(from.head);
    snapshot = std::move(from.snapshot);
    entries.assign(from.number, "");
    ++beginnings;
  }
  void entry(std::uint64_t number, std::string_view content) override {
    entries.emplace_back(content);
    BOOST_TEST(number == entries.size());
  }
  void is_at(std::int64_t at, leader const& now, std::uint64_t number) override {
    revision = at;
    who = now;
    term = number;
  }
  void trouble(status const&) override { ++troubles; }

  std::string head;
  std::string snapshot;
  std::vector<std::string> entries;
  std::int64_t revision{};
  leader who;
  std::uint64_t term{};
  int beginnings{};
  int troubles{};
};

struct standby_and_leader {
  standby_and_leader() {
    auto const won = run(io, campaign(by, keys, "a:1", 0, soon()));
    revision = won.who.revision;
    writer = std::make_shared<log_writer>(by, keys, revision, 1, 0, [] {});
    BOOST_TEST(run(io, log_writer::begin(writer, "head")) == status{});
  }
  ~standby_and_leader() {
    writer->stop();
    standby->stop();
    io.restart();
    io.poll();
  }

  void follow() {
    auto loop = follower::run(standby);
    asio::co_spawn(io, std::move(loop), asio::detached);
  }

  void append(std::string what) {
    auto const number = writer->last() + 1;
    writer->append(std::move(what));
    BOOST_TEST_REQUIRE(run_until(io, [&] { return writer->durable() == number; }));
  }

  bool sees(std::size_t entries) {
    return run_until(io, [&] { return seen.entries.size() == entries; });
  }

  asio::io_context io;
  fake_etcd server{io};
  std::shared_ptr<client> by{server.make_client(100ms)};
  std::shared_ptr<client> by_standby{server.make_client(100ms)};
  job_keys keys{"job"};
  std::int64_t revision{};
  std::shared_ptr<log_writer> writer;
  witness seen;
  std::shared_ptr<follower> standby{std::make_shared<follower>(by_standby, keys, seen)};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(follower_test, standby_and_leader)

BOOST_AUTO_TEST_CASE(it_sees_what_is_there_and_what_comes) {
  for (int i = 0; i < 20; ++i) append(std::to_string(i));
  follow();
  BOOST_TEST(sees(20));
  append("next");

  BOOST_TEST(sees(21));
  BOOST_TEST(seen.head == "head");
  BOOST_TEST(seen.who.address == "a:1");
  BOOST_TEST(seen.term == 1u);
  BOOST_TEST(seen.beginnings == 1);
}

BOOST_AUTO_TEST_CASE(it_begins_with_the_snapshot) {
  for (int i = 0; i < 5; ++i) append("x");
  std::string const state(2 * value_bytes_max + 5, 's');
  BOOST_TEST(run(io, log_writer::write_snapshot(writer, 3, state)) == status{});
  follow();

  BOOST_TEST(sees(5));
  BOOST_TEST((seen.snapshot == state));
  BOOST_TEST(seen.entries[3] == "x");
}

BOOST_AUTO_TEST_CASE(it_sees_the_leader_go_and_another_one_come) {
  follow();
  BOOST_TEST(run_until(io, [&] { return seen.who.address == "a:1"; }));
  BOOST_TEST(run(io, depose(by, keys, revision, soon())) == status{});
  BOOST_TEST(run_until(io, [&] { return seen.who.revision == 0; }));
  auto const won = run(io, campaign(by, keys, "b:1", 0, soon()));

  BOOST_TEST(run_until(io, [&] { return seen.revision >= won.who.revision; }));
  BOOST_TEST(seen.who.address == "b:1");
  BOOST_TEST(seen.term == 2u);
}

BOOST_AUTO_TEST_CASE(a_cut_watch_goes_on_at_another_member_without_a_gap) {
  follow();
  append("one");
  BOOST_TEST(sees(1));
  for (std::size_t i = 0; i < 3; ++i) server.cut_streams(i);
  append("two");
  append("three");

  BOOST_TEST(sees(3));
  BOOST_TEST(seen.beginnings == 1);
}

BOOST_AUTO_TEST_CASE(a_member_that_says_nothing_is_left) {
  follow();
  append("one");
  BOOST_TEST(sees(1));
  server.is_silent[by_standby->member()] = true;
  standby->change_member();
  append("two");

  BOOST_TEST(sees(2));
}

BOOST_AUTO_TEST_CASE(after_a_compaction_that_it_has_missed_it_reads_the_snapshot) {
  follow();
  append("one");
  BOOST_TEST(sees(1));
  auto const member = by_standby->member();
  server.is_silent[member] = true;
  for (int i = 0; i < 10; ++i) append("x");
  BOOST_TEST(run(io, log_writer::write_snapshot(writer, 11, "state")) == status{});
  server.compact(server.revision());
  server.is_silent[member] = false;
  standby->change_member();
  append("last");

  BOOST_TEST(run_until(io, [&] { return seen.entries.size() == 12 && seen.beginnings == 2; }));
  BOOST_TEST(seen.snapshot == "state");
}

BOOST_AUTO_TEST_CASE(a_new_job_begins_from_nothing) {
  append("old");
  follow();
  BOOST_TEST(sees(1));
  BOOST_TEST(run(io, log_writer::begin(writer, "another")) == status{});
  append("new");

  BOOST_TEST(run_until(io, [&] { return seen.head == "another" && seen.entries.size() == 1; }));
  BOOST_TEST(seen.entries[0] == "new");
}

BOOST_AUTO_TEST_CASE(what_a_standby_lacks_is_counted) {
  append("a");
  append("b");
  append("c");

  BOOST_TEST(run(io, count_entries_after(by_standby, keys, 0, soon())).value() == 3u);
  BOOST_TEST(run(io, count_entries_after(by_standby, keys, 2, soon())).value() == 1u);
  BOOST_TEST(run(io, count_entries_after(by_standby, keys, 3, soon())).value() == 0u);
  server.is_silent = {true, true, true};
  BOOST_TEST(!run(io, count_entries_after(by_standby, keys, 3, std::chrono::steady_clock::now()))
                  .has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::etcd
