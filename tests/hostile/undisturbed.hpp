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

// The number of tasks of the job.
inline constexpr std::size_t job_tasks = 50;

// Checks that, during this attack, barriers of a job of `job_tasks` take at most twice the
// undisturbed time plus 10 ms (99th percentile), GET /livez responds within 100 ms, and 99 % of the
// coordinator's loop iterations take at most 5 ms. Because other load of the machine disturbs as
// well, one of up to ten attempts must succeed. Each attack is measured for this long.
//
// Under any load: every iteration does a bounded number of steps for the attackers, no task within
// its share waits for more than two iterations, no attacker is disconnected, and SIGTERM ends the
// coordinator in time.
void expect_undisturbed(coordinator_process& coordinator, std::vector<attacker> const& by,
                        duration how_long);

// Puts this many keys "DIRECTORY/0", "DIRECTORY/1"... with this value.
void put_keys(std::string const& address, std::string const& directory, std::size_t count,
              std::string const& value = "x");

}  // namespace coxswain::hostile
