// coxswain barrier: a barrier of the job's tasks, or one of any number of callers.

#include "commands.hpp"
#include "exit_code.hpp"
#include "remote.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

namespace coxswain::tools {
namespace {

struct barrier_command {
  remote_options remote;
  std::string name;
  std::uint32_t count{};  // zero: the tasks
  duration timeout{core::timeout_default};
  std::vector<task_id> among;
  bool fail_when_lost{};
  bool shows_progress{};
};

asio::awaitable<void> wait_for_callers(client& c, barrier_command const& given) {
  auto const round = co_await c.count_barrier(given.name, given.count, given.timeout);
  fmt::print("round {} of '{}' is complete: {} have come\n", round.value, given.name, given.count);
}

void show(core::barrier_progress const& p) {
  fmt::print(stderr, "round {}: {} of {} have come; missing: {}{}\n", p.round.value, p.arrived,
             p.expected, p.missing, p.missing_cut > 0 ? " ..." : "");
}

asio::awaitable<void> wait_for_tasks(client& c, barrier_command const& given) {
  barrier_options options{given.timeout};
  options.among = given.among;
  options.fail_when_lost = given.fail_when_lost;
  if (given.shows_progress) options.on_progress = show;
  auto const round = co_await c.barrier(given.name, std::move(options));
  fmt::print("round {} of '{}' is complete\n", round.value, given.name);
}

int wait(barrier_command const& given) {
  if (given.count == 0 && !is_inside_task()) {
    throw program_error{exit_code::usage,
                        "--count N is needed: without it this is the barrier of the job's tasks, "
                        "for what runs below\n  coxswain task -- CMD...\n"
                        "see coxswain barrier --help"};
  }
  if (given.count == 0) {
    return act([&given](client& c) { return wait_for_tasks(c, given); },
               given.remote.connect_timeout);
  }
  return take_part(given.remote, [&given](client& c) { return wait_for_callers(c, given); });
}

constexpr auto barrier_footer =
    R"(Below coxswain task, and without --count, this is a barrier of all tasks of the job, or of
those that --among names; it fails if one of them fails. With --count anybody may come; these
barriers have names of their own.

EXAMPLES
  In a script that each task runs, as coxswain task -- sh train.sh:
    coxswain barrier loaded --timeout 10min
  Each of three shell scripts that are no tasks waits for the other two:
    coxswain barrier data-is-there --count 3 --timeout 10min

)";

}  // namespace

void add_barrier(CLI::App& program, action& chosen) {
  auto given = std::make_shared<barrier_command>();
  auto& command = add_subcommand(
      program, "barrier", "Waits until all tasks, or a number of callers, have come to a barrier",
      chosen, [given] { return wait(*given); });
  command.add_option("NAME", given->name, "The barrier; it can be used again and again")
      ->required();
  auto* const count = add_number(
      command, "-n,--count",
      [given](std::int64_t n) { given->count = static_cast<std::uint32_t>(n); }, 1, 1'000'000,
      "How many callers must have come, who need not be tasks; all callers say the same");
  add_duration(command, "--timeout", given->timeout, "How long to wait for the others",
               {.may_be_forever = true});
  add_tasks(command, "--among", given->among,
            "The tasks that take part, such as 0,2-5; all of them say the same (default: all)")
      ->excludes(count);
  command
      .add_flag("--fail-when-lost", given->fail_when_lost,
                "Fail as soon as one of them fails, even a recoverable one; all say the same")
      ->excludes(count);
  command
      .add_flag("--progress", given->shows_progress,
                "Show on standard error who is still missing, once a second")
      ->excludes(count);
  add_remote_options(command, given->remote);
  command.footer(help_end(barrier_footer));
}

}  // namespace coxswain::tools
