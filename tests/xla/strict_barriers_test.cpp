// What XLA's own service of jaxlib 0.8.2 and 0.10.2 does with the same calls.

#include "coxswain/xla/strict_barriers.hpp"

#include "tests/main/contains.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>
#include <vector>

namespace coxswain::xla {
namespace {

using coxswain::test::contains;
using verdict = strict_barriers::verdict;

// Barrier "b" of three tasks.
struct service {
  strict_barriers all{3};

  // "waits", or the outcome's code, with the counter of the instance: "INTERNAL 1".
  std::string call(std::uint32_t by, std::int64_t counter, std::vector<task_id> tasks = {},
                   bool is_recoverable = false) {
    auto const how = all.arrive({"b", counter, std::move(tasks), task_id{by}, is_recoverable});
    auto const& r = *all.find("b");
    auto const at = " " + std::to_string(r.counter);
    if (how == verdict::arrives) return "waits" + at;
    return std::string{name(r.outcome.code())} + at + (how == verdict::fails ? " for all" : "");
  }
  std::string cancel(std::int64_t counter) {
    bool was_open = false;
    auto const how = all.cancel("b", counter, task_id{1}, was_open);
    return std::string{name(how.code())} + (was_open ? " for all" : "");
  }
  std::string text() { return all.find("b")->outcome.message(); }
  void end(std::int64_t counter, status how = {}) { all.end("b", counter, std::move(how)); }
};

std::vector<task_id> const pair{task_id{0}, task_id{1}};
status const timed_out{errc::deadline_exceeded, "Barrier timed out"};

}  // namespace

BOOST_AUTO_TEST_SUITE(strict_barriers_test)

BOOST_FIXTURE_TEST_CASE(the_outcome_of_the_last_instance_is_repeated, service) {
  BOOST_TEST(call(0, 0) == "waits 0");
  end(0);
  BOOST_TEST(call(0, 0) == "OK 0");
  BOOST_TEST(call(0, 1) == "waits 1");
  end(1, timed_out);
  BOOST_TEST(call(1, 1) == "DEADLINE_EXCEEDED 1");
  BOOST_TEST(call(1, 2) == "waits 2");
}

BOOST_FIXTURE_TEST_CASE(late_participants_get_the_error_of_the_non_participant, service) {
  BOOST_TEST(call(0, 0, pair) == "waits 0");
  BOOST_TEST(call(2, 0, pair) == "INVALID_ARGUMENT 0 for all");
  BOOST_TEST(call(1, 0, pair) == "INVALID_ARGUMENT 0");
  BOOST_TEST(text() == "A non-participating task (2) called the barrier: b::0");
  BOOST_TEST(call(1, 1, pair) == "waits 1");
}

BOOST_FIXTURE_TEST_CASE(a_non_participant_also_spoils_an_instance_that_is_over, service) {
  for (auto const& how : {status{}, timed_out}) {
    service s;
    s.call(0, 0, pair);
    s.end(0, how);
    BOOST_TEST(s.call(2, 0, pair) == "INVALID_ARGUMENT 0");
    BOOST_TEST(s.call(1, 0, pair) == "INVALID_ARGUMENT 0");
    BOOST_TEST(s.call(1, 1, pair) == "waits 1");
  }
}

BOOST_FIXTURE_TEST_CASE(a_non_participant_may_open_an_instance_which_fails, service) {
  BOOST_TEST(call(2, 0, pair) == "INVALID_ARGUMENT 0");
  BOOST_TEST(call(0, 0, pair) == "INVALID_ARGUMENT 0");
  BOOST_TEST(call(2, 1, pair) == "INVALID_ARGUMENT 1");
  BOOST_TEST(call(0, 1, pair) == "INVALID_ARGUMENT 1");
  BOOST_TEST(call(0, 2, pair) == "waits 2");
}

BOOST_FIXTURE_TEST_CASE(a_wrong_counter_fails_the_instance_whoever_called, service) {
  call(0, 0, pair);
  end(0);
  BOOST_TEST(call(0, 1, pair) == "waits 1");
  BOOST_TEST(call(2, 0, pair) == "INTERNAL 1 for all");
  BOOST_TEST(contains(text(),
                      "Barrier (b::0) is invoked by the task, but the service thinks it is "
                      "the 1-th instance. The service or task probably restarted"));
  BOOST_TEST(call(1, 1, pair) == "INTERNAL 1");
  BOOST_TEST(call(1, 2, pair) == "waits 2");
  end(2);
  BOOST_TEST(call(1, 7, pair) == "INTERNAL 2");
  BOOST_TEST(contains(text(), "too quick / slow"));
  BOOST_TEST(call(1, 3, pair) == "waits 3");
}

BOOST_FIXTURE_TEST_CASE(the_first_instance_determines_the_participants_of_all, service) {
  std::vector<task_id> const other{task_id{0}, task_id{2}};
  call(0, 0, {task_id{1}, task_id{0}});
  BOOST_TEST(call(1, 0, pair) == "waits 0");
  end(0);
  BOOST_TEST(call(0, 1, other) == "INVALID_ARGUMENT 1");
  BOOST_TEST(contains(text(),
                      "Conflicting tasks specified by different processes for the same "
                      "barrier: b::1."));
  BOOST_TEST(call(0, 2) == "INVALID_ARGUMENT 2");
  BOOST_TEST(contains(text(), "b::2: No tasks were specified by the client"));
  BOOST_TEST(call(0, 3, pair) == "waits 3");
}

BOOST_FIXTURE_TEST_CASE(a_list_of_all_tasks_is_no_list, service) {
  BOOST_TEST(call(0, 0) == "waits 0");
  BOOST_TEST(call(1, 0, {task_id{2}, task_id{1}, task_id{0}}) == "waits 0");
  BOOST_TEST(call(2, 0, pair) == "INVALID_ARGUMENT 0 for all");
  BOOST_TEST(call(2, 1) == "waits 1");
}

BOOST_FIXTURE_TEST_CASE(a_task_outside_the_cluster_spoils_the_id, service) {
  std::vector<task_id> const unknown{task_id{0}, task_id{7}};
  BOOST_TEST(call(0, 0, unknown) == "INVALID_ARGUMENT 0");
  BOOST_TEST(contains(text(), "Unexpected task (7) that is not in the cluster"));
  BOOST_TEST(call(1, 0, unknown) == "INVALID_ARGUMENT 0");
  BOOST_TEST(call(1, 1, pair) == "INVALID_ARGUMENT 1");
  BOOST_TEST(contains(text(), "Conflicting tasks"));
}

BOOST_FIXTURE_TEST_CASE(an_unknown_id_begins_with_counter_zero, service) {
  BOOST_TEST(call(0, 3) == "INTERNAL 0");
  BOOST_TEST(contains(text(), "Barrier (::3) is invoked"));
  BOOST_TEST(call(0, 0) == "INVALID_ARGUMENT 0");
  BOOST_TEST(contains(text(), "::0: No tasks were specified"));
  BOOST_TEST(call(0, 0, pair) == "INVALID_ARGUMENT 0");
  BOOST_TEST(contains(text(), "Conflicting tasks"));
  BOOST_TEST(call(0, 1) == "waits 1");
}

BOOST_FIXTURE_TEST_CASE(a_recoverable_task_may_begin_again_with_zero, service) {
  call(0, 0);
  end(0);
  BOOST_TEST(call(0, 1) == "waits 1");
  BOOST_TEST(call(1, 0, {}, true) == "waits 1");
  end(1);
  BOOST_TEST(call(1, 0, {}, true) == "waits 2");
  BOOST_TEST(call(1, 0) == "INTERNAL 2 for all");
}

BOOST_FIXTURE_TEST_CASE(cancelling_ends_the_open_instance_only, service) {
  call(0, 0);
  BOOST_TEST(cancel(3) == "FAILED_PRECONDITION");
  BOOST_TEST(cancel(0) == "OK for all");
  BOOST_TEST(text() == "Barrier (b::0) is cancelled by task: 1");
  BOOST_TEST(cancel(0) == "FAILED_PRECONDITION");
  BOOST_TEST(call(1, 0) == "CANCELLED 0");
  BOOST_TEST(call(1, 1) == "waits 1");
  BOOST_TEST(cancel(0) == "FAILED_PRECONDITION");  // what jaxlib always sends
}

BOOST_FIXTURE_TEST_CASE(cancelling_an_unknown_id_spoils_it, service) {
  BOOST_TEST(cancel(0) == "OK");
  BOOST_TEST(call(0, 0) == "INVALID_ARGUMENT 0");
  BOOST_TEST(call(0, 1) == "waits 1");
}

BOOST_AUTO_TEST_CASE(only_recent_ids_and_open_instances_are_kept) {
  strict_barriers all{2};
  auto const call = [&](std::string id, std::int64_t counter) {
    return all.arrive({std::move(id), counter, {}, task_id{0}});
  };
  BOOST_TEST((call("open", 0) == verdict::arrives));
  BOOST_TEST((call("old", 0) == verdict::arrives));
  all.end("old", 0, {});
  for (std::size_t i = 0; i < 2 * strict_barriers::ids_max; ++i) {
    auto const id = std::to_string(i);
    BOOST_TEST_REQUIRE((call(id, 0) == verdict::arrives));
    all.end(id, 0, {});
  }

  BOOST_TEST(!all.find("old"));
  BOOST_TEST((call("open", 1) == verdict::fails));
  BOOST_TEST((call(std::to_string(strict_barriers::ids_max), 2) == verdict::is_over));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::xla
