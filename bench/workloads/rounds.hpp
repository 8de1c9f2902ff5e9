#pragma once
// Rounds in which all tasks arrive at a barrier and all are released.

#include "load/crowd.hpp"
#include "load/job.hpp"
#include "workloads/workload.hpp"

#include "coxswain/core/model/messages.hpp"

#include <cstdint>
#include <string>

namespace coxswain::bench {

// What all tasks say when they arrive, and what they get.
struct round_shape {
  core::barrier_args arrival{};
  core::barrier_answer release{};  // but for the number of the round
};

class rounds_load final : public crowd_load {
 public:
  rounds_load(crowd&& all, round_shape shape, arrivals how);

  // Its latencies: from the last arrival to the last release, and the whole round.
  tally measure(std::uint64_t steps) override;

 private:
  void round(tally& found);

  round_shape shape_;
  arrivals how_;
  std::uint64_t round_{};
};

}  // namespace coxswain::bench
