// coxswain preempt: says that a task will be taken away.

#include "commands.hpp"
#include "exit_code.hpp"
#include "remote.hpp"

#include <limits>
#include <memory>
#include <optional>

namespace coxswain::tools {
namespace {

struct preempt_command {
  remote_options remote;
  std::optional<task_id> task;  // none: the one that we act for
  duration in{};
};

asio::awaitable<void> post(client& c, preempt_command const& given) {
  co_await c.preempt(given.in, given.task);
}

int post(preempt_command const& given) {
  auto talk = [&given](client& c) { return post(c, given); };
  return given.task ? converse(given.remote, talk) : act(talk);
}

}  // namespace

void add_preempt(CLI::App& program, action& chosen) {
  auto given = std::make_shared<preempt_command>();
  auto& command = add_subcommand(program, "preempt", "Says that a task will soon be taken away",
                                 chosen, [given] { return post(*given); });
  add_number(
      command, "TASK",
      [given](std::int64_t n) { given->task = task_id{static_cast<std::uint32_t>(n)}; }, 0,
      std::numeric_limits<std::uint32_t>::max(),
      "The task's number (default, below coxswain task: this task's)");
  add_duration(command, "--in", given->in, "How long it still has");
  add_remote_options(command, given->remote);
  command.footer(help_end(
      R"(All tasks then agree on a step at which they save their state: there their
reached_sync_point(step) is true, and coxswain sync-point exits with 0. If there is
more time than the coordinator's --preemption-lead, they agree so long before.

EXAMPLE
  coxswain preempt 17 --in 10min

)"));
}

}  // namespace coxswain::tools
