#pragma once
// The resource usage of this process. Not here: its presentation (metrics).

#include <cstdint>

namespace coxswain::status_page {

struct process_usage {
  double cpu_seconds{};
  double started_unix_s{};
  std::uint64_t resident_bytes{};
  std::uint64_t virtual_bytes{};
  std::uint64_t open_descriptors{};
  std::uint64_t descriptors_max{};
  std::uint64_t threads{};
};

// Read from /proc and getrusage; values that cannot be read are zero.
[[nodiscard]] process_usage usage_of_this_process();

}  // namespace coxswain::status_page
