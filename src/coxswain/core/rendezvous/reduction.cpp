#include "coxswain/core/rendezvous/reduction.hpp"

#include "coxswain/base/little_endian.hpp"
#include "coxswain/core/model/reasons.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace coxswain::core {
namespace {

// Holds the sum of more 64-bit integers than there can be tasks.
__extension__ using wide_integer = __int128;

template <class Number>
std::vector<Number> numbers_in(std::vector<bytes> const& operands) {
  std::vector<Number> numbers;
  numbers.reserve(operands.size());
  for (bytes const& operand : operands)
    numbers.push_back(from_little_endian<Number>(operand.view()));
  return numbers;
}

// Only the final sum must fit: in between it can be larger, in any order.
result<std::string> integer_sum(std::vector<std::int64_t> const& numbers) {
  wide_integer sum = 0;
  for (std::int64_t const n : numbers) sum += n;
  if (sum < std::numeric_limits<std::int64_t>::min() ||
      sum > std::numeric_limits<std::int64_t>::max()) {
    return fail<&reasons::sum_overflows>(numbers.size());
  }
  return to_little_endian(static_cast<std::int64_t>(sum));
}

// In task order, so that rounding does not depend on the order of arrival.
std::string double_sum(std::vector<double> const& numbers) {
  double sum = 0;
  for (double const n : numbers) sum += n;
  return to_little_endian(sum);
}

// The first number that no other is `better` than; the first that is no number, if there is one.
template <class Number, class Better>
std::string best(std::vector<Number> const& numbers, Better better) {
  if constexpr (std::is_floating_point_v<Number>) {
    auto const odd = std::find_if(numbers.begin(), numbers.end(), [](Number n) { return n != n; });
    if (odd != numbers.end()) return to_little_endian(*odd);
  }
  return to_little_endian(*std::min_element(numbers.begin(), numbers.end(), better));
}

template <class Combine>
std::string bit_by_bit(std::vector<bytes> const& operands, Combine combine) {
  std::string all{operands.front().view()};
  for (bytes const& operand : operands) {
    std::transform(all.begin(), all.end(), operand.view().begin(), all.begin(),
                   [&](char a, char b) {
                     return static_cast<char>(
                         combine(static_cast<unsigned char>(a), static_cast<unsigned char>(b)));
                   });
  }
  return all;
}

result<std::string> common(std::vector<bytes> const& operands, task_set const& from) {
  auto const other = std::find_if(operands.begin(), operands.end(), [&](bytes const& operand) {
    return operand != operands.front();
  });
  if (other == operands.end()) return std::string{operands.front().view()};
  auto const index = static_cast<std::uint32_t>(other - operands.begin());
  return fail<&reasons::data_differs>(from.at(0), from.at(index));
}

}  // namespace

std::string_view words_of(reduction how) noexcept {
  switch (how) {
    case reduction::sum_int64: return "sum of integers";
    case reduction::min_int64: return "minimum of integers";
    case reduction::max_int64: return "maximum of integers";
    case reduction::sum_double: return "sum of floating-point numbers";
    case reduction::min_double: return "minimum of floating-point numbers";
    case reduction::max_double: return "maximum of floating-point numbers";
    case reduction::bit_and: return "bitwise and";
    case reduction::bit_or: return "bitwise or";
    case reduction::all_equal: return "all_equal";
    case reduction::none:
    case reduction::unknown: break;
  }
  return "unknown";
}

status checked_operand(reduction how, std::string_view operand) {
  switch (how) {
    case reduction::none:
    case reduction::unknown: return fail<&reasons::unknown_reduction>();
    case reduction::bit_and:
    case reduction::bit_or:
    case reduction::all_equal: return {};
    case reduction::sum_int64:
    case reduction::min_int64:
    case reduction::max_int64:
    case reduction::sum_double:
    case reduction::min_double:
    case reduction::max_double: break;
  }
  if (operand.size() == number_bytes) return {};
  return fail<&reasons::operand_is_no_number>(operand.size());
}

result<std::string> reduced(reduction how, meeting const& round) {
  std::vector<bytes> const operands = round.gathered();
  switch (how) {
    case reduction::sum_int64: return integer_sum(numbers_in<std::int64_t>(operands));
    case reduction::min_int64: return best(numbers_in<std::int64_t>(operands), std::less{});
    case reduction::max_int64: return best(numbers_in<std::int64_t>(operands), std::greater{});
    case reduction::sum_double: return double_sum(numbers_in<double>(operands));
    case reduction::min_double: return best(numbers_in<double>(operands), std::less{});
    case reduction::max_double: return best(numbers_in<double>(operands), std::greater{});
    case reduction::bit_and: return bit_by_bit(operands, std::bit_and{});
    case reduction::bit_or: return bit_by_bit(operands, std::bit_or{});
    case reduction::none:
    case reduction::unknown:  // checked_operand has refused them
    case reduction::all_equal: break;
  }
  return common(operands, round.expected());
}

}  // namespace coxswain::core
