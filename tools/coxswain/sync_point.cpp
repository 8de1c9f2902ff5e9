// coxswain sync-point: whether this task stops here, with all others.

#include "commands.hpp"
#include "exit_code.hpp"
#include "remote.hpp"

#include <cstdint>
#include <limits>
#include <memory>

namespace coxswain::tools {
namespace {

asio::awaitable<void> reach(client& c, std::uint64_t step, bool& stops) {
  stops = co_await c.reached_sync_point(step);
}

int reach(std::uint64_t step) {
  bool stops{};
  auto const code = act([&](client& c) { return reach(c, step, stops); });
  if (code != static_cast<int>(exit_code::ok) || stops) return code;
  return static_cast<int>(exit_code::failed);
}

constexpr auto sync_point_footer =
    R"(Exits with 0 where all tasks stop together after a preempt: save your state here. With 1
otherwise: go on. To be asked by every task with each step, rising. Waits only while they agree on
a step.

EXAMPLE
  for step in $(seq 1000); do
    ./step $step
    if coxswain sync-point $step; then ./save $step; exit; fi
  done

)";

}  // namespace

void add_sync_point(CLI::App& program, action& chosen) {
  auto step = std::make_shared<std::uint64_t>();
  auto& command = add_subcommand(
      program, "sync-point", "Says that this task has reached a step, and whether all stop there",
      chosen, [step] { return reach(*step); });
  add_number(
      command, "STEP", [step](std::int64_t n) { *step = static_cast<std::uint64_t>(n); }, 0,
      std::numeric_limits<std::int64_t>::max(), "The step")
      ->required();
  command.name_variables();
  command.footer(task_help_end(sync_point_footer));
}

}  // namespace coxswain::tools
