// coxswain leave: this task leaves with the others before its command ends.

#include "commands.hpp"
#include "exit_code.hpp"
#include "remote.hpp"

#include "coxswain/client/asking.hpp"

#include <memory>
#include <utility>

namespace coxswain::tools {
namespace {

// Not client::leave: our client has not joined, and would just end its own session.
asio::awaitable<void> leave(client& c, duration timeout) {
  question q{core::leave_args{}, timeout};
  auto const answer = co_await ask(connection_of(c), std::move(q));
  throw_unless_ok(answer);
}

}  // namespace

void add_leave(CLI::App& program, action& chosen) {
  auto timeout = std::make_shared<duration>(core::timeout_default);
  auto& command = add_subcommand(
      program, "leave", "Leaves with all other tasks before the command ends", chosen,
      [timeout] { return act([timeout](client& c) { return leave(c, *timeout); }); });
  add_duration(command, "--timeout", *timeout, "How long all tasks may take to leave",
               {.may_be_forever = true});
  command.name_variables();
  command.footer(task_help_end(
      "Waits until all tasks leave. Then nobody waits for this task any more, and the end of its\n"
      "command is no failure; the task stays until then. Without this it leaves when its command\n"
      "ends.\n\n"
      "EXAMPLE\n  coxswain leave && ./upload-results\n\n"));
}

}  // namespace coxswain::tools
