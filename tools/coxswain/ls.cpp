// coxswain ls: lists keys.

#include "commands.hpp"
#include "exit_code.hpp"
#include "harmless_text.hpp"
#include "remote.hpp"
#include "table.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::tools {
namespace {

constexpr std::size_t value_bytes_shown = 60;

struct ls_command {
  remote_options remote;
  std::string directory;
  bool with_details{};
  bool with_values{};
};

// As much of a value as a table has room for.
std::string beginning(std::string_view value) {
  return value.size() <= value_bytes_shown
             ? std::string{value}
             : fmt::format("{}... ({} bytes)", value.substr(0, value_bytes_shown), value.size());
}

asio::awaitable<void> list(client& c, ls_command const& given) {
  auto const found = co_await c.list(given.directory);
  if (!given.with_details && !given.with_values) {
    bool const is_read_by_people = ::isatty(STDOUT_FILENO) != 0;
    for (auto const& one : found) {
      fmt::print("{}\n", is_read_by_people ? harmless_line(one.key) : one.key);
    }
    co_return;
  }
  table shown{};
  if (given.with_details) {
    shown.add_column({"version", align::right});
    shown.add_column({"bytes", align::right});
  }
  shown.add_column({"key"});
  if (given.with_values) shown.add_column({"value"});
  for (auto const& one : found) {
    std::vector<std::string> row;
    if (given.with_details) row = {std::to_string(one.version), std::to_string(one.value.size())};
    row.push_back(one.key);
    if (given.with_values) row.push_back(beginning(one.value));
    shown.add(std::move(row));
  }
  fmt::print("{}", shown.text());
}

}  // namespace

void add_ls(CLI::App& program, action& chosen) {
  auto given = std::make_shared<ls_command>();
  given->remote.takes_newest = true;
  auto& command = add_subcommand(
      program, "ls", "Lists the keys below a directory, at any depth", chosen,
      [given] { return converse(given->remote, [given](client& c) { return list(c, *given); }); });
  command.add_option("DIR", given->directory, "The directory (default: all keys)");
  command.add_flag("-l", given->with_details, "Show versions and sizes as well");
  command.add_flag("--values", given->with_values,
                   "Show the values as well, one line each, up to 60 bytes");
  add_remote_options(command, given->remote);
  command.footer(help_end());
}

}  // namespace coxswain::tools
