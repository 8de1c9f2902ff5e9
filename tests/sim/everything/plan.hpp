#pragma once
// The decisions about a simulated job before it starts, all from its seed: its size, limits,
// meetings of its tasks, and possible faults. Not here: when faults happen (job).

#include "coxswain/core/config.hpp"
#include "coxswain/core/model/messages.hpp"
#include "tests/sim/world.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::sim {

// The meetings of all tasks, in order.
struct gathering {
  enum class kind : std::uint8_t { barrier, count_barrier, alive, topology };
  kind what{};
  std::string name;
  std::vector<task_id> participants;  // empty: all
  bool gathers{};
  core::reduction reduce{core::reduction::none};
  bool fails_when_lost{};
  duration timeout{};
};

// Elastic jobs change their number of tasks; large ones have 32 and many epochs.
enum class job_kind : std::uint8_t { fixed, elastic, large };

struct plan {
  // `has_relays`: in any case, and not only by chance.
  explicit plan(std::uint64_t seed, job_kind kind = job_kind::fixed, bool has_relays = false);

  core::config options;
  habits ways;
  bool limits_are_small{};
  duration delay_max{};
  std::vector<std::uint32_t> tasks_of_process;  // number of tasks of each of the first processes
  std::vector<bool> recoverable;                // by task
  std::vector<bool> hosted;                     // by task: guests act for it
  std::uint32_t observers{};
  std::vector<gathering> gatherings;
  std::uint32_t side_scripts{};       // scripts beside the main one, for each task
  std::uint32_t side_script_steps{};  // of each of them
  std::uint32_t faults{};             // that sessions mostly survive
  std::uint32_t deaths{};
  std::uint32_t restarts{};  // clean exits
  std::uint32_t spares{};    // processes that join without a number
  std::uint32_t members{};   // of an elastic job: processes at the start
  std::uint32_t machines{};  // of all members; 0: mostly one for each
  std::uint32_t resizes{};
  std::uint32_t preemptions{};  // of members
  std::optional<duration> drains_after;
  bool members_have_guests{};  // half of them do, which act for them
  duration horizon{6s};        // end of the faults
  bool checks_recording{};
  std::uint32_t crashes{};         // of the coordinator, which has a journal
  std::uint32_t machine_losses{};  // with the coordinator, which continues elsewhere
  std::uint32_t disk_failures{};
  std::uint32_t full_disks{};
  std::uint32_t relays{};
  std::uint32_t relay_faults{};

 private:
  void add_relays(generator r);
  void make_elastic(generator r, bool is_large);
};

}  // namespace coxswain::sim
