#pragma once
// What a process of a simulated job asks for: requests of every kind, mostly about things that
// others ask for, too. Not here: who asks when (actor).

#include "coxswain/core/model/messages.hpp"
#include "tests/sim/everything/plan.hpp"
#include "tests/sim/network.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace coxswain::sim {

struct errand {
  core::request what;
  duration timeout{};
};

// `text` is a value that nobody else stores. Without a task only what needs none.
[[nodiscard]] errand any_errand(generator& random, plan const& of, std::optional<task_id> task,
                                std::string text);

// What a task asks for at a gathering.
[[nodiscard]] core::request request_for(gathering const& g, generator& random, task_id task,
                                        std::uint32_t num_tasks);

// What a task brings to every exchange.
[[nodiscard]] core::local_topology topology_of(task_id task);

}  // namespace coxswain::sim
