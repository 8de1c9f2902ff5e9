// Whether missing tasks answer, and what they did last (§12.3, §12.9).

#include "tests/core/cluster.hpp"

namespace coxswain::test {
namespace {

core::config patient() { return core::config{.heartbeat_timeout = 300s}; }

missing_task the_only_missing(cluster& c) {
  auto const asked = c.send(0, core::why_args{});
  auto const* const a = c.body<core::why_answer>(asked);
  BOOST_TEST_REQUIRE(a != nullptr, "no answer but " << c.code(asked));
  BOOST_TEST_REQUIRE(a->waits.size() == 1u);
  BOOST_TEST_REQUIRE(a->waits.front().missing.has_value());
  BOOST_TEST_REQUIRE(a->waits.front().missing->known.size() == 1u);
  return a->waits.front().missing->known.front();
}

std::size_t probes_of(cluster& c, int who) { return c.pushed<core::probe>(who).size(); }

std::string answering(missing_task const& m) {
  if (m.answers) return "answers";
  if (!m.unanswered) return "unknown";
  return "silent for " + std::to_string(*m.unanswered / 1ms) + " ms";
}

BOOST_AUTO_TEST_SUITE(coordinator_missing_test)

BOOST_AUTO_TEST_CASE(whoever_looks_makes_the_missing_task_answer) {
  cluster c{2, patient()};
  c.at(20s);  // its last heartbeat was long ago
  c.barrier(0, "step");
  c.pass(1s);
  probes_of(c, 1);

  the_only_missing(c);

  BOOST_TEST(probes_of(c, 1) == 1u);
  BOOST_TEST(answering(the_only_missing(c)) == "answers");
}

BOOST_AUTO_TEST_CASE(a_task_is_asked_at_most_once_a_second) {
  cluster c{2, patient()};
  c.at(20s);
  c.barrier(0, "step");
  c.pass(1s);
  probes_of(c, 1);

  the_only_missing(c);
  the_only_missing(c);
  BOOST_TEST(probes_of(c, 1) == 1u);
  c.pass(1s - 1ns);
  the_only_missing(c);
  BOOST_TEST(probes_of(c, 1) == 0u);
  c.pass(1ns);
  the_only_missing(c);
  BOOST_TEST(probes_of(c, 1) == 1u);
}

BOOST_AUTO_TEST_CASE(a_frozen_task_has_not_answered_since_it_was_asked_first) {
  cluster c{2, patient()};
  c.at(20s);
  c[1].beats = false;
  c.barrier(0, "step");
  c.pass(5s);
  probes_of(c, 1);

  BOOST_TEST(answering(the_only_missing(c)) == "unknown");
  c.pass(1s - 1ns);
  BOOST_TEST(answering(the_only_missing(c)) == "unknown");
  c.pass(1ns);
  BOOST_TEST(answering(the_only_missing(c)) == "silent for 1000 ms");
  c.pass(11s);
  BOOST_TEST(answering(the_only_missing(c)) == "silent for 12000 ms");
  BOOST_TEST(probes_of(c, 1) == 1u);

  c[1].beats = true;
  c.heartbeat(1);
  BOOST_TEST(answering(the_only_missing(c)) == "answers");
}

BOOST_AUTO_TEST_CASE(a_stall_of_the_coordinator_is_not_the_tasks_silence) {
  cluster c{2, patient()};
  c.at(20s);
  c[1].beats = false;
  c.barrier(0, "step");
  c.pass(5s);
  the_only_missing(c);

  c.stall(10s);

  BOOST_TEST(answering(the_only_missing(c)) == "unknown");
}

BOOST_AUTO_TEST_CASE(nobody_is_asked_when_a_round_has_just_begun) {
  cluster c{2, patient()};
  c.at(20s);
  c.barrier(0, "step");
  c.pass(1s - 1ns);
  probes_of(c, 1);

  the_only_missing(c);

  BOOST_TEST(probes_of(c, 1) == 0u);
}

BOOST_AUTO_TEST_CASE(a_task_that_waits_elsewhere_is_not_asked) {
  cluster c{2, patient()};
  c.at(20s);
  c.barrier(0, "step", 300s);
  c.get(1, "k");
  c.pass(5s);
  probes_of(c, 1);

  auto const asked = c.send(0, core::why_args{});

  BOOST_TEST(c.code(asked) == "OK");
  BOOST_TEST(probes_of(c, 1) == 0u);
}

BOOST_AUTO_TEST_CASE(the_owner_asks_when_it_looks) {
  cluster c{2, patient()};
  c.at(20s);
  c[1].beats = false;
  c.barrier(0, "step");
  c.pass(2s);

  BOOST_TEST(c.logic().has_to_ask(t0 + c.now()));
  BOOST_TEST(c.put_in(core::why_args{}).ok());
  BOOST_TEST(!c.logic().has_to_ask(t0 + c.now()));
  c.pass(3s);

  BOOST_TEST_REQUIRE(c.look().missing.size() == 1u);
  BOOST_TEST(c.look().missing.front().task == task_id{1});
  BOOST_TEST(answering(c.look().missing.front()) == "silent for 3000 ms");
}

BOOST_AUTO_TEST_CASE(a_missing_task_is_shown_with_its_last_call) {
  cluster c{2, core::config{.started = {1'000'000'000'000, 0}}};
  c.at(10s).after(c.put(1, "address/5", "x"));
  c.at(20s);
  c.send(1, core::watch_tasks_args{});
  c.barrier(0, "step");
  c.pass(5s);

  auto const seen = the_only_missing(c);

  BOOST_TEST(seen.last_call == "put of key 'address/5'");
  BOOST_TEST_REQUIRE(seen.last_call_at.has_value());
  BOOST_TEST(seen.last_call_at->unix_ms == 1'000'000'010'000);
}

BOOST_AUTO_TEST_CASE(the_name_of_a_last_call_is_cut_between_letters) {
  cluster c{2};
  c.barrier(1, std::string(28, 'a') + "\u00e9 and more", 1s);
  c.pass(2s);
  c.barrier(0, "step");

  BOOST_TEST(the_only_missing(c).last_call == "barrier '" + std::string(28, 'a') + "...'");
}

BOOST_AUTO_TEST_CASE(a_new_incarnation_has_no_last_call) {
  cluster c{2, core::config{.recoverable = true}};
  c.put(1, "address/5", "x");
  c.task_ended(1, {errc::aborted, "killed"});
  int const again = c.observer();
  c.join({again, 1}, 901);
  c.barrier(0, "step");

  BOOST_TEST(the_only_missing(c).last_call == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
