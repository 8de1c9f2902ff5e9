#include "load/job.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>
#include <utility>

#include <unistd.h>

namespace coxswain::bench {
namespace {

constexpr std::string_view jittered_prefix = "jittered:";

// "250us", "5ms", "1s"; zero if it is none of these.
duration parse_duration(std::string_view text) {
  std::int64_t number = 0;
  auto const end = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
  auto const unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (number <= 0 || number > 1'000'000) return {};
  if (unit == "us") return std::chrono::microseconds{number};
  if (unit == "ms") return std::chrono::milliseconds{number};
  if (unit == "s" && number <= 10) return std::chrono::seconds{number};
  return {};
}

}  // namespace

arrivals arrivals::parse(std::string const& text) {
  if (text == "together") return {pattern::together, {}};
  if (text == "ordered") return {pattern::ordered, {}};
  if (text.starts_with(jittered_prefix)) {
    auto const within = parse_duration(std::string_view{text}.substr(jittered_prefix.size()));
    if (within > 0ns && within <= 10s) return {pattern::jittered, within};
  }
  refuse(
      "--arrivals is '{}', but must be together, ordered, or jittered and a time up to 10 s, such "
      "as jittered:5ms",
      text);
}

void population::add_to(CLI::App& command, bool has_floor) {
  CLI::Range const any{1U, 1'000'000U};
  command.add_option("--tasks", tasks, "Simulated tasks")->required()->check(any);
  command
      .add_option("--sessions", sessions,
                  "Connections of the coordinator's load, each with as many of the tasks (default: "
                  "one for each task)")
      ->check(any);
  if (!has_floor) return;
  command
      .add_option("--floor-tasks", floor_tasks,
                  "Tasks, and connections, of the floor's load (default: as many as --tasks)")
      ->check(any);
}

std::string population::describe(plan& work) const {
  if (sessions > tasks) {
    refuse("{} --sessions are more than {} --tasks: each needs a task", sessions, tasks);
  }
  work.ours = {sessions > 0 ? sessions : tasks, tasks};
  work.others.tasks = floor_tasks > 0 ? floor_tasks : tasks;
  work.others.connections = floor_sessions > 0 ? floor_sessions : work.others.tasks;
  work.job.num_tasks = tasks;
  work.parameters = {
      {"tasks", tasks}, {"sessions", work.ours.connections}, {"floor_tasks", work.others.tasks}};
  auto words = counted(tasks, "task");
  if (work.ours.connections != tasks) {
    words += " in " + counted(work.ours.connections, "session");
  }
  if (work.others.tasks != tasks)
    words += fmt::format(" (the floor: {})", grouped(work.others.tasks));
  return words;
}

population population::smaller() const {
  auto const part_of = [](std::uint32_t n) { return n == 0 ? 0 : std::max(1U, n / 5); };
  return {part_of(tasks), part_of(sessions), part_of(floor_tasks), part_of(floor_sessions)};
}

core::hello_args hello() {
  core::hello_args said;
  said.job = core::job_default;  // as a client of a task names it
  said.label = fmt::format("coxswain-bench:{}", ::getpid());
  return said;
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
