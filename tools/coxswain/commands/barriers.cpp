// coxswain barrier, all-gather, reduce, all-equal, alive, cancel: calls that wait for others, and
// the end of such a wait.

#include "commands/commands.hpp"
#include "options/exit_code.hpp"
#include "options/operand.hpp"
#include "options/remote.hpp"
#include "options/value_io.hpp"
#include "terminal/error_output.hpp"
#include "text/json.hpp"

#include "coxswain/core/kernel/text.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::tools {
namespace {

// Where tasks meet, for how long and which of them.
struct meeting {
  std::string name;
  duration timeout{core::timeout_default};
  std::vector<task_id> participants;
};

void add_name(CLI::App& to, meeting& into) {
  to.add_option("NAME", into.name, "The barrier at which they meet")->required();
}

// Gives --participants.
CLI::Option* add_meeting(CLI::App& to, meeting& into) {
  add_timeout(to, "--timeout", into.timeout);
  return add_tasks(to, "--participants", into.participants,
                   "Participating tasks, such as 0,2-5; the same for all of them (default: all)");
}

void add_data(CLI::App& to, std::string& into) {
  to.add_option("DATA", into, "This task's data; - reads it from standard input")->required();
}

struct barrier_command {
  remote_options remote;
  meeting where;
  std::optional<std::uint32_t> count;  // none: the tasks
  bool fail_when_lost{};
  bool shows_progress{};
};

asio::awaitable<void> wait_for_callers(client& c, barrier_command const& given) {
  auto const& where = given.where;
  auto const round = co_await c.count_barrier(where.name, *given.count, where.timeout);
  print_report("round {} of '{}' is complete: {} have arrived\n", round.value, where.name,
               *given.count);
}

void show(core::barrier_progress const& p) {
  print_error("round {}: {} of {} have arrived; missing: {}{}\n", p.round.value, p.arrived,
              p.expected, p.missing, p.missing_cut > 0 ? " ..." : "");
}

asio::awaitable<void> wait_for_tasks(client& c, barrier_command const& given) {
  barrier_options options{given.where.timeout, given.where.participants};
  options.fail_when_lost = given.fail_when_lost;
  if (given.shows_progress) options.on_progress = show;
  auto const round = co_await c.barrier(given.where.name, options);
  print_report("round {} of '{}' is complete\n", round.value, given.where.name);
}

int wait(barrier_command const& given) {
  if (given.count) {
    return take_part(given.remote, [&given](client& c) { return wait_for_callers(c, given); });
  }
  if (is_inside_task()) {
    return act([&given](client& c) { return wait_for_tasks(c, given); },
               given.remote.connect_timeout);
  }
  throw program_error{
      exit_code::usage,
      "--count N is required here: barriers without it are for tasks; run it under\n  "
      "coxswain task -- CMD...\n"
      "see coxswain barrier --help"};
}

constexpr auto barrier_footer =
    R"(Without --count, which works only under coxswain task, this is a barrier of all tasks of the
job, or of those named by --participants; it fails if one of them fails. With --count any caller
counts; these barriers have a separate name space.

EXAMPLES
  In a script that each task runs, as coxswain task -- sh train.sh:
    coxswain barrier loaded --timeout 10min
  Each of three shell scripts outside the job waits for the other two:
    coxswain barrier data-is-there --count 3 --timeout 10min

)";

struct all_gather_command {
  meeting where;
  std::string data;
  bool as_json{};
};

std::string json_of(std::vector<std::string> const& all, std::vector<task_id> const& participants) {
  json::array tasks;
  for (std::size_t i = 0; i < all.size(); ++i) {
    json::object one{
        {"task", participants.empty() ? static_cast<std::uint32_t>(i) : participants[i].value}};
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
  auto const& where = given.where;
  barrier_options const options{where.timeout, where.participants};
  auto const all = co_await c.all_gather(where.name, mine, options);
  print_value(given.as_json ? json_of(all, where.participants) : lines_of(all));
}

struct all_equal_command {
  meeting where;
  std::string data;
};

asio::awaitable<void> compare(client& c, all_equal_command const& given) {
  auto const mine = value_of_argument(given.data);
  barrier_options const options{given.where.timeout, given.where.participants};
  co_await c.all_equal(given.where.name, mine, options);
}

struct reduce_command {
  meeting where;
  std::string operand;
  std::string how;
  bool real{};
};

program_error wrong_operand(reduce_command const& given, std::string_view allowed) {
  return {exit_code::usage, fmt::format("NUMBER: invalid value '{}'; expected {}\nsee coxswain "
                                        "reduce --help",
                                        given.operand, allowed)};
}

bool is_bitwise(reduce_command const& given) { return given.how == "and" || given.how == "or"; }

reduction reduction_of(reduce_command const& given) {
  if (given.how == "sum") return reduction::sum;
  return given.how == "min" ? reduction::min : reduction::max;
}

asio::awaitable<void> reduce_bits(client& c, reduce_command const& given, std::string bits) {
  auto const how = given.how == "and" ? bitwise::all : bitwise::any;
  auto const& where = given.where;
  barrier_options const options{where.timeout, where.participants};
  auto const result = co_await c.reduce_bits(where.name, bits, how, options);
  fmt::print("{}\n", core::hexadecimal(result));
}

template <class Number>
asio::awaitable<void> reduce_numbers(client& c, reduce_command const& given, Number mine) {
  auto const how = reduction_of(given);
  auto const& where = given.where;
  barrier_options const options{where.timeout, where.participants};
  auto const result = co_await c.reduce(where.name, mine, how, options);
  fmt::print("{}\n", text_of(result));
}

int reduce(reduce_command const& given) {
  if (is_bitwise(given)) {
    auto const bits = from_hexadecimal(given.operand);
    if (!bits) throw wrong_operand(given, "hexadecimal digits, two for each byte, such as 00ff");
    return act([&](client& c) { return reduce_bits(c, given, *bits); });
  }
  auto const mine = parse_operand(given.operand, given.real);
  if (!mine) throw wrong_operand(given, "a number of up to 64 bits, such as 12 or 0.5");
  return act([&](client& c) {
    return std::visit([&](auto number) { return reduce_numbers(c, given, number); }, *mine);
  });
}

constexpr auto reduce_footer =
    R"(Either all tasks pass integers, or all pass real numbers; --real makes "2" a real number. For
"and" and "or" all pass the same number of bytes, in hexadecimal digits.

EXAMPLES
  sum=$(coxswain reduce loss "$loss" --how sum --real)
  mean=$(echo "$sum / $COXSWAIN_NUM_TASKS" | bc -l)
  coxswain reduce ready ff --how and

)";

struct alive_command {
  std::vector<task_id> tasks;
  duration timeout{core::timeout_default};
  bool as_json{};
};

asio::awaitable<void> ask_who(client& c, alive_command const& given) {
  auto const alive = co_await c.alive_tasks(given.tasks, given.timeout);
  json::array all;
  for (auto const& one : alive) {
    all.push_back(json::object{{"task", one.task.value},
                               {"incarnation", fmt::format("{:016x}", one.incarnation.value)}});
    if (!given.as_json) fmt::print("{}\n", one.task.value);
  }
  if (given.as_json) fmt::print("{}\n", serialized(all));
}

struct cancel_command {
  remote_options remote;
  std::string name;
  std::optional<round_number> round;
};

int cancel(cancel_command const& given) {
  auto const talk = [&given](client& c) { return c.cancel_barrier(given.name, given.round); };
  return take_part(given.remote, talk);
}

constexpr auto cancel_footer =
    R"(Their calls fail with CANCELLED, and the message names the caller; the barrier can be used
again. Exits with 1 if no task waits at it. Under coxswain task the task cancels, and must be a
participant. Callers of coxswain barrier --count are not affected: end each with Ctrl-C.

EXAMPLE
  coxswain cancel epoch-7

)";

}  // namespace

void add_barrier(CLI::App& program, action& chosen) {
  auto& command = add_subcommand(
      program, "barrier",
      "Waits until all tasks, or a number of callers, have arrived at a barrier", chosen, wait);
  auto& given = command.given;
  command.add_option("NAME", given.where.name, "The barrier; it can be used again and again")
      ->required();
  auto* const count = add_number(
      command, "-n,--count", given.count, 1,
      "Number of callers to wait for, tasks or not; the same for all callers", 1'000'000);
  add_meeting(command, given.where)->excludes(count);
  command
      .add_flag("--fail-when-lost", given.fail_when_lost,
                "Fail as soon as one of them fails, even a recoverable one; the same for all")
      ->excludes(count);
  command
      .add_flag("--progress", given.shows_progress,
                "Show missing tasks on standard error, once a second")
      ->excludes(count);
  add_remote_options(command, given.remote);
  command.footer(help_end(barrier_footer));
}

void add_all_gather(CLI::App& program, action& chosen) {
  auto& command = add_conversation(program, "all-gather",
                                   "Gathers data from all tasks, and prints it", chosen, gather);
  add_name(command, command.given.where);
  add_data(command, command.given.data);
  add_meeting(command, command.given.where);
  command.add_flag("--json", command.given.as_json,
                   "Print a JSON array of tasks with their data, for data of several lines");
  command.name_variables();
  command.footer(
      task_help_end("Prints one line per task, in task order.\n\n"
                    "EXAMPLE\n  Each task learns where the others listen:\n"
                    "    coxswain all-gather addresses \"$(hostname):$port\" > addresses\n\n"));
}

void add_all_equal(CLI::App& program, action& chosen) {
  auto& command = add_conversation(program, "all-equal",
                                   "Fails unless all tasks pass the same data", chosen, compare);
  add_name(command, command.given.where);
  add_data(command, command.given.data);
  add_meeting(command, command.given.where);
  command.name_variables();
  command.footer(task_help_end(
      "Exits with 1 if they differ, and names two tasks that do.\n\n"
      "EXAMPLE\n  coxswain all-equal config \"$(sha256sum < config.json)\" || exit\n\n"));
}

void add_reduce(CLI::App& program, action& chosen) {
  auto& command = add_subcommand(
      program, "reduce", "Reduces the numbers of all tasks, and prints the result", chosen, reduce);
  auto& given = command.given;
  add_name(command, given.where);
  command.add_option("NUMBER", given.operand, "This task's number")->required();
  command.add_option("--how", given.how, "Operation")
      ->type_name("HOW")
      ->check(one_of({"sum", "min", "max", "and", "or"}))
      ->required();
  command.add_flag("--real", given.real,
                   "Treat the number as real even if it looks like an integer");
  add_meeting(command, given.where);
  command.name_variables();
  command.footer(task_help_end(reduce_footer));
}

void add_alive(CLI::App& program, action& chosen) {
  auto& command = add_conversation(
      program, "alive", "Prints the live tasks, the same list for all callers", chosen, ask_who);
  add_tasks(command, "TASKS", command.given.tasks,
            "Tasks to query, such as 0,2-5; must include this one (default: all)");
  add_timeout(command, "--timeout", command.given.timeout);
  command.add_flag("--json", command.given.as_json, "One JSON array on one line, for programs");
  command.name_variables();
  command.footer(task_help_end(
      "Waits until each connected one of them makes the same query, and prints their numbers, one\n"
      "per line. Tasks that fail meanwhile are left out.\n\n"
      "EXAMPLE\n  After a failure the remaining tasks continue (coxswain serve --recoverable):\n"
      "    left=$(coxswain alive | paste -sd,) &&\n"
      "        coxswain barrier go-on --participants \"$left\"\n\n"));
}

void add_cancel(CLI::App& program, action& chosen) {
  auto& command =
      add_subcommand(program, "cancel", "Cancels the open round of a barrier for all waiting tasks",
                     chosen, cancel);
  auto& given = command.given;
  given.remote.command = "cancel";
  command.add_option("NAME", given.name, "The barrier, as status shows it")->required();
  add_number(command, "--round", given.round, 1, "Cancel only if this is the open round");
  add_remote_options(command, given.remote);
  command.footer(help_end(cancel_footer));
}

}  // namespace coxswain::tools
