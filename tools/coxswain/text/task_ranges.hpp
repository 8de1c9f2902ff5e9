#pragma once
// Sets of tasks as people write and read them: "0,2-5".

#include "coxswain/base/ids.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::tools {

// In task order, each once. None if it is no such text, a range goes down, or there would be more
// than a million of them.
[[nodiscard]] std::optional<std::vector<task_id>> parse_tasks(std::string_view text);

// Of tasks in their order.
[[nodiscard]] std::string ranges_of(std::vector<task_id> const& tasks);

}  // namespace coxswain::tools
