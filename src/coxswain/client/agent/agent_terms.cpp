#include "coxswain/client/agent/agent_terms.hpp"

#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/ranges.hpp"

namespace coxswain::detail {
namespace {

std::optional<std::string> long_time(core::hello_answer const& terms) {
  struct time {
    char const* name;
    duration value;
  };
  for (auto const& [name, value] : {time{"a heartbeat period", terms.heartbeat_period},
                                    time{"a heartbeat timeout", terms.heartbeat_timeout},
                                    time{"a reconnect grace", terms.reconnect_grace},
                                    time{"a coordinator_return", terms.coordinator_return},
                                    time{"a restart_grace", terms.restart_grace},
                                    time{"a suspect_after", terms.suspect_after}}) {
    if (value > wire::stated_time_max) return std::string{name} + " of more than 30 days";
  }
  return std::nullopt;
}

std::optional<std::string> large_size(core::hello_answer const& terms) {
  struct size {
    char const* name;
    std::uint64_t value;
  };
  for (auto const& [name, value] : {size{"frame_bytes_max", terms.frame_bytes_max},
                                    size{"value_bytes_max", terms.value_bytes_max},
                                    size{"key_bytes_max", terms.key_bytes_max}}) {
    if (value <= wire::message_bytes_max) continue;
    return std::string{name} + " " + std::to_string(value) + " (at most " +
           std::to_string(wire::message_bytes_max) + ")";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> out_of_range(core::hello_answer const& terms) {
  if (terms.num_tasks == 0 || terms.num_tasks > wire::stated_tasks_max) {
    return "a job of " + std::to_string(terms.num_tasks) + " tasks (1 to " +
           std::to_string(wire::stated_tasks_max) + ")";
  }
  if (terms.hosted_by_task && *terms.hosted_by_task >= terms.num_tasks) {
    return "task " + std::to_string(*terms.hosted_by_task) + " of " +
           std::to_string(terms.num_tasks) + " as the one whose process it runs in";
  }
  if (auto found = long_time(terms)) return found;
  return large_size(terms);
}

}  // namespace coxswain::detail
