#include "coxswain/core/credential.hpp"

#include "coxswain/core/text.hpp"

namespace coxswain::core {

std::optional<std::size_t> credential_of(std::vector<credential> const& known,
                                         std::string_view token) noexcept {
  std::optional<std::size_t> found;
  if (token.empty()) return found;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (equal_in_constant_time(token, known[i].token)) found = i;
  }
  return found;
}

}  // namespace coxswain::core
