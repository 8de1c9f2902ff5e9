#include "bench_error.hpp"

#include <cerrno>
#include <system_error>

namespace coxswain::bench {

bench_error system_failure(std::string const& what) {
  return bench_error{what + ": " + std::generic_category().message(errno)};
}

}  // namespace coxswain::bench
