// coxswain stack: what a process of this machine does.

#include "commands/commands.hpp"
#include "options/command_line.hpp"
#include "options/exit_code.hpp"
#include "stacks/process_stack.hpp"

#include <fmt/format.h>

#include <limits>
#include <memory>
#include <string>

namespace coxswain::tools {
namespace {

struct stack_command {
  std::uint32_t pid{};
  std::string client;
  std::string beside;
};

int show_stack(stack_command const& given) {
  auto const found = stack_of(static_cast<pid_t>(given.pid), given.client, given.beside);
  fmt::print("{}", printed(found));
  if (!found.main.empty()) return static_cast<int>(exit_code::ok);
  return static_cast<int>(exit_code::failed);
}

}  // namespace

void add_stack(CLI::App& program, action& chosen) {
  auto given = std::make_shared<stack_command>();
  auto& command = add_subcommand(program, "stack", "Shows what a process of this machine does",
                                 chosen, [given] { return show_stack(*given); });
  command.add_option("PID", given->pid, "The process, or one that has started it")
      ->check(CLI::Range(1U, static_cast<unsigned>(std::numeric_limits<int>::max())))
      ->required();
  command
      .add_option("--client", given->client,
                  "Of the processes that it has started, the one that this client's name states")
      ->type_name("HOST:PID");
  command
      .add_option("--beside", given->beside,
                  "Look for py-spy in this directory, too, besides PATH and that of this program")
      ->type_name("DIR");
  command.footer(
      help_end("Prints the frames of the main thread, the innermost first; then an empty line,\n"
               "other threads, and what the kernel says. Python frames need py-spy\n"
               "(pip install py-spy), C frames eu-stack (elfutils) or gdb. Without --client the\n"
               "largest of the process and those that it has started is looked at: shells and\n"
               "launchers are small. coxswain run, task and relay use this for\n"
               "coxswain why --stacks.\n\n"
               "EXAMPLE\n  coxswain stack 3391\n\n"
               "EXIT CODES\n  0, or 1 if there is no such process\n"));
}

}  // namespace coxswain::tools
