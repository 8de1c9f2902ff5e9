// coxswain reset: this task, which had failed, joins again.

#include "commands.hpp"
#include "exit_code.hpp"
#include "remote.hpp"

#include "coxswain/client/asking.hpp"

namespace coxswain::tools {
namespace {

// The task stays joined when this program ends.
asio::awaitable<void> reset(client& c) {
  co_await c.reset();
  co_await c.join();
  connection_of(c)->may_be_member(false);
}

}  // namespace

void add_reset(CLI::App& program, action& chosen) {
  auto& command = add_subcommand(program, "reset",
                                 "Clears the failure of this recoverable task, which joins again",
                                 chosen, [] { return act(reset); });
  command.footer(task_help_end(
      "Exits with 1 if it has not failed, or the job has.\n\n"
      "EXAMPLE\n  until ./step; do\n"
      "    coxswain fail \"step failed\" && ./repair && coxswain reset || exit\n  done\n\n"));
}

}  // namespace coxswain::tools
