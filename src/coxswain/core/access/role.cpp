#include "coxswain/core/access/role.hpp"

#include "coxswain/core/model/reasons.hpp"

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

status permission(role mine, role needed, std::string_view verb) {
  bool const permits = mine == role::relay ? needed == role::reader : mine >= needed;
  if (permits) return {};
  return fail<&reasons::role_is_too_low>(name(mine), verb, name(needed));
}

std::optional<role> role_named(std::string_view text) noexcept {
  for (role const r : {role::reader, role::operator_, role::worker, role::relay}) {
    if (name(r) == text) return r;
  }
  return std::nullopt;
}

}  // namespace coxswain::core
