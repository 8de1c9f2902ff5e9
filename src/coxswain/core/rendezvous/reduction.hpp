#pragma once
// How a reducing round combines the operands of its participants (§6.3). Not here: what
// happens with the result (coordinator).

#include "coxswain/base/status.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/core/rendezvous/meeting.hpp"

#include <string>
#include <string_view>

namespace coxswain::core {

// "sum of integers".
[[nodiscard]] std::string_view words_of(reduction how) noexcept;

// INVALID_ARGUMENT if these bytes are not a valid operand of this reduction, which is not `none`.
[[nodiscard]] status checked_operand(reduction how, std::string_view operand);

// Whether all operands of a round must have the same length.
[[nodiscard]] constexpr bool is_bitwise(reduction how) noexcept {
  return how == reduction::bit_and || how == reduction::bit_or;
}

// Combines the operands of all participants, which have arrived and were checked. OUT_OF_RANGE: a
// sum overflows a 64-bit integer. FAILED_PRECONDITION: data that should be equal differs; the text
// names two tasks.
[[nodiscard]] result<std::string> reduced(reduction how, meeting const& round);

}  // namespace coxswain::core
