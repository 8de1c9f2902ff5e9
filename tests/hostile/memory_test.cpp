// Hostile clients use as much memory as they can: the process stays within the limit plus 64 MiB,
// and the job beside them continues.

#include "coxswain/wire/frame.hpp"
#include "tests/hostile/attack.hpp"
#include "tests/hostile/coordinator_process.hpp"
#include "tests/hostile/quiet_job.hpp"
#include "tests/hostile/undisturbed.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::hostile {
namespace {

constexpr std::size_t MiB = 1024 * 1024;
constexpr std::size_t limit = 64 * MiB;
constexpr std::size_t beside_limit = 64 * MiB;
constexpr std::size_t hostile_readers = 6;
std::vector<std::string> const with_limit{"--memory-max", "64MiB"};

void expect_bounded(coordinator_process& coordinator) {
  std::size_t const most = coordinator.resident_bytes_max();
  BOOST_TEST_MESSAGE("at most " << most / MiB << " MiB were resident");
  BOOST_TEST(most < limit + beside_limit);
  BOOST_TEST(coordinator.is_running());
}

// The job's barriers continue: none is refused, and no task loses its connection.
void expect_job_goes_on(coordinator_process& coordinator, std::vector<attacker> const& by) {
  attack const attackers{coordinator.address(), by};
  quiet_job job{coordinator.address(), job_tasks};
  latencies const beside = job.measure(2s);
  auto const longest = std::chrono::duration<double, std::milli>{beside.max}.count();
  BOOST_TEST_MESSAGE(beside.count << " barriers; the longest took " << longest << " ms");
  BOOST_TEST(job.reconnects() == 0U);
  expect_bounded(coordinator);
}

std::string announced(std::size_t bytes) {
  auto const prefix = wire::length_prefix(bytes);
  return {prefix.begin(), prefix.end()};
}

// Announces this many bytes, sends nearly all of them, and stays connected.
attacker large_frame(std::string role, std::size_t bytes) {
  constexpr std::size_t piece = 60'000;
  attacker one;
  one.role = std::move(role);
  one.first = announced(bytes);
  one.next = [](std::uint64_t n) {
    return numbered(n, core::put_args{"k", std::string(piece, 'v')});
  };
  one.most = bytes / piece - 1;
  one.returns = true;
  return one;
}

attacker reader_of(core::request what) {
  attacker one;
  one.next = [what](std::uint64_t n) { return numbered(n, what); };
  one.reads = false;
  one.returns = true;
  return one;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(memory)

// The first once took 2 GB.
BOOST_AUTO_TEST_CASE(unfinished_large_frames_stay_within_memory) {
  using many = std::vector<attacker>;
  for (auto const& by : {many{hostile_readers, large_frame("reader", 1024 * MiB)},
                         many{20, large_frame("worker", 12 * MiB)}}) {
    coordinator_process coordinator{job_tasks, with_limit};
    expect_job_goes_on(coordinator, by);
  }
}

// Such gets once made the barriers of all tasks fail with RESOURCE_EXHAUSTED.
BOOST_AUTO_TEST_CASE(waiting_gets_of_readers_stay_within_memory) {
  coordinator_process coordinator{job_tasks, with_limit};
  attacker one;
  one.next = [](std::uint64_t n) {
    core::get_args get{std::string(4'000, 'k') + std::to_string(n)};
    get.timeout = without_limit;
    return numbered(n, std::move(get));
  };

  expect_job_goes_on(coordinator, {hostile_readers, one});
}

BOOST_AUTO_TEST_CASE(unread_replies_stay_within_memory) {
  core::get_all_args all;
  for (int i = 0; i < 4'000; ++i) all.keys.push_back("d/" + std::to_string(i));
  for (core::request const& what : {core::request{all}, core::request{core::inspect_args{}}}) {
    coordinator_process coordinator{job_tasks, with_limit};
    put_keys(coordinator.address(), "d", 4'000, std::string(1'000, 'v'));
    expect_job_goes_on(coordinator, {50, reader_of(what)});
  }
}

// 70 KB of such requests once took 1.6 GB.
BOOST_AUTO_TEST_CASE(incomplete_rounds_of_many_tasks_stay_within_memory) {
  coordinator_process coordinator{10'000, {"--memory-max", "64MiB", "--no-join-barrier"}};
  std::vector<attacker> all;
  for (std::uint32_t i = 0; i < hostile_readers; ++i) {
    attacker one;
    one.role = "worker";
    one.most = 4'000;
    one.next = [i](std::uint64_t n) -> core::client_message {
      if (n == 1) return {request_id{1}, 0, task_id{i}, core::join_args{incarnation{i + 1U}}};
      core::barrier_args barrier{.name = std::to_string(i) + '/' + std::to_string(n)};
      return {request_id{n}, 0, task_id{i}, std::move(barrier)};
    };
    all.push_back(std::move(one));
  }
  attack attackers{coordinator.address(), all};

  auto const sent = static_cast<double>(hostile_readers * (all.front().most + 1));
  while (coordinator.metric("coxswain_received_messages_total") < sent) {
    BOOST_TEST_REQUIRE(attackers.goes_on());
  }
  expect_bounded(coordinator);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::hostile
