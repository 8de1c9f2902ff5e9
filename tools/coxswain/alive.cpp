// coxswain alive: which tasks are there.

#include "commands.hpp"
#include "exit_code.hpp"
#include "json.hpp"
#include "remote.hpp"

#include <fmt/format.h>

#include <memory>
#include <vector>

namespace coxswain::tools {
namespace {

struct alive_command {
  std::vector<task_id> tasks;
  duration timeout{core::timeout_default};
  bool as_json{};
};

asio::awaitable<void> ask_who(client& c, alive_command const& given) {
  auto const alive = co_await c.alive_tasks(given.tasks, given.timeout);
  json::array all;
  for (auto const& one : alive) {
    all.push_back(json::object{{"task", one.id.value},
                               {"incarnation", fmt::format("{:016x}", one.self.value)}});
    if (!given.as_json) fmt::print("{}\n", one.id.value);
  }
  if (given.as_json) fmt::print("{}\n", serialized(all));
}

}  // namespace

void add_alive(CLI::App& program, action& chosen) {
  auto given = std::make_shared<alive_command>();
  auto& command = add_subcommand(
      program, "alive", "Prints which tasks are there, the same for all that ask", chosen,
      [given] { return act([given](client& c) { return ask_who(c, *given); }); });
  add_tasks(command, "TASKS", given->tasks,
            "Which tasks to ask for, such as 0,2-5, this one among them (default: all)");
  add_duration(command, "--timeout", given->timeout, "How long to wait for the others",
               {.may_be_forever = true});
  command.add_flag("--json", given->as_json, "One JSON array on one line, for programs");
  command.name_variables();
  command.footer(task_help_end(
      "Waits until each of them that is connected asks for the same tasks, and prints their\n"
      "numbers, one a line. Those that fail meanwhile are left out.\n\n"
      "EXAMPLE\n  After a failure those who are left go on (coxswain serve --recoverable):\n"
      "    left=$(coxswain alive | paste -sd,) &&\n"
      "        coxswain barrier go-on --among \"$left\"\n\n"));
}

}  // namespace coxswain::tools
