// coxswain count: counts keys.

#include "commands.hpp"
#include "exit_code.hpp"
#include "remote.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

namespace coxswain::tools {
namespace {

struct count_command {
  remote_options remote;
  std::string directory;
};

asio::awaitable<void> count(client& c, count_command const& given) {
  auto const keys = co_await c.count(given.directory);
  fmt::print("{}\n", keys);
}

}  // namespace

void add_count(CLI::App& program, action& chosen) {
  auto given = std::make_shared<count_command>();
  given->remote.takes_newest = true;
  auto& command = add_subcommand(
      program, "count", "Prints the number of keys below a directory, at any depth", chosen,
      [given] { return converse(given->remote, [given](client& c) { return count(c, *given); }); });
  command.add_option("DIR", given->directory, "The directory (default: all keys)");
  add_remote_options(command, given->remote);
  command.footer(help_end());
}

}  // namespace coxswain::tools
