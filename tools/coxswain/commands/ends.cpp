// coxswain stop, drain: the end of a job on request.

#include "commands/commands.hpp"
#include "options/exit_code.hpp"
#include "options/remote.hpp"

#include "coxswain/client/client.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

namespace coxswain::tools {
namespace {

struct end_command {
  remote_options remote;
  std::vector<std::string> words;

  [[nodiscard]] std::string reason() const { return fmt::format("{}", fmt::join(words, " ")); }
};

asio::awaitable<void> stop(client& c, end_command const& given) {
  return c.stop_job(given.reason());
}

asio::awaitable<void> drain(client& c, end_command const& given) {
  return c.drain_job(given.reason());
}

void add_end(CLI::App& program, action& chosen, std::string const& name, std::string const& purpose,
             asio::awaitable<void> (*talk)(client&, end_command const&),
             std::string const& footer) {
  auto& command = add_conversation(program, name, purpose, chosen, talk);
  auto& given = command.given;
  given.remote.command = name;
  command.add_option("REASON", given.words, "Why, for those who look at the job");
  add_remote_options(command, given.remote);
  command.footer(help_end(footer));
}

}  // namespace

void add_stop(CLI::App& program, action& chosen) {
  add_end(
      program, chosen, "stop", "Ends a job now", stop,
      "All calls of the tasks end with who stopped it and why, and the coordinator ends. So do\n"
      "the processes of coxswain run. To let the tasks finish: coxswain drain.\n\n"
      "EXAMPLE\n  coxswain stop --job train wrong learning rate\n\n");
}

void add_drain(CLI::App& program, action& chosen) {
  add_end(
      program, chosen, "drain", "Lets nobody join a job, which ends when all have left", drain,
      "The tasks that are in the job go on. Processes that wait to join are refused, and so are\n"
      "those that come later, also the next process of a recoverable task. When no task is in\n"
      "the job any more, its coordinator ends. It cannot be undone; coxswain stop does not wait.\n"
      "\nEXAMPLE\n  coxswain drain new image; coxswain status\n\n");
}

}  // namespace coxswain::tools
