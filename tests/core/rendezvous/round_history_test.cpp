#include "coxswain/core/rendezvous/round_history.hpp"

#include "tests/wire/live_bytes.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace coxswain::core {
namespace {

// A round in which this task came last, this long after the median.
snapshot::finished_round last_was(std::uint32_t task, duration lag = 1ms) {
  return {.lag = lag, .last_task = task_id{task}};
}

// "3 2/4 500ms/900ms": task 3 came last in 2 of 4 rounds, by the mean and the maximum.
std::vector<std::string> text(std::vector<snapshot::straggler> const& all) {
  std::vector<std::string> found;
  for (auto const& s : all) {
    found.push_back(std::to_string(s.task.value) + ' ' + std::to_string(s.times_last) + '/' +
                    std::to_string(s.of) + ' ' + std::to_string(s.lag_mean / 1ms) + "ms/" +
                    std::to_string(s.lag_max / 1ms) + "ms");
  }
  return found;
}

using texts = std::vector<std::string>;

BOOST_AUTO_TEST_SUITE(round_history_test)

BOOST_AUTO_TEST_CASE(without_a_round_there_is_no_history) {
  round_history const h;

  BOOST_TEST(h.added() == 0u);
  BOOST_TEST(h.all().empty());
  BOOST_TEST(h.stragglers().empty());
}

BOOST_AUTO_TEST_CASE(rounds_are_numbered_from_one_over_all_names) {
  round_history h;
  h.add("a", {});
  h.add("b", {});

  auto const all = h.all();

  BOOST_TEST_REQUIRE(all.size() == 2u);
  BOOST_TEST(all[0].number == 1u);
  BOOST_TEST(all[0].name == "a");
  BOOST_TEST(all[1].number == 2u);
  BOOST_TEST(all[1].name == "b");
}

BOOST_AUTO_TEST_CASE(the_last_256_rounds_are_kept_oldest_first) {
  round_history h;
  for (int i = 1; i <= 256; ++i) h.add(std::to_string(i), {});
  BOOST_TEST(h.all().front().number == 1u);
  BOOST_TEST(h.all().size() == 256u);
  for (int i = 257; i <= 600; ++i) h.add(std::to_string(i), {});

  auto const all = h.all();

  BOOST_TEST_REQUIRE(all.size() == 256u);
  for (std::size_t i = 0; i < all.size(); ++i) {
    BOOST_TEST(all[i].number == 345 + i);
    BOOST_TEST(all[i].name == std::to_string(345 + i));
  }
  BOOST_TEST(h.added() == 600u);
}

BOOST_AUTO_TEST_CASE(a_name_of_200_bytes_is_kept_and_a_longer_one_is_cut_between_letters) {
  round_history h;
  h.add(std::string(200, 'x'), {});
  h.add(std::string(196, 'x') + "\u00e4\u00e4\u00e4", {});

  BOOST_TEST(h.all()[0].name == std::string(200, 'x'));
  BOOST_TEST(h.all()[1].name == std::string(196, 'x') + "...");
}

BOOST_AUTO_TEST_CASE(rounds_of_the_same_names_take_no_memory_again_and_again) {
  round_history h;
  for (int i = 0; i < 256; ++i) h.add("a name that does not fit into the string itself", {});
  std::size_t const before = test::allocations();
  for (int i = 0; i < 1000; ++i) h.add("a name that does not fit into the string itself", {});

  BOOST_TEST(test::allocations() == before);
}

BOOST_AUTO_TEST_CASE(who_comes_last_most_often_is_the_first_of_the_stragglers) {
  round_history h;
  h.add("b", last_was(7, 100ms));
  h.add("b", last_was(3, 900ms));
  h.add("b", last_was(3, 100ms));
  h.add("b", last_was(5, 300ms));

  BOOST_TEST(text(h.stragglers()) ==
                 (texts{"3 2/4 500ms/900ms", "5 1/4 300ms/300ms", "7 1/4 100ms/100ms"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(equal_stragglers_come_in_task_order) {
  round_history h;
  for (std::uint32_t const task : {9u, 2u, 4u}) h.add("b", last_was(task));

  BOOST_TEST(text(h.stragglers()) == (texts{"2 1/3 1ms/1ms", "4 1/3 1ms/1ms", "9 1/3 1ms/1ms"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(rounds_in_which_nobody_came_last_are_not_looked_at) {
  round_history h;
  h.add("b", {});
  h.add("b", last_was(1));

  BOOST_TEST(text(h.stragglers()) == (texts{"1 1/1 1ms/1ms"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(at_most_20_stragglers_are_named) {
  round_history h;
  for (std::uint32_t i = 0; i < 30; ++i) h.add("b", last_was(i, (i + 1) * 1ms));

  auto const named = h.stragglers();

  BOOST_TEST(named.size() == 20u);
  BOOST_TEST(named.front().task == task_id{29});
  BOOST_TEST(named.back().task == task_id{10});
}

BOOST_AUTO_TEST_CASE(a_straggler_is_forgotten_with_its_rounds) {
  round_history h;
  h.add("b", last_was(1));
  for (int i = 0; i < 256; ++i) h.add("b", last_was(2));

  BOOST_TEST(text(h.stragglers()) == (texts{"2 256/256 1ms/1ms"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::core
