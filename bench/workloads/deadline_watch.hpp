#pragma once
// Which calls have which deadline, and which of them were answered before it. Pure: no clock, no
// I/O.

#include "workloads/workload.hpp"

#include "coxswain/base/ids.hpp"
#include "coxswain/base/time.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace coxswain::bench {

class deadline_watch {
 public:
  using call = std::pair<std::size_t, request_id>;  // a connection's

  // How late the coordinator finds itself: the last 4,096 deadlines, and all of them.
  struct own_lateness {
    duration p99{};
    duration max{};
    std::uint64_t answered{};
  };

  // To be told just before the call is sent: the coordinator cannot have read it earlier.
  void begins(call which, time_point deadline);
  // Returns how late the answer came: below zero if it came too early. Throws bench_error: there is
  // no such call.
  duration ends(call which, time_point at);

  [[nodiscard]] std::size_t open() const noexcept { return open_.size(); }

  // For another process of the same program, which makes of it what is to be told.
  [[nodiscard]] std::string to_bytes(own_lateness const& own) const;
  [[nodiscard]] static finding told(std::string_view bytes);

 private:
  std::map<call, time_point> open_;
  std::uint64_t ended_{};
  std::uint64_t early_{};
  duration early_by_max_{};
};

}  // namespace coxswain::bench
