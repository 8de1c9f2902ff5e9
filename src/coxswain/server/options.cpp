#include "coxswain/server/options.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace coxswain::server {
namespace {

std::size_t machine_memory() {
  auto const pages = static_cast<std::size_t>(std::max(1L, ::sysconf(_SC_PHYS_PAGES)));
  auto const page = static_cast<std::size_t>(std::max(1L, ::sysconf(_SC_PAGESIZE)));
  std::ifstream group{"/sys/fs/cgroup/memory.max"};
  std::size_t limit{};
  // It says "max" where there is no limit.
  if (group >> limit && limit > 0) return std::min(pages * page, limit);
  return pages * page;
}

}  // namespace

options::options() { core.memory_bytes_max = machine_memory() / 2; }

}  // namespace coxswain::server
