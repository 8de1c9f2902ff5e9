#pragma once
// The options that affect decisions: those of a snapshot must be those of the coordinator that
// loads it. All but the tokens, the program's version and the first term.

#include "coxswain/core/config.hpp"

#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>

namespace coxswain::core {

// Their order gives their numbers in a snapshot: append only.
inline constexpr std::tuple decisive_options{
    std::pair{"job", &config::job},
    std::pair{"num_tasks", &config::num_tasks},
    std::pair{"attempt", &config::attempt},
    std::pair{"heartbeat_timeout", &config::heartbeat_timeout},
    std::pair{"reconnect_grace", &config::reconnect_grace},
    std::pair{"reports_ends", &config::reports_ends},
    std::pair{"coordinator_return", &config::coordinator_return},
    std::pair{"hosted_by_task", &config::hosted_by_task},
    std::pair{"hello_timeout", &config::hello_timeout},
    std::pair{"stalled_reader_timeout", &config::stalled_reader_timeout},
    std::pair{"join_barrier", &config::join_barrier},
    std::pair{"join_timeout_max", &config::join_timeout_max},
    std::pair{"leave_barrier", &config::leave_barrier},
    std::pair{"leave_timeout_max", &config::leave_timeout_max},
    std::pair{"leave_together", &config::leave_together},
    std::pair{"return_timeout", &config::return_timeout},
    std::pair{"recoverable", &config::recoverable},
    std::pair{"waiting_log_period", &config::waiting_log_period},
    std::pair{"progress_timeout", &config::progress_timeout},
    std::pair{"fail_without_progress", &config::fail_without_progress},
    std::pair{"preemption_lead", &config::preemption_lead},
    std::pair{"preemption_timeout", &config::preemption_timeout},
    std::pair{"key_bytes_max", &config::key_bytes_max},
    std::pair{"value_bytes_max", &config::value_bytes_max},
    std::pair{"label_bytes_max", &config::label_bytes_max},
    std::pair{"error_bytes_max", &config::error_bytes_max},
    std::pair{"gather_bytes_max", &config::gather_bytes_max},
    std::pair{"memory_bytes_max", &config::memory_bytes_max},
    std::pair{"open_requests_max", &config::open_requests_max},
    std::pair{"open_requests_max_per_task", &config::open_requests_max_per_task},
    std::pair{"open_requests_max_per_reader", &config::open_requests_max_per_reader},
    std::pair{"owed_outcomes_max", &config::owed_outcomes_max},
    std::pair{"topology_platforms_max", &config::topology_platforms_max},
    std::pair{"idle_barriers_max", &config::idle_barriers_max},
    std::pair{"events_max", &config::events_max},
    std::pair{"event_bytes_max", &config::event_bytes_max},
    std::pair{"events_alike_max", &config::events_alike_max},
    std::pair{"keys_per_call_max", &config::keys_per_call_max},
    std::pair{"keys_per_reader_call_max", &config::keys_per_reader_call_max},
    std::pair{"changes_max", &config::changes_max},
    std::pair{"change_bytes_max", &config::change_bytes_max},
    std::pair{"changes_per_answer_max", &config::changes_per_answer_max},
    std::pair{"change_bytes_per_answer_max", &config::change_bytes_per_answer_max},
    std::pair{"changes_looked_at_max", &config::changes_looked_at_max},
    std::pair{"page_entries_max", &config::page_entries_max},
    std::pair{"page_bytes_max", &config::page_bytes_max},
    std::pair{"participants_per_picture_max", &config::participants_per_picture_max},
    std::pair{"restart_grace", &config::restart_grace},
    std::pair{"relay_grace", &config::relay_grace},
    std::pair{"spares", &config::spares},
    std::pair{"last_call", &config::last_call},
    std::pair{"assign", &config::assign},
    std::pair{"come_back", &config::come_back},
    std::pair{"elastic", &config::elastic},
    std::pair{"min_tasks", &config::min_tasks},
    std::pair{"grow", &config::grow},
    std::pair{"ranks", &config::ranks},
    std::pair{"epoch_timeout", &config::epoch_timeout},
    std::pair{"min_wait", &config::min_wait},
    std::pair{"epochs_max", &config::epochs_max},
    std::pair{"volatile_above", &config::volatile_above},
    std::pair{"xla_reconnect_grace", &config::xla_reconnect_grace}};

// `use(number, name, member)` for each.
template <class Use>
void each_decisive_option(Use use) {
  std::uint32_t number = 0;
  std::apply([&](auto const&... one) { (use(++number, one.first, one.second), ...); },
             decisive_options);
}

// The name of the first one that differs; empty if there is none.
[[nodiscard]] inline std::string_view difference(config const& a, config const& b) {
  std::string_view found;
  each_decisive_option([&](std::uint32_t, char const* name, auto member) {
    if (found.empty() && a.*member != b.*member) found = name;
  });
  return found;
}

}  // namespace coxswain::core
