// coxswain all-equal: whether all tasks bring the same.

#include "commands.hpp"
#include "exit_code.hpp"
#include "remote.hpp"
#include "value_io.hpp"

#include <memory>
#include <string>
#include <vector>

namespace coxswain::tools {
namespace {

struct all_equal_command {
  std::string name;
  std::string data;
  duration timeout{core::timeout_default};
  std::vector<task_id> among;
};

asio::awaitable<void> compare(client& c, all_equal_command const& given) {
  auto const mine = value_of_argument(given.data);
  co_await c.all_equal(given.name, mine, given.timeout, given.among);
}

}  // namespace

void add_all_equal(CLI::App& program, action& chosen) {
  auto given = std::make_shared<all_equal_command>();
  auto& command = add_subcommand(
      program, "all-equal", "Waits until all tasks have brought data, which must be the same",
      chosen, [given] { return act([given](client& c) { return compare(c, *given); }); });
  command.add_option("NAME", given->name, "The barrier at which they meet")->required();
  command.add_option("DATA", given->data, "What this task brings; - reads it from standard input")
      ->required();
  add_duration(command, "--timeout", given->timeout, "How long to wait for the others",
               {.may_be_forever = true});
  add_tasks(command, "--among", given->among,
            "The tasks that take part, such as 0,2-5; all of them say the same (default: all)");
  command.name_variables();
  command.footer(task_help_end(
      "Exits with 1 if they differ, and names two tasks that do.\n\n"
      "EXAMPLE\n  coxswain all-equal config \"$(sha256sum < config.json)\" || exit\n\n"));
}

}  // namespace coxswain::tools
