// coxswain leave: this task leaves with the others before its command ends.

#include "commands.hpp"
#include "exit_code.hpp"
#include "remote.hpp"

#include "coxswain/client/asking.hpp"

#include <memory>
#include <utility>

namespace coxswain::tools {
namespace {

struct leave_command {
  duration timeout{core::timeout_default};
  bool returning{};
};

// Not client::leave: our client has not joined, and would just end its own session.
asio::awaitable<void> leave(client& c, leave_command options) {
  core::leave_args args;
  args.returning = options.returning;
  question q{args, options.timeout};
  auto const answer = co_await ask(connection_of(c), std::move(q));
  throw_unless_ok(answer);
}

}  // namespace

void add_leave(CLI::App& program, action& chosen) {
  auto options = std::make_shared<leave_command>();
  auto& command = add_subcommand(
      program, "leave", "Leaves with all other tasks before the command ends", chosen,
      [options] { return act([options](client& c) { return leave(c, *options); }); });
  add_duration(command, "--timeout", options->timeout, "How long all tasks may take to leave",
               {.may_be_forever = true});
  command.add_flag("--returning", options->returning,
                   "The task is to return: its launcher starts the command again");
  command.name_variables();
  command.footer(task_help_end(
      "Waits until all tasks leave, unless all are recoverable. Then nobody waits for this task "
      "any\n"
      "more, and the end of its command is no failure; the task stays until then. Without this it\n"
      "leaves when its command ends. With --returning it waits for nobody, and barriers wait for\n"
      "the next process of the task once the command has ended.\n\n"
      "EXAMPLE\n  coxswain leave && ./upload-results\n\n"));
}

}  // namespace coxswain::tools
