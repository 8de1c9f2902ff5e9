// coxswain status: what the whole job is doing.

#include "commands.hpp"
#include "exit_code.hpp"
#include "remote.hpp"
#include "status_text.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

namespace coxswain::tools {
namespace {

struct status_command {
  remote_options remote;
  bool as_json{};
};

asio::awaitable<void> show(client& c, status_command const& given) {
  auto const picture = co_await c.inspect();
  fmt::print("{}", given.as_json ? status_json(picture) + "\n" : status_text(picture));
}

}  // namespace

void add_status(CLI::App& program, action& chosen) {
  auto given = std::make_shared<status_command>();
  auto& command = add_subcommand(
      program, "status",
      "Shows the job: its tasks, who is missing at which barrier, and what went wrong", chosen,
      [given] { return converse(given->remote, [given](client& c) { return show(c, *given); }); });
  command.add_flag("--json", given->as_json, "One JSON object, for programs");
  add_remote_options(command, given->remote);
  command.footer(
      help_end("EXAMPLES\n  coxswain status\n  coxswain status --json | jq "
               "'.barriers[] | {name, missing}'\n\n"));
}

}  // namespace coxswain::tools
