// coxswain watch: prints changes of keys as they happen.

#include "commands.hpp"
#include "exit_code.hpp"
#include "json.hpp"
#include "remote.hpp"
#include "value_io.hpp"

#include "coxswain/core/text.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

namespace coxswain::tools {
namespace {

struct watch_command {
  remote_options remote;
  std::string directory;
  std::optional<std::uint64_t> after;
  std::uint64_t count{std::numeric_limits<std::uint64_t>::max()};
  bool as_json{};
};

std::string hexadecimal(std::string_view bytes) {
  std::string text;
  for (char const c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

// JSON has no bytes: what is no text is written in hexadecimal digits.
std::string json_line(key_change const& one) {
  json::object line{{"version", one.version}, {"key", one.key}, {"value", nullptr}};
  if (one.value && core::is_utf8(*one.value)) line["value"] = *one.value;
  if (one.value && !core::is_utf8(*one.value)) line["value_hex"] = hexadecimal(*one.value);
  line["removed"] = !one.value;
  return json::serialize(line);
}

std::string text_line(key_change const& one) {
  if (!one.value) return fmt::format("{} {} removed", one.version, one.key);
  return fmt::format("{} {} = {}", one.version, one.key, shown_value(*one.value));
}

// If the coordinator has forgotten changes meanwhile, all keys that are there, as if they had just
// been set.
asio::awaitable<std::vector<key_change>> next(key_watch& watch) {
  try {
    co_return co_await watch.next();
  } catch (error const& problem) {
    if (problem.code() != errc::out_of_range) throw;
    fmt::print(stderr, "coxswain watch: {}; all keys follow\n", problem.what());
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

asio::awaitable<void> watch(client& c, watch_command const& given) {
  auto changes = co_await c.watch(given.directory, given.after);
  for (std::uint64_t printed = 0; printed < given.count;) {
    auto const batch = co_await next(changes);
    for (key_change const& one : batch) {
      if (printed++ == given.count) break;
      fmt::print("{}\n", given.as_json ? json_line(one) : text_line(one));
    }
    std::fflush(stdout);
  }
}

}  // namespace

void add_watch(CLI::App& program, action& chosen) {
  auto given = std::make_shared<watch_command>();
  auto& command = add_subcommand(
      program, "watch", "Prints changes of keys below a directory as they happen, one a line",
      chosen,
      [given] { return converse(given->remote, [given](client& c) { return watch(c, *given); }); });
  command.add_option("DIR", given->directory, "The directory (default: all keys)");
  add_number(
      command, "--after", [given](std::int64_t n) { given->after = static_cast<std::uint64_t>(n); },
      0, std::numeric_limits<std::int64_t>::max(),
      "Begin after this version (default: with the next change)");
  add_number(
      command, "--count", [given](std::int64_t n) { given->count = static_cast<std::uint64_t>(n); },
      1, std::numeric_limits<std::int64_t>::max(), "End after so many changes (default: never)");
  command.add_flag("--json", given->as_json, "A JSON object on each line, for programs");
  add_remote_options(command, given->remote);
  command.footer(help_end(
      "A line has the version, the key and its value, or \"removed\". Ends with Ctrl-C.\n\n"
      "EXAMPLE\n  coxswain watch config --json | jq -r .value\n\n"));
}

}  // namespace coxswain::tools
