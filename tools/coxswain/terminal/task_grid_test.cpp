#include "terminal/task_grid.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>

namespace coxswain::tools {
namespace {

std::vector<core::snapshot::task> tasks(std::size_t count, task_state state) {
  std::vector<core::snapshot::task> all(count);
  for (auto& t : all) t.state = state;
  return all;
}

std::string text(std::vector<core::snapshot::task> const& all, std::size_t columns,
                 std::size_t rows) {
  std::string found;
  for (auto const& line : task_grid{all.size(), columns, rows}.lines(all)) {
    found += line.plain() + "\n";
  }
  return found;
}

BOOST_AUTO_TEST_SUITE(task_grids)

BOOST_AUTO_TEST_CASE(each_task_has_a_place_if_there_is_room) {
  auto all = tasks(25, task_state::connected);
  all[3].state = task_state::failed;
  all[4].suspect = true;
  all[10].state = task_state::joining;
  all[11].state = task_state::never_connected;
  all[24].state = task_state::left;

  BOOST_TEST(text(all, 15, 3) ==
             " 0 oooX?ooooo\n"
             "10 +.oooooooo\n"
             "20 oooo-\n");
}

BOOST_AUTO_TEST_CASE(a_place_of_several_tasks_shows_the_worst) {
  auto all = tasks(10'000, task_state::connected);
  all[7'777].state = task_state::failed;

  task_grid const grid{all.size(), 80, 3};

  BOOST_TEST(grid.tasks_per_cell() == 50u);
  BOOST_TEST(text(all, 80, 3) == "   0 " + std::string(70, 'o') + "\n3500 " + std::string(70, 'o') +
                                     "\n7000 " + std::string(15, 'o') + "X" + std::string(44, 'o') +
                                     "\n");
}

BOOST_AUTO_TEST_CASE(it_never_needs_more_than_its_room) {
  for (std::size_t count : {1, 9, 10, 11, 200, 999, 1'000, 10'000, 100'000}) {
    for (std::size_t columns : {1, 5, 12, 80, 300}) {
      for (std::size_t rows : {1, 2, 7, 50}) {
        task_grid const grid{count, columns, rows};
        BOOST_TEST(grid.rows() <= rows);
        for (auto const& line : grid.lines(tasks(count, task_state::left))) {
          BOOST_TEST(line.columns() <= std::max(columns, std::to_string(count - 1).size() + 2));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_task_that_left_to_return_does_not_look_like_one_that_joins) {
  BOOST_TEST(text(tasks(2, task_state::returning), 80, 1) == "0 <<\n");
}

BOOST_AUTO_TEST_CASE(a_suspect_task_that_has_failed_is_failed) {
  core::snapshot::task t;
  t.state = task_state::failed;
  t.suspect = true;

  BOOST_TEST((task_grid::mark_of(t) == task_grid::mark::failed));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::tools
