#pragma once
// What a reducing round makes of the operands of its participants (semantics D15). Not here: what
// follows from the result (coordinator).

#include "coxswain/base/status.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/core/rendezvous/meeting.hpp"

#include <string>
#include <string_view>

namespace coxswain::core {

// INVALID_ARGUMENT if these bytes are no operand of this reduction, which is not `none`.
[[nodiscard]] status checked_operand(reduction how, std::string_view operand);

// Whether all operands of a round must have the same length.
[[nodiscard]] constexpr bool is_bitwise(reduction how) noexcept {
  return how == reduction::bit_and || how == reduction::bit_or;
}

// What all have brought, made one. All participants have arrived, each with an operand that was
// checked. OUT_OF_RANGE: a sum is no 64-bit integer. FAILED_PRECONDITION: what should be equal
// differs; the text names two who differ.
[[nodiscard]] result<std::string> reduced(reduction how, meeting const& round);

}  // namespace coxswain::core
