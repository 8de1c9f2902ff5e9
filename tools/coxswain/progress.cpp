// coxswain progress: how far this task is.

#include "commands.hpp"
#include "exit_code.hpp"
#include "remote.hpp"

#include <cstdint>
#include <limits>
#include <memory>

namespace coxswain::tools {

void add_progress(CLI::App& program, action& chosen) {
  auto step = std::make_shared<std::uint64_t>();
  auto& command = add_subcommand(
      program, "progress", "Says that this task has reached a step of its work", chosen,
      [step] { return act([step](client& c) { return c.report_progress(*step); }); });
  add_number(
      command, "STEP", [step](std::int64_t n) { *step = static_cast<std::uint64_t>(n); }, 0,
      std::numeric_limits<std::int64_t>::max(), "The step")
      ->required();
  command.name_variables();
  command.footer(task_help_end(
      "coxswain status shows it; with serve --progress-timeout a task that reports no further "
      "step\n"
      "for so long is named, unless it waits in a call, such as barrier; a get --wait has a "
      "session of\nits own and is none of the task's. What is said to sync-point is not reported "
      "by "
      "itself.\n\n"
      "EXAMPLE\n  for step in $(seq 1000); do ./step $step && coxswain progress $step; done\n\n"));
}

}  // namespace coxswain::tools
