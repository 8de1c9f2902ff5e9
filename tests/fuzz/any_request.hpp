#pragma once
// A random request of a client: mostly valid, sometimes nonsense.

#include "coxswain/core/model/messages.hpp"
#include "tests/fuzz/random_source.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace coxswain::core {

inline std::vector<duration> const short_times{1ns, 1ms, 20ms, 50ms, 120ms, 400ms};

inline constexpr auto secret_of_grants = "sixteen bytes or more";

// Rarely one outside the job.
[[nodiscard]] task_id any_task(test::random_source& rng, std::uint32_t num_tasks);

struct random_request {
  std::optional<task_id> task;  // the task that the request is for
  request what;
  bool is_counted{};  // an increment by one of the key "counted"
};

// `home` is the client's usual task. A calm client makes few requests that fail.
[[nodiscard]] random_request any_request(test::random_source& rng, std::uint32_t num_tasks,
                                         task_id home, bool is_calm);

}  // namespace coxswain::core
