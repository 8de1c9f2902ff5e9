// coxswain ls: lists keys.

#include "commands.hpp"
#include "exit_code.hpp"
#include "harmless_text.hpp"
#include "remote.hpp"
#include "table.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include <unistd.h>

namespace coxswain::tools {
namespace {

struct ls_command {
  remote_options remote;
  std::string directory;
  bool with_details{};
};

asio::awaitable<void> list(client& c, ls_command const& given) {
  auto const found = co_await c.list(given.directory);
  if (!given.with_details) {
    bool const is_read_by_people = ::isatty(STDOUT_FILENO) != 0;
    for (auto const& one : found) {
      fmt::print("{}\n", is_read_by_people ? harmless_line(one.key) : one.key);
    }
    co_return;
  }
  table shown{{"version", align::right}, {"bytes", align::right}, {"key", align::left}};
  for (auto const& one : found) {
    shown.add({std::to_string(one.version), std::to_string(one.value.size()), one.key});
  }
  fmt::print("{}", shown.text());
}

}  // namespace

void add_ls(CLI::App& program, action& chosen) {
  auto given = std::make_shared<ls_command>();
  auto& command = add_subcommand(
      program, "ls", "Lists the keys below a directory, at any depth", chosen,
      [given] { return converse(given->remote, [given](client& c) { return list(c, *given); }); });
  command.add_option("DIR", given->directory, "The directory (default: all keys)");
  command.add_flag("-l", given->with_details, "Show versions and sizes as well");
  add_remote_options(command, given->remote);
  command.footer(help_end());
}

}  // namespace coxswain::tools
