// coxswain: the program. Its subcommands are in files by kind.

#include "commands/commands.hpp"
#include "commands/version.hpp"
#include "options/exit_code.hpp"
#include "options/help_formatter.hpp"
#include "options/misspelt_variables.hpp"
#include "terminal/error_output.hpp"
#include "terminal/harmless_text.hpp"

#include "coxswain/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace coxswain::tools {
namespace {

constexpr auto purpose =
    "Coxswain coordinates the processes of a distributed job: they start together, exchange\n"
    "small data, wait for each other at barriers, and learn at once when one of them fails.\n"
    "All of them connect to one process, the coordinator (serve). run starts a coordinator and a\n"
    "job on this machine; task runs a shell script as a task of a job; the other subcommands\n"
    "inspect or use a running coordinator.";

constexpr auto footer = R"help(EXAMPLES
  Run a job of four processes on this machine, and watch it:
    coxswain run -n 4 -- python train.py
    coxswain top
  Run a coordinator for several machines, and inspect it:
    coxswain serve -n 4 --listen :8476 --token-file token
    coxswain status --address host:8476 --token-file token
  A shell script whose commands act for its task:
    coxswain run -n 4 -- coxswain task -- \
        sh -c 'coxswain all-gather hosts "$(hostname)"'
  Scripts that wait for each other:
    coxswain put stage/data done
    coxswain get stage/data --wait 10min
  See coxswain help SUBCOMMAND.

ENVIRONMENT
  Every option can be set by a variable too: --connect-timeout is
  COXSWAIN_CONNECT_TIMEOUT. Flags override variables. Only --overwrite, --all,
  --take-over and the conditions of cas have none, because they decide what is
  destroyed.
  COXSWAIN_ADDRESS is the coordinator's address, and COXSWAIN_TOKEN the job's
  token. Without them, the launcher provides the values (see coxswain detect),
  else your jobs on this machine do (see coxswain jobs).

CONFIGURATION
  --config FILE, or COXSWAIN_CONFIG, names a TOML file of options. Its keys are
  option names without the leading dashes: at the top for all subcommands with
  that option, in a section for the subcommand of that name:
    address = "job-host:8476"
    token-file = "/run/secrets/job"
    [serve]
    num-tasks = 64
    listen = [":8476", "unix:/run/job.sock"]
  The first of these that sets an option wins: flag, variable, section, top of
  the file, launcher, default. --print-config shows each value and its source.

)help";

int report_violation(std::string const& where, std::string const& what, exit_code how) {
  print_error("{}: {}\n", where, harmless_lines(what));
  return static_cast<int>(how);
}

// As it was given: by a flag, a variable or a file.
std::string with_origin(CLI::App const& program, std::string problem) {
  auto const used = program.get_subcommands();
  if (used.empty()) return problem;
  return dynamic_cast<subcommand const&>(*used.front()).with_origin(std::move(problem));
}

// The program's name with the subcommand that was asked for.
std::string name_of(CLI::App const& program) {
  auto const used = program.get_subcommands();
  return used.empty() ? "coxswain" : "coxswain " + used.front()->get_name();
}

// Output is lost if the disk is full: that must not look like success. Here is only output that the
// program exists for: see print_report.
int once_printed(CLI::App const& program, int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  return report_violation(name_of(program), "standard output could not be written",
                          exit_code::failed);
}

// A helpful message for an error of CLI11.
std::string problem_with(CLI::App const& program, CLI::ParseError const& problem,
                         std::vector<std::string> const& arguments) {
  auto const used = program.get_subcommands();
  bool const is_word = !arguments.empty() && !arguments.front().starts_with('-');
  if (used.empty() && is_word) return unknown_subcommand(program, arguments.front());
  auto const& where = used.empty() ? program : *used.front();
  auto const remaining = where.remaining();
  bool const is_command =
      where.get_prefix_command() && !remaining.empty() && !remaining.front().starts_with('-');
  if (is_command) return with_origin(program, in_plain_words(where, problem));
  for (auto const& one : remaining) {
    if (one.starts_with('-')) return unknown_option(where, one);
  }
  if (!remaining.empty()) return fmt::format("unexpected argument '{}'", remaining.front());
  return with_origin(program, in_plain_words(where, problem));
}

int run_program(std::vector<std::string> arguments) {
  // The file size limit (ulimit -f) becomes a write error, like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  CLI::App program{purpose, "coxswain"};
  program.formatter(std::make_shared<help_formatter>());  // the subcommands have the same one
  program.get_formatter()->column_width(32);
  program.footer(std::string{footer} + exit_codes_text);
  program.set_version_flag("--version", fmt::format("coxswain {}", version));
  program.require_subcommand(1);
  action chosen;
  for (auto const& group : command_groups) {
    for (auto* add : group.commands) {
      add(program, chosen);
      auto* const added = program.get_subcommands({}).back();
      if (!added->get_group().empty()) added->group(group.title);  // else it is hidden
    }
  }
  for (auto const& one : warnings_of_misspelt_variables(program)) {
    print_error("coxswain: {}\n", harmless_line(one));
  }
  protect_command(program, arguments);
  auto const given = arguments;
  // CLI11 takes the arguments in reverse order.
  std::reverse(arguments.begin(), arguments.end());
  if (given.empty()) {
    write_error(program.help());
    return static_cast<int>(exit_code::usage);
  }
  try {
    program.parse(std::move(arguments));
    return once_printed(program, chosen());
  } catch (CLI::Success const& asked_for_help) {
    return once_printed(program, program.exit(asked_for_help));
  } catch (CLI::ParseError const& problem) {
    auto const name = name_of(program);
    auto const what = problem_with(program, problem, given);
    return report_violation(name, fmt::format("{}\nsee {} --help", what, name), exit_code::usage);
  } catch (program_error const& problem) {
    return report_violation(name_of(program), problem.what(), problem.how());
  } catch (error const& problem) {
    return report_violation(name_of(program), problem.what(),
                            exit_code_of(problem.outcome().code()));
  } catch (std::exception const& problem) {
    return report_violation(name_of(program), problem.what(), exit_code::failed);
  }
}

}  // namespace
}  // namespace coxswain::tools

int main(int argc, char** argv) {
  coxswain::tools::open_standard_descriptors();
  return coxswain::tools::run_program({argv + 1, argv + argc});
}
