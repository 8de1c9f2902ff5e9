// coxswain rm: removes keys.

#include "commands.hpp"
#include "exit_code.hpp"
#include "remote.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

namespace coxswain::tools {
namespace {

struct rm_command {
  remote_options remote;
  std::string key;
  bool all{};
};

asio::awaitable<void> remove(client& c, rm_command const& given) {
  auto const mode = given.all ? remove_mode::everything : remove_mode::tree;
  auto const count = co_await c.remove(given.key, mode);
  fmt::print("{} removed\n", count);
}

}  // namespace

void add_rm(CLI::App& program, action& chosen) {
  auto given = std::make_shared<rm_command>();
  auto& command =
      add_subcommand(program, "rm", "Removes a key and everything below it", chosen, [given] {
        return converse(given->remote, [given](client& c) { return remove(c, *given); });
      });
  command.add_option("KEY", given->key, "The key's path; / is the root, which needs --all")
      ->required();
  add_remote_options(command, given->remote);
  // Without a variable: what destroys is asked for each time.
  command.add_flag("--all", given->all, "Really all keys, when KEY is the root");
  command.footer(help_end());
}

}  // namespace coxswain::tools
