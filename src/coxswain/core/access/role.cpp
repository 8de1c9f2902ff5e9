#include "coxswain/core/access/role.hpp"

namespace coxswain::core {

std::string_view name(role r) noexcept {
  switch (r) {
    case role::reader: return "reader";
    case role::operator_: return "operator";
    case role::worker: return "worker";
    case role::relay: return "relay";
  }
  return "unknown";
}

std::optional<role> role_named(std::string_view text) noexcept {
  for (role const r : {role::reader, role::operator_, role::worker, role::relay}) {
    if (name(r) == text) return r;
  }
  return std::nullopt;
}

}  // namespace coxswain::core
