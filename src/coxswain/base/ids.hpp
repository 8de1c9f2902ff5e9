#pragma once
// Distinct number types, so that a task is never mistaken for a round.

#include <compare>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <ostream>
#include <utility>

namespace coxswain {

template <class Tag, class Rep>
struct id {
  Rep value{};

  constexpr id() = default;

  // From any integer type; numbers that Rep cannot hold become its maximum, which names nothing.
  template <std::integral Number>
  constexpr explicit id(Number n) noexcept
      : value{std::in_range<Rep>(n) ? static_cast<Rep>(n) : std::numeric_limits<Rep>::max()} {}

  friend constexpr auto operator<=>(id, id) = default;
  friend std::ostream& operator<<(std::ostream& out, id i) { return out << +i.value; }
};

// A task of the job: 0 to n-1.
using task_id = id<struct task_tag, std::uint32_t>;

// Drawn at random by a process at its start; distinguishes a restarted process from the old one.
using incarnation = id<struct incarnation_tag, std::uint64_t>;

// Slot and generation: never used twice by one coordinator.
using session_id = id<struct session_tag, std::uint64_t>;
using connection_id = id<struct connection_tag, std::uint64_t>;

// Chosen by the client; rises strictly within a session.
using request_id = id<struct request_tag, std::uint64_t>;

// Numbers the uses of a barrier's name: 1, 2, 3, ...
using round_number = id<struct round_tag, std::uint64_t>;

}  // namespace coxswain

template <class Tag, class Rep>
struct std::hash<coxswain::id<Tag, Rep>> {
  std::size_t operator()(coxswain::id<Tag, Rep> i) const noexcept {
    return std::hash<Rep>{}(i.value);
  }
};
