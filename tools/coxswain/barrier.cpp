// coxswain barrier: a count barrier, for callers that are no task.

#include "commands.hpp"
#include "exit_code.hpp"
#include "remote.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

namespace coxswain::tools {
namespace {

struct barrier_command {
  remote_options remote;
  std::string name;
  std::uint32_t count{};
  duration timeout{core::timeout_default};
};

asio::awaitable<void> wait(client& c, barrier_command const& given) {
  auto const round = co_await c.count_barrier(given.name, given.count, given.timeout);
  fmt::print("round {} of '{}' is complete: {} have come\n", round.value, given.name, given.count);
}

}  // namespace

void add_barrier(CLI::App& program, action& chosen) {
  auto given = std::make_shared<barrier_command>();
  auto& command = add_subcommand(
      program, "barrier", "Waits until a number of callers have come to a named barrier", chosen,
      [given] { return converse(given->remote, [given](client& c) { return wait(c, *given); }); });
  command.add_option("NAME", given->name, "The barrier; its names are apart from those of tasks")
      ->required();
  add_number(
      command, "-n,--count",
      [given](std::int64_t n) { given->count = static_cast<std::uint32_t>(n); }, 1, 1'000'000,
      "How many callers must have come; all callers say the same")
      ->required();
  add_duration(command, "--timeout", given->timeout, "How long to wait for the others",
               {.may_be_forever = true});
  add_remote_options(command, given->remote);
  command.footer(
      help_end("EXAMPLE\n  Each of three shell scripts waits for the other two:\n"
               "    coxswain barrier data-is-there --count 3 --timeout 10min\n\n"));
}

}  // namespace coxswain::tools
