// coxswain status, why, events: what the job is doing, what its tasks wait for, what has happened.

#include "commands/commands.hpp"
#include "options/exit_code.hpp"
#include "options/remote.hpp"
#include "options/value_io.hpp"
#include "terminal/error_output.hpp"
#include "text/event_line.hpp"
#include "text/status_text.hpp"
#include "text/why_text.hpp"

#include "coxswain/client/event_watch.hpp"
#include "coxswain/status/json.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>

namespace coxswain::tools {
namespace {

constexpr auto object_help = "One JSON object on one line, for programs";

struct status_command {
  remote_options remote{.takes_newest = true};
  bool as_json{};
  bool goes_on{};
};

asio::awaitable<void> show_status(client& c, status_command const& given) {
  auto const picture = co_await c.inspect();
  fmt::print("{}", given.as_json ? status_page::status_json(picture) + "\n" : status_text(picture));
  flush_output();
}

// Again after each change of a task, until the coordinator stops.
asio::awaitable<void> follow(client& c, status_command const& given) {
  std::optional<std::uint64_t> seen;
  for (;;) {
    auto const tasks = co_await c.watch_tasks(seen);
    if (seen && !given.as_json) fmt::print("\n");
    seen = tasks.version;
    co_await show_status(c, given);
  }
}

asio::awaitable<void> show_or_follow(client& c, status_command const& given) {
  return given.goes_on ? follow(c, given) : show_status(c, given);
}

struct why_command {
  remote_options remote{.takes_newest = true};
  bool as_json{};
};

asio::awaitable<void> show_why(client& c, why_command const& given) {
  auto const answer = co_await c.why();
  fmt::print("{}", given.as_json ? status_page::why_json(answer) + "\n" : why_text(answer));
}

constexpr auto why_footer =
    R"(For each barrier, key or queue: the waiting tasks, for how long, and the missing ones, with
what each does instead. STUCK marks a deadlock: tasks wait for each other in a cycle, or for a key
or an item that no task is left to provide. The coordinator also logs a deadlock, and reports it as
an event, 0.1 s after the last of the tasks began to wait; it does not resolve it. A process with
several threads counts as blocked when as many of its calls wait as it ever had open at once.

EXAMPLES
  coxswain why
  coxswain why --json | jq -r '.waits[] | select(.stuck) | .name'

)";

struct events_command {
  remote_options remote{.takes_newest = true};
  bool goes_on{};
  bool as_json{};
  std::string severity{"info"};
};

// On standard error, so that programs do not take it for an event.
void report_lost(std::uint64_t lost) {
  if (lost > 0) print_error("the coordinator no longer keeps {} earlier events\n", lost);
}

asio::awaitable<void> show_events(client& c, events_command const& given) {
  event_watch all{c, status_page::severity_named(given.severity).value()};
  duration const wait = given.goes_on ? without_limit : duration{};
  std::uint64_t lost = 0;
  for (;;) {
    auto const e = co_await all.next(wait);
    if (!e) co_return;
    report_lost(all.lost() - lost);
    lost = all.lost();
    fmt::print("{}\n", given.as_json ? status_page::event_json(*e) : event_text(*e));
    if (given.goes_on) flush_output();
  }
}

}  // namespace

void add_status(CLI::App& program, action& chosen) {
  auto& command = add_conversation(
      program, "status", "Shows the job: its tasks, open barriers with missing tasks, and failures",
      chosen, show_or_follow);
  command.add_flag("--json", command.given.as_json, object_help);
  command.add_flag("--watch", command.given.goes_on,
                   "Print it again whenever a task changes, until the coordinator stops");
  add_remote_options(command, command.given.remote);
  command.footer(
      help_end("EXAMPLES\n  coxswain status\n  coxswain status --json | jq "
               "'.barriers[] | {name, missing}'\n  coxswain status --watch\n\n"));
}

void add_why(CLI::App& program, action& chosen) {
  auto& command = add_conversation(
      program, "why", "Shows what every task waits for, and finds deadlocks", chosen, show_why);
  command.add_flag("--json", command.given.as_json, object_help);
  add_remote_options(command, command.given.remote);
  command.footer(help_end(why_footer));
}

void add_events(CLI::App& program, action& chosen) {
  auto& command = add_conversation(
      program, "events", "Shows the events of the job: joins, departures, failures, long waits",
      chosen, show_events);
  auto& given = command.given;
  command.add_flag("--follow", given.goes_on,
                   "Keep printing new events until the coordinator stops");
  command.add_flag("--json", given.as_json, "One JSON object on each line, for programs");
  command.add_option("--severity", given.severity, "Show only events of at least this severity")
      ->type_name("LEVEL")
      ->check(one_of({"info", "warning", "error"}))
      ->capture_default_str();
  add_remote_options(command, given.remote);
  command.footer(help_end(
      "A line has the time by the coordinator's clock (RFC 3339), the seconds since its\n"
      "start, the severity and the text. The coordinator keeps the last 10,000 events of\n"
      "each severity. More than 16 events that differ only in task and numbers become one\n"
      "line with a count. In JSON such a line has \"count\" and \"tasks\", and replaces all\n"
      "lines with the same \"first\".\n\n"
      "EXAMPLES\n  coxswain events --severity warning\n"
      "  coxswain events --follow --json | jq 'select(.kind == \"failed\") | .tasks'\n\n"));
}

}  // namespace coxswain::tools
