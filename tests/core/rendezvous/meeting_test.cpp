#include "coxswain/core/rendezvous/meeting.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace coxswain::core {
namespace {

constexpr time_point start{1h};

task_set_ptr all(std::uint32_t n) { return boost::make_local_shared<task_set const>(n); }

task_set_ptr some(std::vector<std::uint32_t> const& numbers) {
  std::vector<task_id> tasks;
  for (auto const n : numbers) tasks.push_back(task_id{n});
  return boost::make_local_shared<task_set const>(std::move(tasks));
}

meeting::arrival with_ticket(std::uint64_t number, duration timeout = 30s, std::string data = {}) {
  meeting::arrival a;
  a.who = {session_id{1}, request_id{number}};
  a.deadline = deadline_after(start, timeout);
  a.data = bytes{std::move(data)};
  return a;
}

std::string text(std::vector<task_id> const& tasks) {
  std::string all;
  for (auto const t : tasks) all += (all.empty() ? "" : " ") + std::to_string(t.value);
  return all;
}

BOOST_AUTO_TEST_SUITE(meeting_test)

BOOST_AUTO_TEST_CASE(a_set_of_all_tasks_has_every_task_at_its_own_index) {
  auto const set = all(3);

  BOOST_TEST(set->size() == 3u);
  BOOST_TEST((set->at(2) == task_id{2}));
  BOOST_TEST(set->index_of(task_id{2}).value() == 2u);
  BOOST_TEST(!set->index_of(task_id{3}).has_value());
}

BOOST_AUTO_TEST_CASE(a_listed_set_finds_its_tasks_and_no_others) {
  auto const set = some({2, 5, 9});

  BOOST_TEST(set->size() == 3u);
  BOOST_TEST((set->at(1) == task_id{5}));
  BOOST_TEST(set->index_of(task_id{9}).value() == 2u);
  for (std::uint32_t const other : {0u, 3u, 4u, 6u, 10u}) {
    BOOST_TEST(!set->index_of(task_id{other}).has_value());
  }
  BOOST_TEST((*set == *some({2, 5, 9})));
  BOOST_TEST((*set != *some({2, 5, 8})));
  BOOST_TEST((*set != *all(3)));
}

BOOST_AUTO_TEST_CASE(a_closed_meeting_has_forgotten_everything_and_may_open_again) {
  meeting m;
  m.open(all(2), start);
  m.arrive(task_id{0}, with_ticket(1, 1s, "data"));
  m.close();
  BOOST_TEST(!m.is_open());

  m.open(all(3), start + 5s);

  BOOST_TEST(m.arrived() == 0u);
  BOOST_TEST(m.gathered_bytes() == 0u);
  BOOST_TEST(text(m.missing()) == "0 1 2");
  BOOST_TEST((m.opened() == start + 5s));
  BOOST_TEST((m.deadline() == time_point::max()));
}

BOOST_AUTO_TEST_CASE(the_data_of_a_closed_meeting_is_freed) {
  auto const memory = make_meter(1000);
  meeting m;
  m.open(all(2), start);
  meeting::arrival a = with_ticket(1);
  a.data = bytes{"12345", memory};
  m.arrive(task_id{0}, std::move(a));
  BOOST_TEST(memory->used() == 5u);

  m.close();

  BOOST_TEST(memory->used() == 0u);
}

// Compares with a list of the arrived tasks.
BOOST_AUTO_TEST_CASE(a_thousand_random_comings_and_goings_agree_with_a_list) {
  constexpr std::uint64_t seed = 2;
  BOOST_TEST_CONTEXT("seed " << seed) {
    std::mt19937_64 random{seed};
    struct here {
      task_id task;
      std::uint64_t number;
      duration timeout;
    };
    meeting m;
    m.open(all(200), start);
    std::vector<here> model;
    for (std::uint64_t step = 1; step <= 5000; ++step) {
      task_id const t{static_cast<std::uint32_t>(random() % 200)};
      std::erase_if(model, [&](here const& h) { return h.task == t; });
      if (random() % 2 == 0) {
        duration const timeout = std::chrono::seconds{random() % 50};
        m.arrive(t, with_ticket(step, timeout));
        model.push_back({t, step, timeout});
      } else {
        m.cancel(t);
      }
      BOOST_TEST_REQUIRE(m.arrived() == model.size());
      if (step % 10 != 0) continue;
      std::vector<task_id> tasks;
      std::vector<ticket> tickets;
      time_point earliest = time_point::max();
      for (auto const& h : model) {
        tasks.push_back(h.task);
        tickets.push_back({session_id{1}, request_id{h.number}});
        earliest = std::min(earliest, start + h.timeout);
      }
      BOOST_TEST_REQUIRE((m.in_order() == tasks));
      BOOST_TEST_REQUIRE((m.tickets() == tickets));
      BOOST_TEST_REQUIRE((m.deadline() == earliest));
      BOOST_TEST_REQUIRE(m.missing().size() == 200 - model.size());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::core
