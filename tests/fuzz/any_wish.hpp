#pragma once
// A random request of a client: mostly valid, sometimes nonsense.

#include "coxswain/core/model/messages.hpp"
#include "tests/fuzz/chance.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace coxswain::core {

inline std::vector<duration> const short_times{1ns, 1ms, 20ms, 50ms, 120ms, 400ms};

inline constexpr auto secret_of_grants = "sixteen bytes or more";

// Rarely one that the job has not.
[[nodiscard]] task_id any_task(test::dice& chance, std::uint32_t num_tasks);

struct wish {
  std::optional<task_id> task;  // that it is for
  request what;
  bool is_counted{};  // an increment by one of the key "counted"
};

// `home` is the task that the client has most often. A calm client asks for little that fails.
[[nodiscard]] wish any_wish(test::dice& chance, std::uint32_t num_tasks, task_id home,
                            bool is_calm);

}  // namespace coxswain::core
