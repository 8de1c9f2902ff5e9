#include "options/launcher.hpp"

#include "coxswain/client/process_environment.hpp"

namespace coxswain::tools {

launch::parameters const& launched() {
  static auto const found = launch::detect(process_environment());
  return found;
}

}  // namespace coxswain::tools
