#pragma once
// The role that each request needs (semantics D3): the one table of it.

#include "coxswain/core/messages.hpp"
#include "coxswain/core/role.hpp"

namespace coxswain::core {

// What a session must be to ask this. What keeps a session going needs no more than a reader.
[[nodiscard]] role required_role(request const& what) noexcept;

// PERMISSION_DENIED: who is `mine` may not ask this; the text says what role may.
[[nodiscard]] status permission(role mine, request const& what);

}  // namespace coxswain::core
