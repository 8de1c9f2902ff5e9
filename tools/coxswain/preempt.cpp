// coxswain preempt: says that a task will be taken away.

#include "commands.hpp"
#include "exit_code.hpp"
#include "remote.hpp"

#include <limits>
#include <memory>

namespace coxswain::tools {
namespace {

struct preempt_command {
  remote_options remote;
  task_id task{};
  duration in{};
};

asio::awaitable<void> post(client& c, preempt_command const& given) {
  co_await c.preempt(given.in, given.task);
}

}  // namespace

void add_preempt(CLI::App& program, action& chosen) {
  auto given = std::make_shared<preempt_command>();
  auto& command = add_subcommand(
      program, "preempt", "Says that a task will soon be taken away", chosen,
      [given] { return converse(given->remote, [given](client& c) { return post(c, *given); }); });
  add_number(
      command, "TASK",
      [given](std::int64_t n) { given->task = task_id{static_cast<std::uint32_t>(n)}; }, 0,
      std::numeric_limits<std::uint32_t>::max(), "The task's number")
      ->required();
  add_duration(command, "--in", given->in, "How long it still has");
  add_remote_options(command, given->remote);
  command.footer(help_end(
      R"(All tasks then agree on a step at which they save their state: there their
reached_sync_point(step) is true. If there is more time than the coordinator's
--preemption-lead, they agree so long before.

EXAMPLE
  coxswain preempt 17 --in 10min

)"));
}

}  // namespace coxswain::tools
