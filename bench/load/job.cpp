#include "load/job.hpp"

#include "coxswain/core/config.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include <unistd.h>

namespace coxswain::bench {

core::hello_args hello() {
  core::hello_args given;
  given.job = core::job_default;  // as named by a task's client
  given.label = fmt::format("coxswain-bench:{}", ::getpid());
  return given;
}

core::answer hello_answer(std::uint32_t tasks) {
  core::config const options;
  core::hello_answer a;
  a.coordinator = incarnation{std::numeric_limits<std::uint64_t>::max()};
  a.version = options.version;
  a.session = session_id{1};
  a.num_tasks = tasks;
  a.heartbeat_timeout = options.heartbeat_timeout;
  a.heartbeat_period = options.heartbeat_timeout / 3;
  a.reconnect_grace = options.reconnect_grace;
  a.frame_bytes_max = options.frame_bytes_max();
  a.value_bytes_max = options.value_bytes_max;
  a.key_bytes_max = options.key_bytes_max;
  a.open_requests_max = options.open_requests_max;
  a.open_requests_max_per_task = options.open_requests_max_per_task;
  return {{}, std::move(a)};
}

core::answer join_answer() { return {{}, core::join_answer{}}; }

}  // namespace coxswain::bench
