#include "coxswain/core/observe/wait_graph.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <random>
#include <string>

namespace coxswain::core {
namespace {

// The input of a graph, so that the result can be computed again or in another way.
struct wait_problem {
  struct wait {
    std::vector<task_id> waiting;
    std::vector<task_id> missing;
    bool for_anybody{};
  };
  std::uint32_t num_tasks{};
  std::vector<task_id> acting;
  bool outsider{};
  std::vector<wait> waits;
};

std::vector<task_id> tasks(std::vector<std::uint32_t> const& numbers) {
  std::vector<task_id> all;
  for (auto const n : numbers) all.push_back(task_id{n});
  return all;
}

std::string able(std::vector<bool> const& which) {
  std::string text;
  for (bool const one : which) text += one ? '+' : '-';
  return text;
}

std::string by_graph(wait_problem const& r) {
  wait_graph g{r.num_tasks};
  for (task_id const task : r.acting) g.acts(task);
  if (r.outsider) g.outsider_acts();
  for (auto const& w : r.waits) {
    if (w.for_anybody) {
      g.wait_for_anybody(w.waiting);
    } else {
      g.wait_for_all(w.waiting, w.missing);
    }
  }
  g.settle();
  std::vector<bool> found;
  for (std::uint32_t i = 0; i < r.num_tasks; ++i) found.push_back(g.is_able(task_id{i}));
  return able(found);
}

// Checks every wait again until nothing changes.
std::string by_force(wait_problem const& r) {
  std::vector<bool> found(r.num_tasks);
  for (task_id const task : r.acting) found[task.value] = true;
  for (bool changed = true; std::exchange(changed, false);) {
    for (auto const& w : r.waits) {
      bool const anybody = r.outsider || std::find(found.begin(), found.end(), true) != found.end();
      bool const all = std::all_of(w.missing.begin(), w.missing.end(),
                                   [&](task_id task) { return found[task.value]; });
      if (w.for_anybody ? !anybody : !all) continue;
      for (task_id const task : w.waiting) {
        changed = changed || !found[task.value];
        found[task.value] = true;
      }
    }
  }
  return able(found);
}

std::vector<task_id> any_tasks(std::mt19937& rng, std::uint32_t num_tasks) {
  std::vector<task_id> some(rng() % 4);
  for (task_id& task : some) task = task_id{static_cast<std::uint32_t>(rng() % num_tasks)};
  return some;
}

wait_problem random_problem(std::mt19937& rng) {
  wait_problem r;
  r.num_tasks = 1 + static_cast<std::uint32_t>(rng() % 8);
  if (rng() % 2 == 0) r.acting = any_tasks(rng, r.num_tasks);
  r.outsider = rng() % 8 == 0;
  for (auto i = rng() % 8; i > 0; --i) {
    r.waits.push_back({any_tasks(rng, r.num_tasks), any_tasks(rng, r.num_tasks), false});
    if (rng() % 4 != 0) continue;
    r.waits.back().missing.clear();
    r.waits.back().for_anybody = true;
  }
  return r;
}

BOOST_AUTO_TEST_SUITE(wait_graph_test)

BOOST_AUTO_TEST_CASE(the_graph_matches_a_naive_fixpoint) {
  std::mt19937 rng{20'240'601};
  for (int i = 0; i < 20'000; ++i) {
    wait_problem const r = random_problem(rng);
    BOOST_TEST_REQUIRE(by_graph(r) == by_force(r), "wait_problem " << i << " of seed 20240601");
  }
}

BOOST_AUTO_TEST_CASE(a_cycle_of_ten_thousand_tasks_is_resolved_quickly) {
  constexpr std::uint32_t count = 10'000;
  wait_problem r{count, tasks({0}), false, {}};
  for (std::uint32_t i = 0; i < count; ++i) {
    r.waits.push_back({{task_id{i}}, {task_id{(i + 1) % count}}});
  }
  BOOST_TEST((by_graph(r) == std::string(count, '+')));

  r.acting.clear();
  BOOST_TEST((by_graph(r) == std::string(count, '-')));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::core
