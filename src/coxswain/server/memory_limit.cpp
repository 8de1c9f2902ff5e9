#include "coxswain/server/memory_limit.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <utility>

namespace coxswain::server {
namespace {

std::optional<std::string> content_of(std::string const& path) {
  std::ifstream file{path};
  if (!file) return std::nullopt;
  return std::string{std::istreambuf_iterator<char>{file}, {}};
}

// Nothing for "max", which means without limit.
std::optional<std::size_t> number_in(std::string_view text) {
  std::size_t number{};
  auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || end == text.data()) return std::nullopt;
  return number;
}

bool lists(std::string_view controllers, std::string_view wanted) {
  return ("," + std::string{controllers} + ",").find("," + std::string{wanted} + ",") !=
         std::string::npos;
}

// Checks the group and all above it. In a container the path can be that of the host, of which only
// the root is visible.
void check_groups(memory_limits const& by, std::string const& mount, std::string_view group,
                  std::string const& file, std::size_t& least) {
  for (;;) {
    while (group.ends_with('/')) group.remove_suffix(1);
    if (auto const text = by.read(mount + std::string{group} + "/" + file)) {
      if (auto const limit = number_in(*text); limit && *limit > 0) least = std::min(least, *limit);
    }
    if (group.empty()) return;
    group = group.substr(0, group.rfind('/'));
  }
}

}  // namespace

std::size_t memory_allowed(memory_limits const& by) {
  std::size_t least = by.machine;
  if (by.address_space) least = std::min(least, *by.address_space);
  std::string_view rest = by.control_groups;
  while (!rest.empty()) {
    // "hierarchy:controllers:path"; version 2 names no controllers.
    auto const line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    auto const first = line.find(':');
    auto const second = first == line.npos ? first : line.find(':', first + 1);
    if (second == line.npos) continue;
    auto const controllers = line.substr(first + 1, second - first - 1);
    auto const group = line.substr(second + 1);
    if (controllers.empty()) check_groups(by, "/sys/fs/cgroup", group, "memory.max", least);
    if (lists(controllers, "memory")) {
      check_groups(by, "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes", least);
    }
  }
  return least;
}

memory_limits limits_of_this_process() {
  auto const pages = static_cast<std::size_t>(std::max(1L, ::sysconf(_SC_PHYS_PAGES)));
  auto const page = static_cast<std::size_t>(std::max(1L, ::sysconf(_SC_PAGESIZE)));
  memory_limits found;
  found.machine = pages * page;
  rlimit space{};
  if (::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
    found.address_space = space.rlim_cur;
  }
  found.control_groups = content_of("/proc/self/cgroup").value_or("");
  found.read = content_of;
  return found;
}

}  // namespace coxswain::server
