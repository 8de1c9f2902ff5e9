// coxswain status: what the whole job is doing.

#include "commands.hpp"
#include "exit_code.hpp"
#include "remote.hpp"
#include "status_text.hpp"

#include "coxswain/status/json.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>

namespace coxswain::tools {
namespace {

struct status_command {
  remote_options remote;
  bool as_json{};
  bool goes_on{};
};

asio::awaitable<void> show(client& c, status_command const& given) {
  auto const picture = co_await c.inspect();
  fmt::print("{}", given.as_json ? status_page::status_json(picture) + "\n" : status_text(picture));
  std::fflush(stdout);
}

// Again after each change of a task, until the coordinator stops.
asio::awaitable<void> follow(client& c, status_command const& given) {
  std::optional<std::uint64_t> seen;
  for (;;) {
    auto const tasks = co_await c.watch_tasks(seen);
    if (seen && !given.as_json) fmt::print("\n");
    seen = tasks.version;
    co_await show(c, given);
  }
}

}  // namespace

void add_status(CLI::App& program, action& chosen) {
  auto given = std::make_shared<status_command>();
  given->remote.takes_newest = true;
  auto& command = add_subcommand(
      program, "status",
      "Shows the job: its tasks, who is missing at which barrier, and what went wrong", chosen,
      [given] {
        return converse(given->remote, [given](client& c) {
          return given->goes_on ? follow(c, *given) : show(c, *given);
        });
      });
  command.add_flag("--json", given->as_json, "One JSON object on one line, for programs");
  command.add_flag("--watch", given->goes_on,
                   "Show it again whenever a task changes, until the coordinator stops");
  add_remote_options(command, given->remote);
  command.footer(
      help_end("EXAMPLES\n  coxswain status\n  coxswain status --json | jq "
               "'.barriers[] | {name, missing}'\n  coxswain status --watch\n\n"));
}

}  // namespace coxswain::tools
