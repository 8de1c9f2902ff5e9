// coxswain push, pop: items of a queue.

#include "commands/commands.hpp"
#include "options/exit_code.hpp"
#include "options/remote.hpp"
#include "options/value_io.hpp"
#include "terminal/error_output.hpp"

#include "coxswain/base/error.hpp"

#include <fmt/format.h>

#include <string>

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
  print_report("{}\n", length);
}

struct pop_command {
  remote_options remote;
  std::string queue;
  duration wait{};
};

asio::awaitable<void> pop_item(client& c, pop_command const& given) {
  try {
    auto const item = co_await c.pop(given.queue, given.wait);
    print_value(item.value);
  } catch (error const& problem) {
    if (problem.code() != errc::deadline_exceeded || given.wait > duration{}) throw;
    throw program_error{
        exit_code::timed_out,
        fmt::format("queue '{}' is empty; --wait 10s waits for an item", given.queue)};
  }
}

int pop(pop_command const& given) {
  return take_part(given.remote, [&given](client& c) { return pop_item(c, given); });
}

}  // namespace

void add_push(CLI::App& program, action& chosen) {
  auto& command = add_conversation(
      program, "push", "Adds an item to the end of a queue, and prints its length", chosen, push);
  auto& given = command.given;
  command.add_option("QUEUE", given.queue, "The queue; created on first use")->required();
  command.add_option("VALUE", given.value, "The item; - reads it from standard input")->required();
  add_remote_options(command, given.remote);
  command.footer(
      help_end("EXAMPLE\n  Work for the first free worker:\n"
               "    for f in *.csv; do coxswain push files \"$f\"; done\n"
               "    coxswain pop files --wait 10s\n\n"));
}

void add_pop(CLI::App& program, action& chosen) {
  auto& command =
      add_subcommand(program, "pop", "Takes the first item of a queue and prints it", chosen, pop);
  auto& given = command.given;
  command.add_option("QUEUE", given.queue, "The queue")->required();
  add_timeout(command, "--wait", given.wait, "How long to wait for an item");
  add_remote_options(command, given.remote);
  command.footer(help_end(
      "Each item is printed by one pop only. It is printed as it is; a newline follows on\n"
      "a terminal. Exits with 75 if there was none. Under coxswain task the task\n"
      "waits.\n\n"
      "EXAMPLE\n  while f=$(coxswain pop files); do ./work \"$f\"; done\n\n"));
}

}  // namespace coxswain::tools
