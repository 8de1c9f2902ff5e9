#pragma once
// What a load found in one sample. Not here: what the operating system knows of it (side).

#include "histogram.hpp"

#include "coxswain/base/time.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::bench {

struct tally {
  // A part of the sample, if it has parts that are told apart.
  struct part {
    duration elapsed{};
    duration server_cpu{};  // zero if the server's process is not known
  };

  std::vector<histogram> latencies;  // as many as the workload names, in its order
  std::uint64_t operations{};        // what CPU time is divided by
  duration elapsed{};                // while the clock ran
  duration busy{};                   // the load's own CPU time in it
  std::vector<part> parts;           // as many as the workload names, in its order

  // For another process of the same program.
  [[nodiscard]] std::string to_bytes() const;
  [[nodiscard]] static tally from_bytes(std::string_view from);
};

}  // namespace coxswain::bench
