#pragma once
// The target of every attack on the coordinator's time: the job continues, nearly as fast as
// undisturbed, and probes are answered.

#include "tests/hostile/attack.hpp"
#include "tests/hostile/coordinator_process.hpp"

#include "coxswain/base/time.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace coxswain::hostile {

// How many tasks the job has.
inline constexpr std::size_t job_tasks = 50;

// Checks that, while these attack, barriers of a job of `job_tasks` take at most twice as long as
// in peace and 10 ms (99th percentile), that GET /livez is answered within 100 ms, and that 99 of
// 100 iterations of the coordinator's loop take at most 5 ms. Other load of the machine disturbs,
// too: up to ten attempts are made, of which one must succeed. The attack is measured for so long.
//
// Whatever else the machine does: no iteration does more than a bounded number of steps for the
// attackers, no task within its share waits for more than two iterations, no attacker is cut off,
// and SIGTERM ends the coordinator in time.
void expect_undisturbed(coordinator_process& coordinator, std::vector<attacker> const& by,
                        duration how_long);

// Puts so many keys "DIRECTORY/0", "DIRECTORY/1"... with this value.
void put_keys(std::string const& address, std::string const& directory, std::size_t count,
              std::string const& value = "x");

}  // namespace coxswain::hostile
