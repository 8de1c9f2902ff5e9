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

std::string text(std::vector<ticket> const& tickets) {
  std::string all;
  for (auto const& t : tickets) all += (all.empty() ? "" : " ") + std::to_string(t.request.value);
  return all;
}

std::string text(std::vector<bytes> const& data) {
  std::string all;
  for (auto const& d : data) all.append("[").append(d.view()).append("]");
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

BOOST_AUTO_TEST_CASE(a_meeting_is_complete_when_everybody_has_arrived) {
  meeting m;
  BOOST_TEST(!m.is_open());
  m.open(all(3), start);

  m.arrive(task_id{1}, with_ticket(11));
  m.arrive(task_id{0}, with_ticket(10));
  BOOST_TEST(!m.complete());
  BOOST_TEST(m.arrived() == 2u);
  BOOST_TEST(text(m.missing()) == "2");
  m.arrive(task_id{2}, with_ticket(12));

  BOOST_TEST(m.complete());
  BOOST_TEST(text(m.missing()) == "");
  BOOST_TEST(text(m.in_order()) == "1 0 2");
  BOOST_TEST(text(m.tickets()) == "11 10 12");
  BOOST_TEST((m.opened() == start));
}

BOOST_AUTO_TEST_CASE(a_meeting_of_a_subset_knows_who_is_missing) {
  meeting m;
  m.open(some({4, 7, 9}), start);

  m.arrive(task_id{7}, with_ticket(1));

  BOOST_TEST(text(m.missing()) == "4 9");
  BOOST_TEST(m.arrival_of(task_id{7}) != nullptr);
  BOOST_TEST(m.arrival_of(task_id{4}) == nullptr);
  BOOST_TEST(m.arrival_of(task_id{5}) == nullptr);
}

BOOST_AUTO_TEST_CASE(a_second_arrival_takes_the_place_of_the_first_and_counts_once) {
  meeting m;
  m.open(all(3), start);
  m.arrive(task_id{0}, with_ticket(1, 10s, "old"));
  m.arrive(task_id{1}, with_ticket(2, 30s, "x"));

  auto const older = m.arrive(task_id{0}, with_ticket(3, 20s, "newer"));

  BOOST_TEST_REQUIRE(older.has_value());
  BOOST_TEST((older->request == request_id{1}));
  BOOST_TEST(m.arrived() == 2u);
  BOOST_TEST(m.gathered_bytes() == 6u);
  BOOST_TEST((m.deadline() == start + 20s));
  BOOST_TEST(text(m.tickets()) == "2 3");
}

BOOST_AUTO_TEST_CASE(a_cancelled_arrival_is_missing_again) {
  meeting m;
  m.open(all(3), start);
  m.arrive(task_id{0}, with_ticket(1));
  m.arrive(task_id{1}, with_ticket(2, 30s, "abc"));

  m.cancel(task_id{1});
  m.cancel(task_id{1});
  m.cancel(task_id{2});
  m.cancel(task_id{9});

  BOOST_TEST(m.arrived() == 1u);
  BOOST_TEST(m.gathered_bytes() == 0u);
  BOOST_TEST(text(m.missing()) == "1 2");
  m.arrive(task_id{1}, with_ticket(3));
  BOOST_TEST(text(m.tickets()) == "1 3");
}

BOOST_AUTO_TEST_CASE(the_deadline_is_the_earliest_of_those_who_are_there) {
  meeting m;
  m.open(all(4), start);
  BOOST_TEST((m.deadline() == time_point::max()));
  m.arrive(task_id{0}, with_ticket(1, without_limit));
  BOOST_TEST((m.deadline() == time_point::max()));
  m.arrive(task_id{1}, with_ticket(2, 30s));
  m.arrive(task_id{2}, with_ticket(3, 10s));
  m.arrive(task_id{3}, with_ticket(4, 20s));
  BOOST_TEST((m.deadline() == start + 10s));

  m.cancel(task_id{2});
  BOOST_TEST((m.deadline() == start + 20s));
  m.cancel(task_id{1});
  m.cancel(task_id{3});

  BOOST_TEST((m.deadline() == time_point::max()));
}

BOOST_AUTO_TEST_CASE(data_is_gathered_in_task_order_whatever_the_order_of_arrival) {
  meeting m;
  m.open(some({3, 5, 8}), start);
  m.arrive(task_id{8}, with_ticket(1, 30s, "eight"));
  m.arrive(task_id{3}, with_ticket(2, 30s, ""));
  m.arrive(task_id{5}, with_ticket(3, 30s, "five"));

  BOOST_TEST(text(m.gathered()) == "[][five][eight]");
  BOOST_TEST(m.gathered_bytes() == 9u);
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
