#pragma once
// Counters of a journal, for operators.

#include "coxswain/base/duration_histogram.hpp"
#include "coxswain/base/time.hpp"

#include <cstdint>

namespace coxswain::server {

struct journal_statistics {
  std::uint64_t bytes_written{};  // since the start
  std::uint64_t batches{};        // since the journal's beginning
  std::uint64_t bytes_on_disk{};  // now
  bool lacks_space{};             // only what was reserved is left

  // With durability::disk: written bytes that no synchronization under way includes; how long
  // synchronizations took; and since when the present one is under way.
  std::uint64_t unsynchronized_bytes{};
  duration_histogram synchronizations;
  duration synchronizing{};

  // Snapshots written and failed since the start; the size of the last one, and its age, or that of
  // the start if there is none; and how long the longest fork for one stopped the coordinator.
  std::uint64_t snapshots{};
  std::uint64_t snapshots_failed{};
  std::uint64_t snapshot_bytes{};
  duration snapshot_age{};
  duration snapshot_stall_max{};
};

}  // namespace coxswain::server
