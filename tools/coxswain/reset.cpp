// coxswain reset: this task, which had failed, joins again.

#include "commands.hpp"
#include "exit_code.hpp"
#include "remote.hpp"

namespace coxswain::tools {

void add_reset(CLI::App& program, action& chosen) {
  auto& command = add_subcommand(program, "reset",
                                 "Clears the failure of this recoverable task, which joins again",
                                 chosen, [] { return act([](client& c) { return c.reset(); }); });
  command.footer(task_help_end(
      "Exits with 1 if it has not failed, or the job has.\n\n"
      "EXAMPLE\n  until ./step; do\n"
      "    coxswain fail \"step failed\" && ./repair && coxswain reset || exit\n  done\n\n"));
}

}  // namespace coxswain::tools
