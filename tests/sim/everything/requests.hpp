#pragma once
// The requests of a process of a simulated job: of every kind, mostly about shared names. Not here:
// when they are made (actor).

#include "coxswain/core/model/messages.hpp"
#include "tests/sim/everything/plan.hpp"
#include "tests/sim/network.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::sim {

struct side_call {
  core::request what;
  duration timeout{};
};

// `text` is a unique value. Without a task, only requests that need none.
[[nodiscard]] side_call any_side_call(generator& random, plan const& of,
                                      std::optional<task_id> task, std::string text);

// Finishes, releases or extends one of these items, which need not be held any more.
[[nodiscard]] core::request any_lease_change(generator& random,
                                             std::vector<core::value_answer> const& taken);

// The request of a task at a meeting.
[[nodiscard]] core::request request_for(gathering const& g, generator& random, task_id task,
                                        std::uint32_t num_tasks);

// Whether a task makes it.
[[nodiscard]] bool is_of_task(core::request const& what);

// A task's contribution to every exchange.
[[nodiscard]] core::local_topology topology_of(task_id task);

}  // namespace coxswain::sim
