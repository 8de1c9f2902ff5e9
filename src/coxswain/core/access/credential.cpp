#include "coxswain/core/access/credential.hpp"

#include "coxswain/core/kernel/text.hpp"
#include "coxswain/core/model/reasons.hpp"

#include <unordered_set>

namespace coxswain::core {

status check(std::vector<credential> const& all) {
  std::unordered_set<std::string_view> seen;
  for (auto const& credential : all) {
    if (credential.token.empty()) return fail<&reasons::empty_token>();
    if (!seen.insert(credential.token).second) return fail<&reasons::duplicate_token>();
  }
  return {};
}

std::optional<std::size_t> credential_of(std::vector<credential> const& known,
                                         std::string_view token) noexcept {
  std::optional<std::size_t> found;
  if (token.empty()) return found;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (equal_in_constant_time(token, known[i].token)) found = i;
  }
  return found;
}

std::string worker_token(std::vector<credential> const& known) {
  for (auto const& known_credential : known) {
    if (known_credential.as == role::worker) return known_credential.token;
  }
  return {};
}

}  // namespace coxswain::core
