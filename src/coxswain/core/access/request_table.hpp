#pragma once
// The table of requests: the name of each, the role it needs (semantics D3), and what it may cost.
// Not here: their handlers (request_router).

#include "coxswain/core/access/role.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/core/observe/statistics.hpp"

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <variant>

namespace coxswain::core {

// Messages about the session or about another request have no id of their own and no handler.
template <class Args>
inline constexpr bool is_numbered =
    !(std::is_same_v<Args, std::monostate> || std::is_same_v<Args, hello_args> ||
      std::is_same_v<Args, resume_args> || std::is_same_v<Args, bye_args> ||
      std::is_same_v<Args, cancel_args> || std::is_same_v<Args, ask_waiting_args>);

struct request_row {
  std::string_view name;  // for programs: "get_all"
  std::string_view verb;  // for texts: "get keys"
  role needed{};          // requests that keep a session alive need only a reader
  std::uint8_t traits{};

  enum trait : std::uint8_t {
    needs_memory = 1,  // it waits or stores, and is refused when memory runs out
    together = 2,      // synchronizes tasks: it may use memory that others must leave free
    stores = 4,        // it stores something, and its reply is kept while there is room
    produces = 8,      // it may complete a waiting get or pop
    of_epoch = 16      // it may wait for other members, and ends with their epoch
  };
  [[nodiscard]] bool is(trait one) const noexcept { return (traits & one) != 0; }

  // Refused, whatever its arguments are, while nothing may be stored.
  [[nodiscard]] bool is_stored() const noexcept { return is(stores) || is(produces); }
};

[[nodiscard]] request_row const& row_of(request const& what) noexcept;

}  // namespace coxswain::core
