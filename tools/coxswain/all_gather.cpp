// coxswain all-gather: what each task brings, for all.

#include "commands.hpp"
#include "exit_code.hpp"
#include "json.hpp"
#include "remote.hpp"
#include "value_io.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::tools {
namespace {

struct all_gather_command {
  std::string name;
  std::string data;
  duration timeout{core::timeout_default};
  std::vector<task_id> among;
  bool as_json{};
};

std::string json_of(std::vector<std::string> const& all, std::vector<task_id> const& among) {
  json::array tasks;
  for (std::size_t i = 0; i < all.size(); ++i) {
    json::object one{{"task", among.empty() ? static_cast<std::uint32_t>(i) : among[i].value}};
    add_bytes(one, "data", all[i]);
    tasks.push_back(std::move(one));
  }
  return serialized(tasks) + "\n";
}

std::string lines_of(std::vector<std::string> const& all) {
  std::string text;
  for (auto const& one : all) {
    text += one;
    if (!one.ends_with('\n')) text += '\n';
  }
  return text;
}

asio::awaitable<void> gather(client& c, all_gather_command const& given) {
  auto const mine = value_of_argument(given.data);
  auto const all = co_await c.all_gather(given.name, mine, given.timeout, given.among);
  print_value(given.as_json ? json_of(all, given.among) : lines_of(all));
}

}  // namespace

void add_all_gather(CLI::App& program, action& chosen) {
  auto given = std::make_shared<all_gather_command>();
  auto& command = add_subcommand(
      program, "all-gather", "Waits until all tasks have brought data, and prints that of each",
      chosen, [given] { return act([given](client& c) { return gather(c, *given); }); });
  command.add_option("NAME", given->name, "The barrier at which they meet")->required();
  command.add_option("DATA", given->data, "What this task brings; - reads it from standard input")
      ->required();
  add_duration(command, "--timeout", given->timeout, "How long to wait for the others",
               {.may_be_forever = true});
  add_tasks(command, "--among", given->among,
            "The tasks that take part, such as 0,2-5; all of them say the same (default: all)");
  command.add_flag("--json", given->as_json,
                   "A JSON array of tasks with their data, which may have several lines then");
  command.name_variables();
  command.footer(
      task_help_end("Prints a line for each task, in the order of the tasks.\n\n"
                    "EXAMPLE\n  Each task learns where the others listen:\n"
                    "    coxswain all-gather addresses \"$(hostname):$port\" > addresses\n\n"));
}

}  // namespace coxswain::tools
