// A connection that is cut after any byte of either direction changes no result of any call.

#include "tests/sim/world.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace coxswain::sim {
namespace {

using answers = std::vector<core::answer>;

// Their changes must take effect once, whatever was sent twice.
std::vector<core::request> key_calls() {
  std::vector<core::request> calls;
  calls.push_back(core::compare_and_set_args{"k", "1", core::absent_value{}, false});
  calls.push_back(core::compare_and_set_args{"k", "2", core::absent_value{}, false});
  calls.push_back(core::compare_and_set_args{"k", "2", std::string{"1"}, false});
  calls.push_back(core::append_args{"k", "3"});
  calls.push_back(core::put_args{"mine", "4", false, true});
  calls.push_back(core::put_all_args{{{"k/a", "5"}, {"k/b", "6"}}, false});
  calls.push_back(core::put_all_args{{{"k/c", "7"}, {"k/b", "8"}}, false});
  calls.push_back(core::get_all_args{{"k/b", "k"}, 1s});
  calls.push_back(core::get_all_args{{"k/b", "none"}, 1s});
  calls.push_back(core::count_keys_args{""});
  calls.push_back(core::push_args{"q", "first"});
  calls.push_back(core::push_args{"q", "second"});
  calls.push_back(core::pop_args{"q", 1s});
  calls.push_back(core::push_args{"q", "third"});
  calls.push_back(core::pop_args{"q", 1s});
  calls.push_back(core::pop_args{"q", 1s});
  calls.push_back(core::pop_args{"q", 1s});
  calls.push_back(core::watch_keys_args{"", std::nullopt, 1s});
  calls.push_back(core::watch_keys_args{"k", 0, 1s});
  calls.push_back(core::watch_keys_args{"k", 1'000, 1s});
  return calls;
}

// Sixty calls of every other kind and twenty on keys; some fail, and must fail equally in every
// run.
script eighty_calls(process& p, answers& given) {
  given.push_back(co_await p.join(incarnation{7}));
  for (int i = 0; i < 6; ++i) {
    std::string const n = std::to_string(i);
    given.push_back(co_await p.put("dir/" + n, "value " + n));
    given.push_back(co_await p.put("dir/" + n, "again"));  // ALREADY_EXISTS
    given.push_back(co_await p.get("dir/" + n));
    given.push_back(co_await p.increment("counter", i + 1));
    given.push_back(co_await p.barrier("step"));
    given.push_back(co_await p.all_gather("gather", "mine " + n));
    given.push_back(co_await p.try_get("nothing/" + n));  // NOT_FOUND
    given.push_back(co_await p.list("dir"));
    given.push_back(co_await p.count_barrier("count " + n, 1));
  }
  given.push_back(co_await p.remove("dir/3"));
  given.push_back(co_await p.get("dir/3", 1s));       // DEADLINE_EXCEEDED
  given.push_back(co_await p.increment("dir/4", 1));  // FAILED_PRECONDITION
  given.push_back(co_await p.get("counter"));
  auto calls = key_calls();
  for (auto& call : calls) given.push_back(co_await p.ask(std::move(call), 1s));
  given.push_back(co_await p.leave());
}

script partner(process& p, answers& given) {
  given.push_back(co_await p.join(incarnation{8}));
  for (int i = 0; i < 6; ++i) {
    given.push_back(co_await p.barrier("step"));
    given.push_back(co_await p.all_gather("gather", "theirs " + std::to_string(i)));
  }
  given.push_back(co_await p.leave());
}

struct outcome {
  answers first;
  answers second;
  std::uint64_t up{};  // bytes of the first connection of the first process
  std::uint64_t down{};
  bool left_nothing{};
};

// `plan` is called with each connection of the process that makes the eighty calls.
outcome run(std::function<void(std::size_t index, link&)> const& plan) {
  core::config c{.num_tasks = 2, .heartbeat_timeout = 10s, .reconnect_grace = 2s};
  world w{1, c};
  w.delay_max = 1ms;
  outcome o;
  process& p = w.add(task_id{0});
  process& q = w.add(task_id{1});
  std::vector<std::shared_ptr<link>> lines;
  w.on_link = [&](link& line) {
    if (!p.line || p.line.get() != &line) return;
    plan(lines.size(), line);
    lines.push_back(p.line);
  };
  p.work.push_back(eighty_calls(p, o.first));
  q.work.push_back(partner(q, o.second));
  p.work.front().start();
  q.work.front().start();
  w.run(1h);
  o.up = lines.front()->up.arrived();
  o.down = lines.front()->down.arrived();
  w.finish();
  o.left_nothing = w.coordinator.look(w.now).sessions == 0;
  return o;
}

outcome const& uncut() {
  static outcome const o = run([](std::size_t, link&) {});
  return o;
}

void expect_equal(answers const& got, answers const& wanted) {
  BOOST_TEST(got.size() == wanted.size());
  for (std::size_t i = 0; i < std::min(got.size(), wanted.size()); ++i) {
    BOOST_TEST_CONTEXT("call " << i) {
      BOOST_TEST(got[i].outcome.code() == wanted[i].outcome.code());
      // A deadline that passes while disconnected is reported by the client, with another text.
      if (wanted[i].outcome.code() != errc::deadline_exceeded) {
        BOOST_TEST(got[i].outcome == wanted[i].outcome);
      }
      BOOST_TEST((got[i].value == wanted[i].value));
    }
  }
}

void expect_the_same(outcome const& o) {
  expect_equal(o.first, uncut().first);
  expect_equal(o.second, uncut().second);
  BOOST_TEST(o.left_nothing);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cuts)

BOOST_AUTO_TEST_CASE(the_script_makes_eighty_calls_and_some_fail) {
  BOOST_TEST(uncut().first.size() == 80U);
  std::size_t failed = 0;
  for (core::answer const& a : uncut().first) failed += a.outcome.ok() ? 0 : 1;
  BOOST_TEST(failed == 6U + 6U + 2U + 5U);
}

BOOST_AUTO_TEST_CASE(a_cut_after_any_byte_to_the_coordinator_changes_no_result) {
  for (std::uint64_t byte = 0; byte <= uncut().up; ++byte) {
    BOOST_TEST_CONTEXT("cut after byte " << byte) {
      expect_the_same(run([byte](std::size_t index, link& line) {
        if (index == 0) line.up.stop_after(byte);
      }));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_cut_after_any_byte_from_the_coordinator_changes_no_result) {
  for (std::uint64_t byte = 0; byte <= uncut().down; ++byte) {
    BOOST_TEST_CONTEXT("cut after byte " << byte) {
      expect_the_same(run([byte](std::size_t index, link& line) {
        if (index == 0) line.down.stop_after(byte);
      }));
    }
  }
}

BOOST_AUTO_TEST_CASE(two_hundred_pairs_of_cuts_change_no_result) {
  generator random{2};
  for (int i = 0; i < 200; ++i) {
    std::uint64_t const first = between(random, 0, uncut().up);
    std::uint64_t const second = between(random, 0, uncut().down);
    bool const is_up_first = between(random, 0, 1) == 0;
    BOOST_TEST_CONTEXT("pair " << i << ": " << first << ", " << second) {
      expect_the_same(run([=](std::size_t index, link& line) {
        if (index > 1) return;
        bool const is_up = (index == 0) == is_up_first;
        is_up ? line.up.stop_after(first) : line.down.stop_after(second);
      }));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::sim
