// coxswain get: prints a value.

#include "commands.hpp"
#include "exit_code.hpp"
#include "remote.hpp"
#include "value_io.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>

namespace coxswain::tools {
namespace {

struct get_command {
  remote_options remote;
  std::string key;
  std::optional<duration> wait;
};

asio::awaitable<void> get(client& c, get_command const& given) {
  if (given.wait) {
    auto const value = co_await c.get(given.key, *given.wait);
    print_value(value);
    co_return;
  }
  auto const value = co_await c.try_get(given.key);
  if (!value) {
    throw program_error{exit_code::failed,
                        fmt::format("key '{}' has no value; --wait 10s waits for one", given.key)};
  }
  print_value(*value);
}

}  // namespace

void add_get(CLI::App& program, action& chosen) {
  struct command_line {
    get_command get;
    duration wait{};
  };
  auto given = std::make_shared<command_line>();
  given->get.remote.takes_newest = true;
  auto& command = add_subcommand(program, "get", "Prints the value of a key", chosen, [given] {
    auto& get_given = given->get;
    if (given->wait > duration{}) get_given.wait = given->wait;
    auto const talk = [given](client& c) { return get(c, given->get); };
    return get_given.wait ? take_part(get_given.remote, talk) : converse(get_given.remote, talk);
  });
  command.add_option("KEY", given->get.key, "The key's path")->required();
  add_duration(command, "--wait", given->wait, "How long to wait until the key has a value",
               {.may_be_forever = true});
  add_remote_options(command, given->get.remote);
  command.footer(
      help_end("The value is printed as it is; a newline follows on a terminal. Below coxswain\n"
               "task, with --wait, it is the task that waits.\n\n"
               "EXAMPLES\n  coxswain get address/0 --wait 30s\n"
               "  coxswain get model > model.bin\n\n"));
}

}  // namespace coxswain::tools
