// Barriers that reduce the operands of all tasks to one result (§6.3).

#include "coxswain/base/little_endian.hpp"
#include "tests/core/cluster.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::test {
namespace {

using core::reduction;

constexpr auto least = std::numeric_limits<std::int64_t>::min();
constexpr auto greatest = std::numeric_limits<std::int64_t>::max();

asking bringing(reduction how, std::string operand, std::vector<std::uint32_t> among = {}) {
  return {.among = std::move(among), .reduce = how, .operand = std::move(operand)};
}
asking bringing(reduction how, std::int64_t number) {
  return bringing(how, to_little_endian(number));
}
asking bringing(reduction how, int number) { return bringing(how, std::int64_t{number}); }
asking bringing(reduction how, double number) { return bringing(how, to_little_endian(number)); }

// Task i contributes the i-th operand; returns the reply to task 0. Tasks arrive in reverse order.
template <class Operand>
std::string reduced(cluster& c, reduction how, std::vector<Operand> const& operands) {
  std::optional<call> last;
  for (std::size_t i = operands.size(); i-- > 0;) {
    last = c.barrier(static_cast<int>(i), "r", 300s, bringing(how, operands[i]));
  }
  auto const* const answer = c.body<core::barrier_answer>(*last);
  if (!answer) return c.code(*last);
  BOOST_TEST_REQUIRE(answer->data.size() == 1u);
  return std::string{answer->data[0].view()};
}

std::int64_t of_integers(reduction how, std::vector<std::int64_t> const& operands) {
  cluster c{static_cast<std::uint32_t>(operands.size())};
  return from_little_endian<std::int64_t>(reduced(c, how, operands));
}

double of_doubles(reduction how, std::vector<double> const& operands) {
  cluster c{static_cast<std::uint32_t>(operands.size())};
  return from_little_endian<double>(reduced(c, how, operands));
}

std::string of_bytes(reduction how, std::vector<std::string> const& operands) {
  cluster c{static_cast<std::uint32_t>(operands.size())};
  return reduced(c, how, operands);
}

BOOST_AUTO_TEST_SUITE(coordinator_reduction_test)

BOOST_FIXTURE_TEST_CASE(everybody_receives_the_one_result, job<3>) {
  std::vector<call> calls;
  for (int i = 0; i < 3; ++i) {
    calls.push_back(
        c.barrier(i, "r", 300s, bringing(reduction::sum_int64, std::int64_t{1} << (8 * i))));
  }

  for (call const one : calls) {
    BOOST_TEST(c.round(one) == "round 1: " + std::string("\1\1\1\0\0\0\0\0", 8));
    BOOST_TEST(c.answer_to(one) == c.answer_to(calls[0]));
  }
}

BOOST_AUTO_TEST_CASE(integers_are_summed_and_compared_with_their_sign) {
  BOOST_TEST(of_integers(reduction::sum_int64, {5, -7, 1}) == -1);
  BOOST_TEST(of_integers(reduction::min_int64, {5, -7, 1}) == -7);
  BOOST_TEST(of_integers(reduction::max_int64, {-5, -7, -1}) == -1);
  BOOST_TEST(of_integers(reduction::sum_int64, {least}) == least);
}

BOOST_AUTO_TEST_CASE(only_the_whole_sum_of_integers_must_fit) {
  BOOST_TEST(of_integers(reduction::sum_int64, {greatest, greatest, least, least, 2}) == 0);
  BOOST_TEST(of_integers(reduction::sum_int64, {greatest - 1, 1}) == greatest);
  BOOST_TEST(of_integers(reduction::sum_int64, {least + 1, -1}) == least);
}

BOOST_AUTO_TEST_CASE(a_sum_that_overflows_fails_the_round_for_all) {
  for (auto const& [a, b] : {std::pair{greatest, std::int64_t{1}}, {least, std::int64_t{-1}}}) {
    cluster c{2};
    auto const zero = c.barrier(0, "r", 300s, bringing(reduction::sum_int64, a));
    auto const one = c.barrier(1, "r", 300s, bringing(reduction::sum_int64, b));

    BOOST_TEST(c.round(zero) == "round 1 OUT_OF_RANGE 2/2 missing ");
    BOOST_TEST(c.answer_to(zero) == c.answer_to(one));
    expect_words(c.text(one), {"Barrier 'r' round 1 failed", "sum of the 2 numbers", "64 bits"});
    auto const next = c.barrier(0, "r");
    BOOST_TEST(c.after(c.barrier(1, "r")).round(next) == "round 2");
  }
}

BOOST_AUTO_TEST_CASE(doubles_are_summed_and_compared) {
  BOOST_TEST(of_doubles(reduction::sum_double, {0.5, -2, 4}) == 2.5);
  BOOST_TEST(of_doubles(reduction::min_double, {0.5, -2, 4}) == -2);
  BOOST_TEST(of_doubles(reduction::max_double, {-0.5, -2, -4}) == -0.5);
  double const infinity = std::numeric_limits<double>::infinity();
  BOOST_TEST(of_doubles(reduction::sum_double, {1e308, 1e308}) == infinity);
  BOOST_TEST(of_doubles(reduction::min_double, {infinity, -infinity}) == -infinity);
}

// Another order of summation would change whether the small operands are lost.
BOOST_AUTO_TEST_CASE(doubles_are_added_in_task_order_whoever_comes_first) {
  std::vector<double> const operands{1e16, 1, 1, -1e16};
  std::vector<std::vector<int>> const orders{{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 2, 0, 3}};
  for (auto const& order : orders) {
    cluster c{4};
    std::optional<call> last;
    for (int const i : order) {
      last = c.barrier(i, "r", 300s,
                       bringing(reduction::sum_double, operands[static_cast<std::size_t>(i)]));
    }
    auto const& data = c.body<core::barrier_answer>(*last)->data;
    BOOST_TEST(from_little_endian<double>(data.at(0).view()) == ((1e16 + 1) + 1) + -1e16);
  }
}

BOOST_AUTO_TEST_CASE(if_one_double_is_no_number_neither_is_the_result) {
  double const odd = std::numeric_limits<double>::quiet_NaN();
  for (auto const how : {reduction::sum_double, reduction::min_double, reduction::max_double}) {
    BOOST_TEST(std::isnan(of_doubles(how, {1, odd, 2})));
    BOOST_TEST(std::isnan(of_doubles(how, {odd, 1})));
    BOOST_TEST(std::isnan(of_doubles(how, {1, odd})));
  }
}

BOOST_AUTO_TEST_CASE(bits_are_combined_one_by_one) {
  BOOST_TEST(of_bytes(reduction::bit_and, {"\x0f\xff", "\x3c\x80", "\x0c\xff"}) == "\x0c\x80");
  BOOST_TEST(of_bytes(reduction::bit_or, {"\x01\x80", "\x02\x80", "\x04\x01"}) == "\x07\x81");
  BOOST_TEST(of_bytes(reduction::bit_or, {"", ""}) == "");
}

BOOST_FIXTURE_TEST_CASE(bits_of_another_length_are_refused_to_their_caller_only, job<2>) {
  auto const zero = c.barrier(0, "r", 300s, bringing(reduction::bit_or, std::string{"ab"}));

  auto const longer = c.barrier(1, "r", 300s, bringing(reduction::bit_or, std::string{"abc"}));
  BOOST_TEST(c.code(longer) == "INVALID_ARGUMENT");
  expect_words(c.text(longer), {"'r' round 1", "2 bytes", "3"});
  BOOST_TEST(c.code(zero) == "waits");
  auto const own = c.barrier(0, "r", 300s, bringing(reduction::bit_or, std::string{"a"}));
  BOOST_TEST(c.code(own, zero) == "INVALID_ARGUMENT waits");
  c.barrier(1, "r", 300s, bringing(reduction::bit_or, std::string{"  "}));

  BOOST_TEST(c.round(zero) == "round 1: ab");
}

BOOST_AUTO_TEST_CASE(what_is_equal_passes_and_is_the_result) {
  BOOST_TEST(of_bytes(reduction::all_equal, {"abc", "abc", "abc"}) == "abc");
  BOOST_TEST(of_bytes(reduction::all_equal, {"", ""}) == "");
}

BOOST_AUTO_TEST_CASE(what_should_be_equal_and_differs_fails_the_round_and_names_two_who_differ) {
  cluster c{5};
  std::vector<std::string> const operands{"-", "abc", "-", "abc", "abd"};
  std::vector<std::uint32_t> const among{1, 3, 4};
  std::vector<call> calls;
  for (std::uint32_t const i : {4u, 3u, 1u}) {
    calls.push_back(c.barrier(static_cast<int>(i), "r", 300s,
                              bringing(reduction::all_equal, operands[i], among)));
  }

  for (call const one : calls) {
    BOOST_TEST(c.round(one) == "round 1 FAILED_PRECONDITION 3/3 missing ");
    expect_words(c.text(one),
                 {"Barrier 'r' round 1 failed", "task 1 and task 4", "different data"});
  }
}

BOOST_AUTO_TEST_CASE(what_is_shorter_is_not_equal) {
  BOOST_TEST(of_bytes(reduction::all_equal, {"abc", "ab"}) == "FAILED_PRECONDITION");
  BOOST_TEST(of_bytes(reduction::all_equal, {"", "a"}) == "FAILED_PRECONDITION");
}

BOOST_AUTO_TEST_CASE(a_number_of_the_wrong_size_is_refused_before_it_arrives) {
  for (auto const how : {reduction::sum_int64, reduction::min_int64, reduction::max_int64,
                         reduction::sum_double, reduction::min_double, reduction::max_double}) {
    for (std::size_t const size : {0u, 7u, 9u}) {
      cluster c{2};

      auto const refused = c.barrier(0, "r", 300s, bringing(how, std::string(size, 'x')));

      BOOST_TEST(c.code(refused) == "INVALID_ARGUMENT");
      expect_words(c.text(refused), {"8 bytes", std::to_string(size)});
      BOOST_TEST(c.look().barriers.empty());
    }
  }
}

BOOST_FIXTURE_TEST_CASE(a_round_either_gathers_or_reduces_in_a_way_that_is_known, job<1>) {
  auto const both = c.barrier(0, "r", 300s, {.gather = "12345678", .reduce = reduction::sum_int64});
  auto const unknown = c.barrier(0, "r", 300s, bringing(reduction::unknown, std::string{"x"}));

  BOOST_TEST(c.code(both, unknown) == "INVALID_ARGUMENT INVALID_ARGUMENT");
  expect_words(c.text(unknown), {"does not support this kind of reduction"});
}

BOOST_AUTO_TEST_CASE(all_callers_of_a_round_must_reduce_alike) {
  for (auto const& other : {bringing(reduction::max_int64, 1), bringing(reduction::sum_double, 1.0),
                            asking{}, asking{.gather = "12345678"}}) {
    cluster c{2};
    auto const zero = c.barrier(0, "r", 300s, bringing(reduction::sum_int64, 1));

    auto const one = c.barrier(1, "r", 300s, other);

    BOOST_TEST(c.code(zero, one) == "INVALID_ARGUMENT INVALID_ARGUMENT");
    expect_words(c.text(zero), {"task 1 differs from the waiting tasks: operation ",
                                " instead of reduction sum of integers"});
  }
}

BOOST_AUTO_TEST_CASE(callers_that_differ_learn_in_what) {
  cluster c{3};
  c.barrier(0, "r", 300s, bringing(reduction::sum_int64, 1));

  auto const one = c.barrier(1, "r", 300s, {.among = {0, 1}, .gather = "12345678"});

  BOOST_TEST(c.text(one) ==
             "Barrier 'r' round 1: task 1 differs from the waiting tasks: operation all_gather "
             "instead of reduction sum of integers, participants 0-1 instead of 0-2");
}

BOOST_FIXTURE_TEST_CASE(the_newer_operand_of_a_task_that_asks_again_counts, job<2>) {
  auto const older = c.barrier(0, "r", 300s, bringing(reduction::sum_int64, 10));
  c.barrier(0, "r", 300s, bringing(reduction::sum_int64, 1));
  auto const one = c.barrier(1, "r", 300s, bringing(reduction::sum_int64, 2));

  BOOST_TEST(c.code(older) == "CANCELLED");
  auto const& data = c.body<core::barrier_answer>(one)->data;
  BOOST_TEST(from_little_endian<std::int64_t>(data.at(0).view()) == 3);
}

BOOST_AUTO_TEST_CASE(the_operand_of_a_task_that_failed_is_that_of_its_next_incarnation) {
  cluster c{3, {.recoverable = true}};
  c.barrier(0, "r", 300s, bringing(reduction::sum_int64, 10));
  auto const one = c.barrier(1, "r", 300s, bringing(reduction::sum_int64, 2));
  c.report_error(0, errc::internal, "boom");
  int const fresh = c.observer();
  c.join({fresh, 0}, 999);

  c.barrier(fresh, "r", 300s, bringing(reduction::sum_int64, 5));
  c.barrier(2, "r", 300s, bringing(reduction::sum_int64, 0));

  auto const& data = c.body<core::barrier_answer>(one)->data;
  BOOST_TEST(from_little_endian<std::int64_t>(data.at(0).view()) == 7);
}

BOOST_AUTO_TEST_CASE(operands_count_against_the_limit_of_gathered_data) {
  cluster c{2, {.gather_bytes_max = 10}};
  auto const zero = c.barrier(0, "r", 300s, bringing(reduction::bit_or, std::string(6, 'a')));

  auto const one = c.barrier(1, "r", 300s, bringing(reduction::bit_or, std::string(6, 'a')));

  BOOST_TEST(c.code(zero, one) == "RESOURCE_EXHAUSTED RESOURCE_EXHAUSTED");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
