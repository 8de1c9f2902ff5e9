// coxswain pop: takes an item from a queue.

#include "commands.hpp"
#include "exit_code.hpp"
#include "remote.hpp"
#include "value_io.hpp"

#include <memory>

namespace coxswain::tools {
namespace {

struct pop_command {
  remote_options remote;
  std::string queue;
  duration wait{};
};

asio::awaitable<void> pop(client& c, pop_command const& given) {
  auto const item = co_await c.pop(given.queue, given.wait);
  print_value(item.value);
}

}  // namespace

void add_pop(CLI::App& program, action& chosen) {
  auto given = std::make_shared<pop_command>();
  auto& command = add_subcommand(
      program, "pop", "Takes the first item of a queue and prints it", chosen,
      [given] { return take_part(given->remote, [given](client& c) { return pop(c, *given); }); });
  command.add_option("QUEUE", given->queue, "The queue")->required();
  add_duration(command, "--wait", given->wait, "How long to wait for an item",
               {.may_be_forever = true});
  add_remote_options(command, given->remote);
  command.footer(help_end(
      "Each item is printed by one pop only. It is printed as it is; a newline follows on\n"
      "a terminal. Exits with 75 if there was none. Below coxswain task it is the\n"
      "task that waits.\n\n"
      "EXAMPLE\n  while f=$(coxswain pop files); do ./work \"$f\"; done\n\n"));
}

}  // namespace coxswain::tools
