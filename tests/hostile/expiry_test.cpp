// Many calls expire at once, or are completed by the loss of one task: the coordinator keeps
// serving other clients, and its memory stays within its limit.

#include "tests/hostile/attack.hpp"
#include "tests/hostile/coordinator_process.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::hostile {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t MiB = 1024 * 1024;
constexpr std::size_t limit = 512 * MiB;
constexpr std::size_t beside_limit = 64 * MiB;
constexpr std::uint32_t sessions = 8;
constexpr duration wait_max = 100ms;
constexpr int attempts = 5;  // other load of the machine disturbs, too

// Each session acts for its part of the tasks: they join, and then each has one call. A last
// message follows in the first session, if there is one.
template <class Call>
std::vector<attacker> sessions_of(std::uint32_t tasks, Call call, bool ends_a_task = false) {
  std::vector<attacker> all;
  std::uint32_t const own = tasks / sessions;
  for (std::uint32_t i = 0; i < sessions; ++i) {
    attacker one;
    one.role = "worker";
    one.most = 2 * own + (ends_a_task && i == 0 ? 1 : 0);
    one.next = [i, own, call](std::uint64_t n) -> core::client_message {
      auto const k = static_cast<std::uint32_t>(n - 1);
      task_id const task{i * own + k % own};
      if (k == 2 * own) return {request_id{n}, 0, task, core::leave_args{}};
      if (k < own) return {request_id{n}, 0, task, core::join_args{incarnation{task.value + 1U}}};
      return {request_id{n}, 0, task, call(task)};
    };
    all.push_back(std::move(one));
  }
  return all;
}

double in_ms(duration d) { return std::chrono::duration<double, std::milli>{d}.count(); }

// Until all this is over, another client is answered in time. `make` returns the attackers, and
// when their calls are over at the earliest.
template <class Make>
void expect_answers(std::uint32_t tasks, double calls, Make make) {
  duration longest = duration::max();
  for (int i = 0; i < attempts && longest >= wait_max; ++i) {
    coordinator_process target{
        tasks, {"--memory-max", "512MiB", "--no-join-barrier", "--no-leave-barrier"}};
    auto const [attackers, over] = make();
    attack attack{target.address(), attackers};
    longest = {};
    int probes = 0;
    while (clock::now() < over || target.metric("coxswain_received_messages_total") < calls) {
      longest = std::max(longest, target.ask_livez());
      ++probes;
    }
    auto const quiet_at = clock::now() + 1s;
    while (clock::now() < quiet_at) longest = std::max(longest, target.ask_livez());
    auto const resident = target.resident_bytes_max();
    BOOST_TEST_MESSAGE(probes << " probes, the longest took " << in_ms(longest) << " ms; "
                              << resident / MiB << " MiB were resident; the longest iteration took "
                              << 1000 * target.metric("coxswain_loop_iteration_max_seconds")
                              << " ms");
    BOOST_TEST(resident < limit + beside_limit);
    BOOST_TEST(attack.goes_on());
  }
  BOOST_TEST((longest < wait_max), "another client waited for " << in_ms(longest) << " ms");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(expiry)

// They once stalled the coordinator for 0.9 to 2.3 s.
BOOST_AUTO_TEST_CASE(barriers_that_expire_together_do_not_delay_others) {
  constexpr std::uint32_t tasks = 5'000;
  expect_answers(tasks, 2 * tasks, [] {
    auto const expires = clock::now() + 6s;
    auto const call = [expires](task_id task) {
      return core::barrier_args{.name = std::to_string(task.value),
                                .timeout = expires - clock::now()};
    };
    return std::pair{sessions_of(tasks, call), expires + 2s};
  });
}

// Each in a set of its own with task 0, which does not ask and leaves.
BOOST_AUTO_TEST_CASE(alive_queries_that_a_loss_completes_do_not_delay_others) {
  constexpr std::uint32_t tasks = 3'000;
  expect_answers(tasks, 2 * tasks + 1, [] {
    auto const call = [](task_id task) -> core::request {
      if (task == task_id{}) return core::try_get_args{"none"};
      return core::alive_args{{task_id{}, task}, 300s};
    };
    return std::pair{sessions_of(tasks, call, true), clock::now() + 2s};
  });
}

BOOST_AUTO_TEST_CASE(alive_queries_of_all_tasks_do_not_delay_others) {
  constexpr std::uint32_t tasks = 3'000;
  expect_answers(tasks, 2 * tasks, [] {
    auto const call = [](task_id) { return core::alive_args{{}, 300s}; };
    return std::pair{sessions_of(tasks, call), clock::now() + 2s};
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::hostile
