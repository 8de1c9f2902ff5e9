#pragma once
// The settings of an xla_service.

#include "coxswain/base/ids.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/base/wall_time.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace coxswain::xla {

struct xla_service_options {
  std::string job;
  std::string host;  // this machine's name, for people; may be empty
  std::uint32_t num_tasks{1};
  std::string token;         // a worker's, if the core requires one
  bool recoverable{};        // the default of tasks that do not state it
  bool strict{};             // behave like upstream where its tests require it
  duration alive_timeout{};  // of GetAliveTasks
  duration heartbeat_timeout{};
  duration session_time{};        // after a loss, the core has ended a session by then
  std::size_t reply_bytes_max{};  // of a listing
  // Whether the client of this connection is to read other replies first: its listings of
  // directories wait. None: never.
  std::function<bool(connection_id)> is_full{};
  wall_time started{};  // the wall clock at `start`
  time_point start{};
};

}  // namespace coxswain::xla
