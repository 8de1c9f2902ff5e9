#include "progress.hpp"

#include <cstdio>

#include <unistd.h>

namespace coxswain::bench {

progress::progress() : is_live_{::isatty(STDERR_FILENO) != 0} {}

progress::~progress() { show({}); }

void progress::show(std::string const& text) const {
  if (!is_live_) return;
  std::fprintf(stderr, "\r\x1b[K%s", text.c_str());
  std::fflush(stderr);
}

}  // namespace coxswain::bench
