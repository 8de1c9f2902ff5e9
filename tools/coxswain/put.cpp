// coxswain put: stores a value.

#include "commands.hpp"
#include "exit_code.hpp"
#include "remote.hpp"
#include "value_io.hpp"

#include <memory>

namespace coxswain::tools {
namespace {

struct put_command {
  remote_options remote;
  std::string key;
  std::string value;
  bool overwrite{};
  bool while_task_lives{};
};

asio::awaitable<void> put(client& c, put_command const& given) {
  auto const value = value_of_argument(given.value);
  auto const mode = given.overwrite ? put_mode::overwrite : put_mode::create;
  auto const lifetime = given.while_task_lives ? key_lifetime::task : key_lifetime::job;
  co_await c.put(given.key, value, mode, lifetime);
}

int put(put_command const& given) {
  auto talk = [&given](client& c) { return put(c, given); };
  return given.while_task_lives ? act(talk) : converse(given.remote, talk);
}

}  // namespace

void add_put(CLI::App& program, action& chosen) {
  auto given = std::make_shared<put_command>();
  auto& command =
      add_subcommand(program, "put", "Stores a value under a key and wakes those who wait for it",
                     chosen, [given] { return put(*given); });
  command.add_option("KEY", given->key, "A path, such as config/learning-rate")->required();
  command.add_option("VALUE", given->value, "The value; - reads it from standard input")
      ->required();
  command.add_flag("--while-task-lives", given->while_task_lives,
                   "The key vanishes when this task fails or leaves; only below coxswain task");
  add_remote_options(command, given->remote);
  // Without a variable: what destroys is asked for each time.
  command.add_flag("--overwrite", given->overwrite, "Replace a value that is there already");
  command.footer(
      help_end("EXAMPLES\n  coxswain put config/learning-rate 0.001\n"
               "  coxswain put model - --overwrite < model.bin\n"
               "  A value that begins with a dash stands after --:\n"
               "    coxswain put offset -- -x\n\n"));
}

}  // namespace coxswain::tools
