#include "options/exit_code.hpp"

namespace coxswain::tools {

exit_code exit_code_of(errc code) noexcept {
  switch (code) {
    case errc::ok: return exit_code::ok;
    case errc::invalid_argument: return exit_code::usage;
    case errc::unavailable: return exit_code::unavailable;
    case errc::deadline_exceeded: return exit_code::timed_out;
    case errc::data_loss: return exit_code::data_loss;
    case errc::unauthenticated:
    case errc::permission_denied: return exit_code::refused;
    default: return exit_code::failed;
  }
}

}  // namespace coxswain::tools
