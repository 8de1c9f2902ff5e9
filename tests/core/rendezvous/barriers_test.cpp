#include "coxswain/core/rendezvous/barriers.hpp"

#include "coxswain/core/model/reasons.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace coxswain::core {
namespace {

constexpr time_point start{1h};

struct harness {
  explicit harness(std::size_t owed_max = 100, std::size_t idle_max = 10)
      : all{memory, owed_max, idle_max} {}

  meter_ptr memory = make_meter(10'000'000'000);
  barriers all;
  task_set_ptr three = boost::make_local_shared<task_set const>(3);

  // A failed round of the name with these stragglers.
  round_number fail(std::string const& name, std::vector<std::uint32_t> const& owed_to,
                    std::string what = "failed") {
    auto& b = all.at(name);
    all.open(b, three, {}, start);
    b.round.arrive(task_id{0}, {});
    round_number const number = b.number;
    std::vector<task_id> tasks;
    for (auto const t : owed_to) tasks.push_back(task_id{t});
    auto outcome = make_answer({status{errc::internal, what}, {}});
    all.end(b, std::move(outcome), std::move(tasks));
    return number;
  }

  round_number pass(std::string const& name) { return fail(name, {}); }

  std::string owed(std::string const& name, std::uint32_t task) {
    auto* const b = all.find(name);
    if (!b) return "unknown name";
    auto const outcome = all.take_owed(*b, task_id{task});
    return outcome ? outcome->outcome.text() : "nothing";
  }
};

BOOST_AUTO_TEST_SUITE(barriers_test)

BOOST_AUTO_TEST_CASE(the_bound_counts_stragglers_and_a_round_is_forgotten_whole) {
  harness h{3};
  h.fail("a", {1, 2}, "first");
  h.fail("b", {1, 2}, "second");

  BOOST_TEST(h.owed("a", 1).starts_with("ABORTED"));
  BOOST_TEST(h.owed("a", 2).starts_with("ABORTED"));
  BOOST_TEST(h.owed("b", 1) == "INTERNAL: second");
  BOOST_TEST(h.owed("b", 2) == "INTERNAL: second");
}

BOOST_AUTO_TEST_CASE(even_that_an_outcome_was_forgotten_is_forgotten_after_as_many_more) {
  harness h{2};
  for (int i = 1; i <= 5; ++i) h.fail("a", {1}, std::to_string(i));

  BOOST_TEST(h.all.owed() == 4u);
  BOOST_TEST(h.owed("a", 1) == fail<&reasons::outcome_is_discarded>(2, "a", 2).text());
  BOOST_TEST(h.owed("a", 1) == fail<&reasons::outcome_is_discarded>(3, "a", 2).text());
  BOOST_TEST(h.owed("a", 1) == "INTERNAL: 4");
  BOOST_TEST(h.owed("a", 1) == "INTERNAL: 5");
}

BOOST_AUTO_TEST_CASE(a_bound_of_zero_remembers_nothing) {
  harness h{0};
  h.fail("a", {1, 2});

  BOOST_TEST(h.owed("a", 1) == "nothing");
  BOOST_TEST(h.all.owed() == 0u);
}

BOOST_AUTO_TEST_CASE(forgetting_everything_owed_leaves_idle_names) {
  harness h{100, 2};
  for (auto const* const name : {"a", "b", "c", "d"}) h.fail(name, {1, 2});
  BOOST_TEST(h.all.known() == 4u);

  h.all.forget_owed();

  BOOST_TEST(h.all.owed() == 0u);
  BOOST_TEST(h.all.known() == 2u);
}

BOOST_AUTO_TEST_CASE(idle_names_are_remembered_up_to_a_bound_the_longest_idle_forgotten_first) {
  harness h{100, 2};
  h.pass("a");
  h.pass("b");
  h.pass("a");
  h.pass("c");

  BOOST_TEST(h.all.known() == 2u);
  BOOST_TEST(h.all.find("b") == nullptr);
  BOOST_TEST(h.pass("a").value == 3u);
  BOOST_TEST(h.pass("b").value == 1u);
}

BOOST_AUTO_TEST_CASE(a_name_that_owes_or_is_open_is_not_idle) {
  harness h{100, 1};
  h.fail("owes", {1});
  auto& open = h.all.at("open");
  h.all.open(open, h.three, {}, start);
  for (int i = 0; i < 10; ++i) h.pass("idle" + std::to_string(i));

  BOOST_TEST(h.all.known() == 3u);
  BOOST_TEST(h.all.find("open") == &open);
  BOOST_TEST(h.owed("owes", 1) == "INTERNAL: failed");
  BOOST_TEST(h.all.known() == 2u);
}

BOOST_AUTO_TEST_CASE(no_idle_name_is_remembered_when_the_bound_is_zero) {
  harness h{100, 0};
  h.pass("a");
  h.fail("b", {1});
  BOOST_TEST(h.all.known() == 1u);

  BOOST_TEST(h.owed("b", 1) == "INTERNAL: failed");

  BOOST_TEST(h.all.known() == 0u);
}

BOOST_AUTO_TEST_CASE(a_dissolved_round_does_not_count_as_the_round_before) {
  harness h;
  auto const pair =
      boost::make_local_shared<task_set const>(std::vector<task_id>{task_id{0}, task_id{1}});
  auto& b = h.all.at("a");
  h.all.open(b, pair, {}, start);
  h.all.dissolve(b);

  BOOST_TEST(h.all.may_open(b, task_id{2}, *h.three).ok());
}

BOOST_AUTO_TEST_CASE(a_million_names_with_a_straggler_each_are_forgotten_in_passing) {
  harness h{1000, 100};
  for (int i = 0; i < 1'000'000; ++i) h.fail(std::to_string(i), {1});

  BOOST_TEST(h.all.owed() <= 2000u);
  BOOST_TEST(h.all.known() <= 2100u);
}

// The outcomes kept for an absent straggler must not slow down every call of the others.
BOOST_AUTO_TEST_CASE(what_one_task_is_owed_costs_the_others_nothing) {
  harness h{300'000, 100};
  for (int i = 0; i < 300'000; ++i) h.fail("a", {1});

  for (int i = 0; i < 300'000; ++i) BOOST_TEST_REQUIRE(h.owed("a", 2) == "nothing");
  for (int i = 0; i < 300'000; ++i) BOOST_TEST_REQUIRE(h.owed("a", 1) == "INTERNAL: failed");
  BOOST_TEST(h.all.owed() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::core
