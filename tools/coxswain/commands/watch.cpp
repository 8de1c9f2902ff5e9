// coxswain watch: prints events, or changes of keys, as they happen.

#include "commands/commands.hpp"
#include "options/exit_code.hpp"
#include "options/remote.hpp"
#include "options/value_io.hpp"
#include "terminal/error_output.hpp"
#include "terminal/harmless_text.hpp"
#include "text/event_line.hpp"
#include "text/json.hpp"

#include "coxswain/client/event_watch.hpp"

#include <fmt/format.h>

#include <optional>
#include <vector>

namespace coxswain::tools {
namespace {

struct watch_command {
  remote_options remote{.takes_newest = true};
  std::optional<std::string> directory;  // none: the events of the job
  std::optional<std::uint64_t> after;
  std::optional<std::uint64_t> count;  // none: without end
  bool as_json{};
};

std::string json_line(key_change const& one) {
  json::object line{{"version", one.version}, {"key", one.key}, {"value", nullptr}};
  if (one.value) add_bytes(line, "value", *one.value);
  line["removed"] = !one.value;
  return serialized(line);
}

std::string text_line(key_change const& one) {
  auto const key = harmless_line(one.key);
  if (!one.value) return fmt::format("{} {} removed", one.version, key);
  return fmt::format("{} {} = {}", one.version, key, shown_value(*one.value));
}

// If the coordinator no longer keeps some changes, all existing keys are printed, as if they had
// just been set.
asio::awaitable<std::vector<key_change>> next(key_watch& watch) {
  try {
    co_return co_await watch.next();
  } catch (error const& problem) {
    if (problem.code() != errc::out_of_range) throw;
    print_error("coxswain watch: {}; all keys follow\n", problem.what());
  }
  auto const listed = co_await watch.list();
  std::vector<key_change> all(listed.size());
  for (std::size_t i = 0; i < listed.size(); ++i) {
    all[i].key = listed[i].key;
    all[i].version = listed[i].version;
    all[i].value = listed[i].value;
  }
  co_return all;
}

asio::awaitable<void> watch_keys(client& c, watch_command const& given) {
  auto changes = co_await c.watch(*given.directory, given.after);
  for (std::uint64_t printed = 0; printed != given.count;) {
    auto const batch = co_await next(changes);
    for (key_change const& one : batch) {
      if (printed == given.count) break;
      ++printed;
      fmt::print("{}\n", given.as_json ? json_line(one) : text_line(one));
    }
    flush_output();
  }
}

asio::awaitable<void> watch_events(client& c, watch_command const& given) {
  event_watch events{c};
  for (;;) {  // earlier events
    auto const old = co_await events.next(duration{});
    if (!old) break;
  }
  for (std::uint64_t printed = 0; printed != given.count; ++printed) {
    auto const e = co_await events.next();
    if (!e) co_return;
    fmt::print("{}\n", given.as_json ? status_page::event_json(*e) : event_text(*e));
    flush_output();
  }
}

asio::awaitable<void> watch(client& c, watch_command const& given) {
  if (given.directory) {
    co_await watch_keys(c, given);
  } else {
    co_await watch_events(c, given);
  }
}

constexpr auto watch_footer =
    R"(A line has the event's time, the seconds since the coordinator started, its severity and
text; or a version, the key and its value or "removed". Ctrl-C ends it. Use events
and ls to see what happened before.

EXAMPLES
  coxswain watch
  coxswain watch config --json | jq -r .value

)";

}  // namespace

void add_watch(CLI::App& program, action& chosen) {
  auto& command = add_conversation(
      program, "watch",
      "Prints events of the job, or changes of keys below a directory, as they happen", chosen,
      watch);
  auto& given = command.given;
  auto* const directory = command.add_option(
      "DIR", given.directory, "A directory of keys, / for all (default: the events of the job)");
  auto* const after = add_number(command, "--after", given.after, 0,
                                 "Start after this version of the keys (default: with the next "
                                 "change)");
  after->needs(directory);
  add_number(command, "--count", given.count, 1, "End after this many lines (default: never)");
  command.add_flag("--json", given.as_json, "A JSON object on each line, for programs");
  add_remote_options(command, given.remote);
  command.footer(help_end(watch_footer));
}

}  // namespace coxswain::tools
