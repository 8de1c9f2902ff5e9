#pragma once
// The coordinator's counters for operators, plain data. They affect no decision. Not here:
// individual rounds of barriers (round_history), the present state (snapshot).

#include "coxswain/base/duration_histogram.hpp"
#include "coxswain/base/ids.hpp"
#include "coxswain/base/status.hpp"
#include "coxswain/core/model/messages.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <variant>

namespace coxswain::core {

// The request's index in `request`; or one unknown to this version.
using operation = id<struct operation_tag, std::uint8_t>;

inline constexpr operation unknown_operation{std::variant_size_v<request>};
inline constexpr std::size_t operations = unknown_operation.value + 1;

template <class Args>
inline constexpr operation operation_id =
    []<class... All>(std::type_identity<std::variant<All...>>) {
      operation at;
      static_cast<void>(((std::is_same_v<Args, All> || (++at.value, false)) || ...));
      return at;
    }(std::type_identity<request>{});

// A word for programs, such as "get_all".
[[nodiscard]] std::string_view name(operation what) noexcept;

struct statistics {
  static constexpr std::size_t codes = static_cast<std::size_t>(errc::unauthenticated) + 1;
  using by_code = std::array<std::uint64_t, codes>;

  // The requests that were answered, by operation and by the code of the answer. Those that need
  // no answer (heartbeats, cancellations, Bye) count as OK.
  std::array<by_code, operations> requests{};

  // The rounds of barriers of tasks that have ended, and how long they were open.
  by_code rounds{};
  duration_histogram barrier_wait;

  // How late calls whose deadline had come were answered.
  duration_histogram lateness;

  // Sessions that have ended for lack of a sign of life; and because their connection was lost and
  // not resumed.
  std::uint64_t heartbeats_expired{};
  std::uint64_t graces_expired{};

  // Items of queues that were taken and returned to their place: because their lease expired, or
  // for another reason.
  std::uint64_t leases_expired{};
  std::uint64_t leases_returned{};

  // How often the event loop stalled long enough to extend liveness deadlines, and for how long.
  std::uint64_t stalls{};
  duration stalled{};

  // The keys and tasks visited for requests: their cost besides a fixed amount for each. Unlike
  // time, much the same on every machine.
  std::uint64_t steps{};

  void count_request(operation what, errc code) noexcept {
    ++requests[what.value][static_cast<std::size_t>(code)];
  }
  void count_round(errc code, duration wait) noexcept {
    ++rounds[static_cast<std::size_t>(code)];
    barrier_wait.record(wait);
  }

  friend bool operator==(statistics const&, statistics const&) = default;
};

}  // namespace coxswain::core
