#pragma once
// How much memory a process may use. Not here: how a coordinator uses it (options).

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace coxswain::server {

// The memory limits of a process, from the system.
struct memory_limits {
  std::size_t machine{};                     // physical memory, in bytes
  std::optional<std::size_t> address_space;  // RLIMIT_AS; none: without limit
  std::string control_groups;                // the text of /proc/self/cgroup
  // The text of a file below /sys/fs/cgroup; none if it cannot be read.
  std::function<std::optional<std::string>(std::string const& path)> read;
};

// The least of the machine's memory, the address space and the limits of the process's own control
// group, of version 1 or 2, and of all groups above it.
[[nodiscard]] std::size_t memory_allowed(memory_limits const& by);

// The limits of this process.
[[nodiscard]] memory_limits limits_of_this_process();

}  // namespace coxswain::server
