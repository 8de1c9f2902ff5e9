#pragma once
// The address of one parked request: its session and its id.

#include "coxswain/base/ids.hpp"

#include <compare>

namespace coxswain::core {

struct ticket {
  session_id session{};
  request_id request{};

  friend constexpr auto operator<=>(ticket const&, ticket const&) = default;
};

}  // namespace coxswain::core
