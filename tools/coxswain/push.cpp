// coxswain push: adds an item to a queue.

#include "commands.hpp"
#include "exit_code.hpp"
#include "remote.hpp"
#include "value_io.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

namespace coxswain::tools {
namespace {

struct push_command {
  remote_options remote;
  std::string queue;
  std::string value;
};

asio::awaitable<void> push(client& c, push_command const& given) {
  auto const value = value_of_argument(given.value);
  auto const length = co_await c.push(given.queue, value);
  fmt::print("{}\n", length);
}

}  // namespace

void add_push(CLI::App& program, action& chosen) {
  auto given = std::make_shared<push_command>();
  auto& command = add_subcommand(
      program, "push", "Adds an item to the end of a queue, and prints how many wait in it", chosen,
      [given] { return converse(given->remote, [given](client& c) { return push(c, *given); }); });
  command.add_option("QUEUE", given->queue, "The queue; it need not be made")->required();
  command.add_option("VALUE", given->value, "The item; - reads it from standard input")->required();
  add_remote_options(command, given->remote);
  command.footer(
      help_end("EXAMPLE\n  Work for whoever comes first:\n"
               "    for f in *.csv; do coxswain push files \"$f\"; done\n"
               "    coxswain pop files --wait 10s\n\n"));
}

}  // namespace coxswain::tools
