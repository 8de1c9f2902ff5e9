// coxswain append: adds to the end of a value.

#include "commands.hpp"
#include "exit_code.hpp"
#include "remote.hpp"
#include "value_io.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

namespace coxswain::tools {
namespace {

struct append_command {
  remote_options remote;
  std::string key;
  std::string value;
};

asio::awaitable<void> append(client& c, append_command const& given) {
  auto const more = value_of_argument(given.value);
  auto const version = co_await c.append(given.key, more);
  fmt::print("{}\n", version);
}

}  // namespace

void add_append(CLI::App& program, action& chosen) {
  auto given = std::make_shared<append_command>();
  auto& command = add_subcommand(
      program, "append", "Adds to the end of a value, and prints the key's new version", chosen,
      [given] {
        return converse(given->remote, [given](client& c) { return append(c, *given); });
      });
  command.add_option("KEY", given->key, "The key; it is empty when it is missing")->required();
  command.add_option("VALUE", given->value, "What to add; - reads it from standard input")
      ->required();
  add_remote_options(command, given->remote);
  command.footer(help_end("EXAMPLE\n  date | coxswain append log -\n\n"));
}

}  // namespace coxswain::tools
