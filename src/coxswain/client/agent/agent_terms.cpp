#include "coxswain/client/agent/agent_terms.hpp"

#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/ranges.hpp"

namespace coxswain::detail {
namespace {

std::optional<std::string> long_time(core::hello_answer const& said) {
  struct time {
    char const* name;
    duration value;
  };
  for (auto const& [name, value] :
       {time{"a heartbeat period", said.heartbeat_period},
        time{"a heartbeat timeout", said.heartbeat_timeout},
        time{"a reconnect grace", said.reconnect_grace},
        time{"a coordinator_return", said.coordinator_return},
        time{"a restart_grace", said.restart_grace}, time{"a suspect_after", said.suspect_after}}) {
    if (value > wire::stated_time_max) return std::string{name} + " of more than 30 days";
  }
  return std::nullopt;
}

std::optional<std::string> large_size(core::hello_answer const& said) {
  struct size {
    char const* name;
    std::uint64_t value;
  };
  for (auto const& [name, value] :
       {size{"frame_bytes_max", said.frame_bytes_max},
        size{"value_bytes_max", said.value_bytes_max}, size{"key_bytes_max", said.key_bytes_max}}) {
    if (value <= wire::message_bytes_max) continue;
    return std::string{name} + " " + std::to_string(value) + " (at most " +
           std::to_string(wire::message_bytes_max) + ")";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> out_of_range(core::hello_answer const& said) {
  if (said.num_tasks == 0 || said.num_tasks > wire::stated_tasks_max) {
    return "a job of " + std::to_string(said.num_tasks) + " tasks (1 to " +
           std::to_string(wire::stated_tasks_max) + ")";
  }
  if (said.hosted_by_task && *said.hosted_by_task >= said.num_tasks) {
    return "task " + std::to_string(*said.hosted_by_task) + " of " +
           std::to_string(said.num_tasks) + " as the one whose process it runs in";
  }
  if (auto found = long_time(said)) return found;
  return large_size(said);
}

}  // namespace coxswain::detail
