#pragma once
// A picture of the job, for people.

#include "coxswain/core/model/messages.hpp"

#include <string>
#include <vector>

namespace coxswain::tools {

// Tables, ended by a newline: everything, and the tasks alone.
[[nodiscard]] std::string status_text(core::snapshot const& picture);
[[nodiscard]] std::string tasks_text(std::vector<core::snapshot::task> const& tasks);

// One line without an end: who leads, and how far etcd is behind.
[[nodiscard]] std::string leader_text(core::snapshot::leadership const& of);

}  // namespace coxswain::tools
