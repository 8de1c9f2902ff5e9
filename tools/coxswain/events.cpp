// coxswain events: what has happened in the job.

#include "commands.hpp"
#include "event_line.hpp"
#include "exit_code.hpp"
#include "remote.hpp"

#include "coxswain/client/event_watch.hpp"
#include "coxswain/status/json.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>

namespace coxswain::tools {
namespace {

struct events_command {
  remote_options remote;
  bool goes_on{};
  bool as_json{};
  std::string severity{"info"};
};

// On standard error, so that it is no event for programs.
void tell_lost(std::uint64_t lost) {
  if (lost > 0) fmt::print(stderr, "{} events are no longer kept by the coordinator\n", lost);
}

asio::awaitable<void> show(client& c, events_command const& given) {
  event_watch events{c, status_page::severity_named(given.severity).value()};
  duration const patience = given.goes_on ? without_limit : duration{};
  std::uint64_t lost = 0;
  for (;;) {
    auto const e = co_await events.next(patience);
    if (!e) co_return;
    tell_lost(events.lost() - lost);
    lost = events.lost();
    fmt::print("{}\n", given.as_json ? status_page::event_json(*e) : event_text(*e));
    if (given.goes_on) std::fflush(stdout);
  }
}

}  // namespace

void add_events(CLI::App& program, action& chosen) {
  auto given = std::make_shared<events_command>();
  given->remote.takes_newest = true;
  auto& command = add_subcommand(
      program, "events", "Shows what has happened: who joined, left or failed, and what waits",
      chosen,
      [given] { return converse(given->remote, [given](client& c) { return show(c, *given); }); });
  command.add_flag("--follow", given->goes_on,
                   "Go on with what happens next, until the coordinator stops");
  command.add_flag("--json", given->as_json, "One JSON object on each line, for programs");
  command.add_option("--severity", given->severity, "Leave out what is less severe")
      ->type_name("LEVEL")
      ->check(one_of({"info", "warning", "error"}))
      ->capture_default_str();
  add_remote_options(command, given->remote);
  command.footer(help_end(
      "A line has the time by the coordinator's clock (RFC 3339), the seconds since its\n"
      "start, the severity and the text. The coordinator keeps the last 10,000 events of\n"
      "each severity. More than 16 that are alike but for their task and their numbers\n"
      "become one line with a count. In JSON such a line has \"count\" and \"tasks\", and\n"
      "replaces all lines with the same \"first\".\n\n"
      "EXAMPLES\n  coxswain events --severity warning\n"
      "  coxswain events --follow --json | jq 'select(.kind == \"failed\") | .tasks'\n\n"));
}

}  // namespace coxswain::tools
