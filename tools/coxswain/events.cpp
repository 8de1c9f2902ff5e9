// coxswain events: what has happened in the job.

#include "commands.hpp"
#include "exit_code.hpp"
#include "json.hpp"
#include "remote.hpp"

#include "coxswain/client/event_watch.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string_view>

namespace coxswain::tools {
namespace {

constexpr std::array<std::string_view, 3> severities{"info", "warning", "error"};
constexpr std::array<std::string_view, 14> kinds{
    "other",      "joined",  "left",    "failed",  "suspect",  "back",  "round_failed",
    "job_failed", "waiting", "refused", "stalled", "stopping", "stuck", "no_progress"};

struct events_command {
  remote_options remote;
  bool goes_on{};
  bool as_json{};
  std::string severity{"info"};
};

core::severity severity_of(std::string_view text) {
  std::size_t i = 0;
  while (i + 1 < severities.size() && severities[i] != text) ++i;
  return static_cast<core::severity>(i);
}

std::string_view text_of(core::severity level) {
  return severities[static_cast<std::size_t>(level)];
}

std::int64_t milliseconds(duration time) {
  return std::chrono::floor<std::chrono::milliseconds>(time).count();
}

std::string event_text(core::events_answer::entry const& e) {
  auto const at = milliseconds(e.at);
  return fmt::format("{:>6}.{:03} {:<8}{}\n", at / 1000, at % 1000, text_of(e.what.level),
                     e.what.text);
}

std::string event_json(core::events_answer::entry const& e) {
  json::object one{
      {"number", e.number},
      {"at_ms", milliseconds(e.at)},
      {"severity", text_of(e.what.level)},
      {"kind", kinds[static_cast<std::size_t>(e.what.kind)]},
      {"task", nullptr},
      {"barrier", nullptr},
      {"text", e.what.text},
  };
  if (e.what.task) one["task"] = e.what.task->value;
  if (!e.what.barrier.empty()) one["barrier"] = e.what.barrier;
  return json::serialize(one) + "\n";
}

// On standard error, so that it is no event for programs.
void tell_lost(std::uint64_t lost) {
  if (lost > 0) fmt::print(stderr, "{} events are no longer kept by the coordinator\n", lost);
}

asio::awaitable<void> show(client& c, events_command const& given) {
  event_watch events{c, severity_of(given.severity)};
  duration const patience = given.goes_on ? without_limit : duration{};
  std::uint64_t lost = 0;
  for (;;) {
    auto const e = co_await events.next(patience);
    if (!e) co_return;
    tell_lost(events.lost() - lost);
    lost = events.lost();
    fmt::print("{}", given.as_json ? event_json(*e) : event_text(*e));
    if (given.goes_on) std::fflush(stdout);
  }
}

}  // namespace

void add_events(CLI::App& program, action& chosen) {
  auto given = std::make_shared<events_command>();
  auto& command = add_subcommand(
      program, "events", "Shows what has happened: who joined, left or failed, and what waits",
      chosen,
      [given] { return converse(given->remote, [given](client& c) { return show(c, *given); }); });
  command.add_flag("--follow", given->goes_on,
                   "Go on with what happens next, until the coordinator stops");
  command.add_flag("--json", given->as_json, "One JSON object on each line, for programs");
  command.add_option("--severity", given->severity, "Leave out what is less severe")
      ->type_name("LEVEL")
      ->check(CLI::IsMember({"info", "warning", "error"}))
      ->capture_default_str();
  add_remote_options(command, given->remote);
  command.footer(
      help_end("Times are seconds since the start of the coordinator, which keeps the last 10,000\n"
               "events.\n\n"
               "EXAMPLES\n  coxswain events --severity warning\n"
               "  coxswain events --follow --json | jq 'select(.kind == \"failed\") | .task'\n\n"));
}

}  // namespace coxswain::tools
