// coxswain status, why, events: what the job is doing, what its tasks wait for, what has happened.

#include "commands/commands.hpp"
#include "options/exit_code.hpp"
#include "options/remote.hpp"
#include "options/value_io.hpp"
#include "terminal/error_output.hpp"
#include "text/event_line.hpp"
#include "text/stacks_text.hpp"
#include "text/status_text.hpp"
#include "text/why_text.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/client/asking.hpp"
#include "coxswain/client/event_watch.hpp"
#include "coxswain/status/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::tools {
namespace {

// For answers of missing tasks, and of their hosts.
constexpr duration look_pause = 150ms;
constexpr int looks_max = 10;

constexpr auto object_help = "One JSON object on one line, for programs";

asio::awaitable<void> pause(client& c, duration how_long) {
  asio::steady_timer timer{c.get_executor(), how_long};
  co_await timer.async_wait(asio::use_awaitable);
}

// Whether a task was asked whether it answers, and that is not known yet.
bool is_open(std::vector<missing_task> const& missing) {
  return std::any_of(missing.begin(), missing.end(), [](missing_task const& m) {
    return m.state == task_state::connected && !m.suspect && m.waits_for.empty() && !m.answers &&
           !m.unanswered;
  });
}

bool is_open(core::why_answer const& answer) {
  using kind = core::why_answer::kind;
  return std::any_of(answer.waits.begin(), answer.waits.end(), [](auto const& wait) {
    bool const is_meeting =
        wait.what == kind::barrier || wait.what == kind::leave || wait.what == kind::topology;
    return is_meeting && wait.age >= 1s && wait.missing && is_open(wait.missing->known);
  });
}

bool is_open(core::snapshot const& picture) { return is_open(picture.missing); }

// Looks again until it is known whether those that are missing answer.
template <class Look>
auto look_again(client& c, Look look) -> decltype(look()) {
  auto seen = co_await look();
  for (int i = 0; i < looks_max && is_open(seen); ++i) {
    co_await pause(c, look_pause);
    seen = co_await look();
  }
  co_return seen;
}

struct status_command {
  remote_options remote{.takes_newest = true};
  bool as_json{};
  bool goes_on{};
};

asio::awaitable<void> show_status(client& c, status_command const& given) {
  auto const ask = [&c]() -> asio::awaitable<core::snapshot> { co_return co_await c.inspect(); };
  auto const picture = co_await look_again(c, ask);
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
  bool takes_stacks{};
};

asio::awaitable<core::stacks_answer> ask_stacks(client& c, std::uint64_t number) {
  core::stacks_args const args{number};
  detail::question q{args, core::timeout_default};
  auto reply = co_await detail::ask(detail::connection_of(c), std::move(q));
  detail::throw_unless_ok(reply);
  auto* const taken = std::get_if<core::stacks_answer>(&reply.value);
  if (taken == nullptr) throw error{{errc::internal, "the coordinator sent another reply"}};
  co_return std::move(*taken);
}

// Until all have come, or the coordinator waits no longer.
asio::awaitable<core::stacks_answer> take_stacks(client& c) {
  auto taken = co_await ask_stacks(c, 0);
  while (!taken.complete) {
    co_await pause(c, look_pause);
    taken = co_await ask_stacks(c, taken.number);
  }
  co_return taken;
}

asio::awaitable<void> show_why(client& c, why_command const& given) {
  auto const ask = [&c]() -> asio::awaitable<core::why_answer> { co_return co_await c.why(); };
  auto const answer = co_await look_again(c, ask);
  std::optional<core::stacks_answer> stacks;
  if (given.takes_stacks) stacks.emplace(co_await take_stacks(c));
  if (given.as_json) {
    fmt::print("{}\n", status_page::why_json(answer, stacks ? &*stacks : nullptr));
  } else {
    fmt::print("{}{}", why_text(answer), stacks ? stacks_text(*stacks) : std::string{});
  }
}

constexpr auto why_footer =
    R"(For each barrier, key or queue: the waiting tasks, for how long, and the missing ones, with
what each does instead. STUCK marks a deadlock: tasks wait for each other in a cycle, or for a key
or an item that no task is left to provide. The coordinator also logs a deadlock, and reports it as
an event, 0.1 s after the last of the tasks began to wait; it does not resolve it. A process with
several threads counts as blocked when as many of its calls wait as it ever had open at once.

A missing task that does not wait itself is asked whether it answers, which takes up to 1.5 s. With
--stacks the processes of tasks that are missing for 10 s, or report no progress, are looked at by
the coxswain run or task that has started them, or by their relay: see coxswain stack --help. Equal
stacks are one group, the rarest first. At most 64 tasks are asked, and not more often than every
5 s; it takes up to 10 s, and needs a token of role operator.

EXAMPLES
  coxswain why
  coxswain why --stacks
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
  command.add_flag("--stacks", command.given.takes_stacks,
                   "Show the stacks of processes that others have waited for at least 10 s");
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
