#include "options/launcher.hpp"

#include "coxswain/client/process_surroundings.hpp"

namespace coxswain::tools {

launch::parameters const& launched() {
  static auto const found = launch::detect(process_surroundings());
  return found;
}

}  // namespace coxswain::tools
