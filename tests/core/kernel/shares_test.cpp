// How much of the core's memory each kind of session may hold.

#include "coxswain/core/kernel/shares.hpp"

#include "tests/core/cluster.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace coxswain::test {
namespace {

using core::share;
using core::share_kind;

constexpr std::size_t limit = 4'000'000;
constexpr std::size_t owned_max = 3'000'000;

std::string text_of(status const& why) { return why.ok() ? "OK" : why.message(); }

cluster tasks_and_readers(std::uint32_t tasks) {
  return cluster{tasks, core::config{.memory_bytes_max = limit}};
}

BOOST_AUTO_TEST_SUITE(shares_test)

BOOST_AUTO_TEST_CASE(a_session_may_hold_its_share_and_always_one_object) {
  memory_meter const memory{limit};
  core::shares all;
  share mine;
  BOOST_TEST(core::shares::own_room(mine, limit, memory).ok());

  all.add(mine, owned_max / 32);
  BOOST_TEST(core::shares::own_room(mine, 0, memory).ok());
  expect_words(text_of(core::shares::own_room(mine, 1, memory)),
               {"a session without a task", "93750 bytes", "1/32", "memory_bytes_max (4000000)",
                "this one holds 93750", "wait for replies"});
  all.move(mine, share_kind::task);
  BOOST_TEST(core::shares::own_room(mine, owned_max / 4 - mine.held, memory).ok());
  expect_words(text_of(core::shares::own_room(mine, owned_max / 4 - mine.held + 1, memory)),
               {"a session with tasks", "750000 bytes", "1/4"});
}

BOOST_AUTO_TEST_CASE(the_share_of_a_kind_is_limited_in_total) {
  memory_meter const memory{limit};
  core::shares all;
  share reader;
  share observer;
  share task;
  all.move(reader, share_kind::reader);
  all.move(task, share_kind::task);
  all.add(reader, owned_max / 8);
  all.add(task, owned_max);

  BOOST_TEST(all.common_room(reader, 0, memory).ok());
  expect_words(text_of(all.common_room(reader, 1, memory)),
               {"all readers together", "375000 bytes", "1/8", "they hold 375000"});
  BOOST_TEST(all.common_room(observer, 1, memory).ok());
  BOOST_TEST(all.common_room(task, 1, memory).ok());
  all.move(reader, share_kind::observer);
  expect_words(text_of(all.common_room(observer, 1, memory)), {"all sessions without a task"});
  all.subtract(reader, owned_max / 8);
  BOOST_TEST(all.common_room(observer, 1, memory).ok());
}

BOOST_AUTO_TEST_CASE(parked_gets_of_observers_do_not_starve_barriers) {
  cluster c = tasks_and_readers(2);
  std::vector<int> observers;
  for (int i = 0; i < 8; ++i) observers.push_back(c.observer());
  std::size_t refused = 0;
  for (int i = 0; i < 200; ++i) {
    for (int const one : observers) {
      core::get_args get{std::string(3'900, 'k') + std::to_string(i)};
      get.timeout = without_limit;
      refused += c.code(c.send(one, get)) == "RESOURCE_EXHAUSTED" ? 1 : 0;
    }
  }

  BOOST_TEST(refused > 1'000u);
  BOOST_TEST(c.look().memory_bytes <= owned_max / 8 + 10'000);
  for (int round = 0; round < 20; ++round) {
    auto const first = c.barrier(0, "b");
    auto const second = c.barrier(1, "b");
    BOOST_TEST(c.code(first) == "OK");
    BOOST_TEST(c.code(second) == "OK");
  }
  BOOST_TEST(c.code(c.put(0, "k", "v")) == "OK");
}

BOOST_AUTO_TEST_CASE(open_rounds_count_against_the_share_of_their_task) {
  cluster c{
      1'000,
      core::config{.join_barrier = false, .memory_bytes_max = limit, .open_requests_max = 100'000}};
  auto const before = c.look().memory_bytes;
  std::size_t opened = 0;
  std::string last;
  while (last.empty()) {
    auto const one = c.barrier(0, "b" + std::to_string(opened));
    if (c.code(one) == "waits") {
      ++opened;
    } else {
      last = c.code(one) + " " + c.text(one);
    }
  }

  // Each has room for an arrival of every task.
  BOOST_TEST(opened < owned_max / 4 / 50'000);
  expect_words(last, {"RESOURCE_EXHAUSTED", "a session with tasks", "open rounds"});
  BOOST_TEST(c.look().memory_bytes >= before + opened * 50'000);
  BOOST_TEST(c.code(c.barrier(1, "other")) == "waits");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
