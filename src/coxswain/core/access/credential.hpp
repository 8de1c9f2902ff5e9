#pragma once
// A token, and the role it gives. Not here: what a role may do (access).

#include "coxswain/base/status.hpp"
#include "coxswain/core/access/role.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::core {

struct credential {
  role as{role::worker};
  std::string token;

  friend bool operator==(credential const&, credential const&) = default;
};

// INVALID_ARGUMENT: one is empty, or two are the same, so that the role would be ambiguous.
[[nodiscard]] status check(std::vector<credential> const& all);

// The credential with this token, if any; the empty token never matches. Its duration reveals only
// their number and lengths.
[[nodiscard]] std::optional<std::size_t> credential_of(std::vector<credential> const& known,
                                                       std::string_view token) noexcept;

// The first token with the role of a worker; empty: there is none.
[[nodiscard]] std::string worker_token(std::vector<credential> const& known);

}  // namespace coxswain::core
