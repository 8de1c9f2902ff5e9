// coxswain progress, sync-point, fail, reset, leave, preempt: a task's reports about itself.

#include "commands/commands.hpp"
#include "options/exit_code.hpp"
#include "options/remote.hpp"

#include "coxswain/client/asking.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::tools {
namespace {

struct step_command {
  std::optional<std::uint64_t> step;
};

void add_step(CLI::App& to, step_command& into) {
  add_number(to, "STEP", into.step, 0, "The step")->required();
}

asio::awaitable<void> report(client& c, step_command const& given) {
  return c.report_progress(*given.step);
}

asio::awaitable<void> reach(client& c, std::uint64_t step, bool& stops) {
  stops = co_await c.reached_sync_point(step);
}

int reach_step(step_command const& given) {
  bool stops{};
  auto const code = act([&](client& c) { return reach(c, *given.step, stops); });
  if (code != static_cast<int>(exit_code::ok) || stops) return code;
  return static_cast<int>(exit_code::failed);
}

constexpr auto progress_footer =
    R"(coxswain status shows it. With serve --progress-timeout the coordinator warns of a task that
reports no further step for that long, unless the task waits in a call, such as barrier.
sync-point does not report progress.

EXAMPLE
  for step in $(seq 1000); do ./step $step && coxswain progress $step; done

)";

constexpr auto sync_point_footer =
    R"(Exits with 0 if all tasks stop at this step after a preempt: save your state. Exits with 1
otherwise: continue. Every task must call it at each step, in rising order. It waits only while the
tasks agree on a step.

EXAMPLE
  for step in $(seq 1000); do
    ./step $step
    if coxswain sync-point $step; then ./save $step; exit; fi
  done

)";

constexpr std::uint32_t codes = 16;

struct fail_command {
  std::string code{name(errc::internal)};
  std::string message;
};

std::vector<std::string> code_names() {
  std::vector<std::string> names;
  for (std::uint32_t i = 1; i <= codes; ++i) names.emplace_back(name(errc_of(i)));
  return names;
}

errc code_named(std::string const& text) {
  std::uint32_t i = 1;
  while (i < codes && name(errc_of(i)) != text) ++i;
  return errc_of(i);
}

asio::awaitable<void> fail(client& c, fail_command const& given) {
  return c.report_error(code_named(given.code), given.message);
}

// The task stays joined when this program ends.
asio::awaitable<void> reset(client& c) {
  co_await c.reset();
  co_await c.join();
  detail::connection_of(c)->may_be_member(false);
}

struct leave_command {
  duration timeout{core::timeout_default};
  bool returning{};
};

// Not client::leave: our client has not joined, and would just end its own session.
asio::awaitable<void> leave(client& c, leave_command const& given) {
  core::leave_args args;
  args.returning = given.returning;
  detail::question q{args, given.timeout};
  auto const answer = co_await detail::ask(detail::connection_of(c), std::move(q));
  detail::throw_unless_ok(answer);
}

constexpr auto leave_footer =
    R"(Waits until all tasks leave, unless all are recoverable. After that no task waits for it,
and the end of its command is not a failure; the task remains until then. Without it the task leaves
when its command ends. With --returning it does not wait for other tasks, and barriers wait for the
next process of the task once the command has ended.

EXAMPLE
  coxswain leave && ./upload-results

)";

struct preempt_command {
  remote_options remote;
  std::optional<task_id> task;  // none: the task that this program acts for
  duration in{};
};

int post(preempt_command const& given) {
  auto const talk = [&given](client& c) { return c.preempt(given.in, given.task); };
  return given.task ? converse(given.remote, talk) : act(talk);
}

constexpr auto preempt_footer =
    R"(All tasks then agree on a step at which they save their state: there their
reached_sync_point(step) is true, and coxswain sync-point exits with 0. If there is
more time than the coordinator's --preemption-lead, they agree that long before.

EXAMPLE
  coxswain preempt 17 --in 10min

)";

}  // namespace

void add_progress(CLI::App& program, action& chosen) {
  auto& command = add_conversation(program, "progress",
                                   "Reports the step that this task has reached", chosen, report);
  add_step(command, command.given);
  command.name_variables();
  command.footer(task_help_end(progress_footer));
}

void add_sync_point(CLI::App& program, action& chosen) {
  auto& command =
      add_subcommand(program, "sync-point",
                     "Reports a step, and tests whether all tasks stop there", chosen, reach_step);
  add_step(command, command.given);
  command.name_variables();
  command.footer(task_help_end(sync_point_footer));
}

void add_fail(CLI::App& program, action& chosen) {
  auto& command = add_conversation(
      program, "fail", "Fails this task, and sends the reason to all others", chosen, fail);
  auto& given = command.given;
  command.add_option("MESSAGE", given.message, "Reason, shown to all tasks")->required();
  command.add_option("--code", given.code, "Error code, by its gRPC name")
      ->type_name("CODE")
      ->check(one_of(code_names()))
      ->capture_default_str();
  command.name_variables();
  command.footer(task_help_end(
      "The job fails, and all tasks get the reason. A recoverable task fails alone, and can join\n"
      "again after reset; in an elastic job when it is started again. The command of coxswain task "
      "has --kill-grace to end by itself. Ending\n"
      "it with an exit code other than 0 fails the task as well.\n\n"
      "EXAMPLE\n  ./train || { coxswain fail \"$(tail -n 1 log)\"; exit 1; }\n\n"));
}

void add_reset(CLI::App& program, action& chosen) {
  auto& command = add_subcommand(program, "reset",
                                 "Clears the failure of this recoverable task, which joins again",
                                 chosen, [] { return act(reset); });
  command.footer(task_help_end(
      "Exits with 1 if the task has not failed, or the job has, or in an elastic job: there the "
      "task\n"
      "must be started again.\n\n"
      "EXAMPLE\n  until ./step; do\n"
      "    coxswain fail \"step failed\" && ./repair && coxswain reset || exit\n  done\n\n"));
}

void add_leave(CLI::App& program, action& chosen) {
  auto& command = add_conversation(
      program, "leave", "Leaves with all other tasks before the command ends", chosen, leave);
  add_timeout(command, "--timeout", command.given.timeout, "Time limit for all tasks to leave");
  command.add_flag("--returning", command.given.returning,
                   "Expect the task back: its launcher starts the command again");
  command.name_variables();
  command.footer(task_help_end(leave_footer));
}

void add_preempt(CLI::App& program, action& chosen) {
  auto& command = add_subcommand(program, "preempt",
                                 "Announces that a task is about to be preempted", chosen, post);
  auto& given = command.given;
  add_number(command, "TASK", given.task, 0,
             "The task's number (default, under coxswain task: this task's)",
             std::numeric_limits<std::uint32_t>::max());
  add_duration(command, "--in", given.in, "Time until it is preempted");
  add_remote_options(command, given.remote);
  command.footer(help_end(preempt_footer));
}

}  // namespace coxswain::tools
