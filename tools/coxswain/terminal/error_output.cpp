#include "terminal/error_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace coxswain::tools {

void write_error(std::string const& text) noexcept {
  std::fputs(text.c_str(), stderr);
  std::clearerr(stderr);
}

void open_standard_descriptors() noexcept {
  // The lowest free number is opened.
  for (int fd = ::open("/dev/null", O_RDWR); fd >= 0 && fd <= STDERR_FILENO;) {
    fd = ::open("/dev/null", O_RDWR);
  }
}

}  // namespace coxswain::tools
