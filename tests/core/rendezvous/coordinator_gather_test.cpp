// Barriers with data: §6.3, without reductions.

#include "tests/core/steps.hpp"

namespace coxswain::test {
namespace {

asking bringing(std::string data, std::vector<std::uint32_t> among = {}) {
  return {.among = std::move(among), .gather = std::move(data)};
}

BOOST_AUTO_TEST_SUITE(coordinator_gather_test)

rows const cases{
    {"a_subset_gathers_one_entry_for_each_participant", 4,
     "3 gather g three 300s t1 t3; 1 gather g one 300s t1 t3 -> round 1: one|three"},
    {"gathering_and_not_gathering_are_different_kinds_of_barrier", 3,
     "plain = 0 barrier g; gather = 1 gather g x; "
     "plain gather -> INVALID_ARGUMENT INVALID_ARGUMENT; 2 barrier g ~ round 1 INVALID_ARGUMENT"},
    {"a_name_may_gather_in_one_round_and_not_in_the_next", 1,
     "0 gather g x -> round 1: x; 0 barrier g -> round 2"},
    {"contributions_up_to_the_limit_are_gathered", 2, "0 gather g 12345; 1 gather g 67890 -> OK",
     config{.gather_bytes_max = 10}},
    {"the_arrival_that_passes_the_limit_fails_the_round_for_all_and_is_named", 3,
     "zero = 0 gather g 12345; one = 1 gather g 678901; zero one -> RESOURCE_EXHAUSTED "
     "RESOURCE_EXHAUSTED; zero ~ Barrier 'g' round 1 ... task 1 ... 11 bytes ... gather_bytes_max "
     "is 10; 2 gather g x ~ round 1 RESOURCE_EXHAUSTED; 1 gather g x -> waits; 2 gather g x -> "
     "waits; 0 gather g y -> round 2: y|x|x",
     config{.gather_bytes_max = 10}},
    {"a_first_arrival_may_pass_the_limit_all_alone", 2,
     "0 gather g 1234 -> RESOURCE_EXHAUSTED; barriers -> 0; "
     "1 gather g x ~ round 1 RESOURCE_EXHAUSTED",
     config{.gather_bytes_max = 3}},
    {"the_one_that_passed_the_limit_is_answered_again_when_its_reply_was_lost", 2,
     "deaf 0; zero = 0 gather g 1234; hears 0; blink 0; zero -> RESOURCE_EXHAUSTED; "
     "1 gather g x ~ round 1 RESOURCE_EXHAUSTED",
     config{.gather_bytes_max = 3}},
    {"a_repeated_call_replaces_its_data_and_only_the_newer_counts", 2,
     "older = 0 gather g 1234567; newer = 0 gather g abcdefg; older newer -> CANCELLED waits; "
     "1 gather g xyz -> round 1: abcdefg|xyz",
     config{.gather_bytes_max = 10}},
    {"gathered_data_survives_the_loss_of_a_connection", 2,
     "zero = 0 gather g x; cut 0; 1 gather g y; resume 0; zero -> round 1: x|y"},
};

BOOST_FIXTURE_TEST_CASE(everybody_receives_everybodys_data_in_task_order, job<3>) {
  auto const two = c.barrier(2, "g", 300s, bringing("two"));
  auto const zero = c.barrier(0, "g", 300s, bringing("zero"));
  auto const one = c.barrier(1, "g", 300s, bringing("one"));

  for (auto const& each : {zero, one, two}) BOOST_TEST(c.round(each) == "round 1: zero|one|two");
}

// The order that the topology exchange needs: numeric, not lexicographic.
BOOST_FIXTURE_TEST_CASE(enumerate_eleven_devices_in_task_order, job<11>) {
  std::optional<call> last;
  for (int i = 10; i >= 0; --i) last = c.barrier(i, "g", 300s, bringing(std::to_string(i)));

  BOOST_TEST(c.round(*last) == "round 1: 0|1|2|3|4|5|6|7|8|9|10");
}

BOOST_FIXTURE_TEST_CASE(data_may_be_empty_and_binary, job<2>) {
  c.barrier(0, "g", 300s, bringing(""));
  auto const one = c.barrier(1, "g", 300s, bringing(std::string("\0\xff", 2)));

  auto const* const answer = c.body<core::barrier_answer>(one);

  BOOST_TEST_REQUIRE(answer->data.size() == 2u);
  BOOST_TEST(answer->data[0].view() == "");
  BOOST_TEST(answer->data[1].view() == std::string_view("\0\xff", 2));
}

BOOST_FIXTURE_TEST_CASE(one_answer_is_shared_by_all_participants, job<3>) {
  auto const zero = c.barrier(0, "g", 300s, bringing("x"));
  auto const one = c.barrier(1, "g", 300s, bringing("y"));
  c.barrier(2, "g", 300s, bringing("z"));

  BOOST_TEST(c.answer_to(zero) == c.answer_to(one));
}

BOOST_FIXTURE_TEST_CASE(each_round_gathers_anew, job<2>) {
  for (auto const* const data : {"a", "b"}) {
    c.barrier(0, "g", 300s, bringing(data));
    auto const one = c.barrier(1, "g", 300s, bringing(data));
    BOOST_TEST(contains(c.round(one), std::string{data} + "|" + data));
  }
}

BOOST_FIXTURE_TEST_CASE(data_without_gather_is_invalid, job<2>) {
  BOOST_TEST(c.code(c.send(0, core::barrier_args{.name = "g", .data = "x"})) == "INVALID_ARGUMENT");
  BOOST_TEST(c.look().barriers.empty());
}

BOOST_AUTO_TEST_CASE(cancelled_data_no_longer_counts) {
  cluster c{2, {.gather_bytes_max = 10}};
  auto const before = c.logic().memory()->used();
  c.cancel(c.barrier(0, "g", 300s, bringing("1234567890")));
  BOOST_TEST(c.logic().memory()->used() <= before);

  c.barrier(0, "g", 300s, bringing("12345"));
  BOOST_TEST(c.code(c.barrier(1, "g", 300s, bringing("67890"))) == "OK");
}

BOOST_FIXTURE_TEST_CASE(gathered_data_is_counted_until_everybody_has_acknowledged_it, job<2>) {
  c.barrier(0, "g", 300s, bringing(std::string(1000, 'x')));
  BOOST_TEST(c.logic().memory()->used() >= 1000u);
  c.barrier(1, "g", 300s, bringing(std::string(1000, 'y')));
  c[0].answers.clear();
  c[1].answers.clear();
  BOOST_TEST(c.logic().memory()->used() >= 2000u);
  BOOST_TEST(c.heartbeat(0).logic().memory()->used() >= 2000u);

  BOOST_TEST(c.heartbeat(1).logic().memory()->used() == 0u);
}

BOOST_FIXTURE_TEST_CASE(data_of_a_failed_round_is_freed_at_once, job<2>) {
  c.barrier(0, "g", 1s, bringing(std::string(100'000, 'x')));
  c.at(1s);
  c[0].answers.clear();

  BOOST_TEST(c.logic().memory()->used() < 10'000u);
}

BOOST_AUTO_TEST_CASE(data_that_finds_no_memory_is_refused_and_the_others_notice_nothing) {
  cluster c{2, {.memory_bytes_max = 100'000}};
  auto const waits = c.barrier(0, "g", 300s, bringing("small"));

  auto const refused = c.barrier(1, "g", 300s, bringing(std::string(99'000, 'x')));

  BOOST_TEST(c.code(refused) == "RESOURCE_EXHAUSTED");
  expect_words(c.text(refused), {"99000 bytes", "memory_bytes_max is 100000"});
  BOOST_TEST(c.code(waits) == "waits");
  BOOST_TEST(c.round(c.barrier(1, "g", 300s, bringing("y"))) == "round 1: small|y");
}

BOOST_AUTO_TEST_CASE(a_first_arrival_that_finds_no_memory_opens_no_round) {
  cluster c{2, {.memory_bytes_max = 100'000}};

  auto const refused = c.barrier(0, "g", 300s, bringing(std::string(99'000, 'x')));

  BOOST_TEST(c.code(refused) == "RESOURCE_EXHAUSTED");
  BOOST_TEST(c.look().barriers.empty());
  c.barrier(0, "g", 300s, bringing("a"));
  BOOST_TEST(c.round(c.barrier(1, "g", 300s, bringing("b"))) == "round 1: a|b");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
